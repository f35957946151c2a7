// Files that killed services left in the work folder must not prevent a start.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { render, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const LEFT = [
  'import os',
  'for n in range(3000): open(f"f{n}", "w").close()',
  "os.mkdir(b'\\xff\\xfd'); open(b'\\xff\\xfd/x', 'w').close(); os.chmod(b'\\xff\\xfd', 0)",
  "for _ in range(30): os.mkdir('d' * 200); os.chdir('d' * 200)",
].join('\n');

t.test('a service starts with any leftovers and removes them', async (t) => {
  const folder = testFolder(t);
  for (const left of ['work/w0/1', 'work.old-1/w0/1']) {
    mkdirSync(join(folder, left), { recursive: true });
    t.equal(spawnSync('python3', ['-c', LEFT], { cwd: join(folder, left) }).status, 0);
  }
  const service = await startService(t, { folder, workers: 1 });
  t.match(await render(service, { className: 'OneFrame' }), { status: 'completed', attempts: 1 });
  await service.stop();
  t.same(
    (await readdir(folder)).filter((name) => name.startsWith('work')),
    [],
  );
});
