import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { noS3Server as noGo } from '../fixtures/s3-server/s3-server.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('actionlint finds nothing in the workflows', { skip: noGo }, async (t) => {
  const workflows = globSync(join(ROOT, '.github/workflows/*.yml'));
  t.ok(workflows.length > 0);
  const { status, stdout, stderr } = spawnSync('go', ['tool', 'actionlint', ...workflows], {
    cwd: join(ROOT, 'test/fixtures/actionlint'),
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout + stderr);
});
