import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { TABLES } from '../../../lib/recovery/salvage.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.test('the queries for keys that must or may exist are valid', async (t) => {
  // Errors of these queries count as damage, so a wrong one would go unnoticed and rows be lost without a report.
  const path = testFolder(t);
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  const database = new DatabaseSync(join(path, 'database.sqlite'), { readOnly: true });
  t.teardown(() => database.close());
  for (const { name, indexes, expected, supposed } of TABLES) {
    for (const text of [...indexes, expected, supposed]) {
      if (text !== undefined) t.same(database.prepare(text).all(), [], `${name}: ${text}`);
    }
  }
});
