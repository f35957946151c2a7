import { join } from 'node:path';
import t from 'tap';
import { SqliteDatabase } from '../../../lib/storage/sqlite/sqlite-database.ts';

// Nothing else keeps this process running: where the thread doesn't either, it ends here, with the test unfinished.
t.test('a stop while a query runs aside resolves after it', async (t) => {
  const database = new SqliteDatabase(join(t.testdir(), 'database.sqlite'));
  await database.start();
  let isAnswered = false;
  const query = database.aside('SELECT 1 AS one').then((rows) => {
    isAnswered = true;
    return rows;
  });
  await database.stop();
  t.ok(isAnswered);
  t.match(await query, [{ one: 1 }]);
  await t.rejects(database.aside('SELECT 1'), { code: 'not_running' });
});
