import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { ScenepressError } from '../../../lib/errors.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import { SqliteDatabase } from '../../../lib/storage/sqlite/sqlite-database.ts';

// Nothing else keeps this process running: where the thread doesn't either, it ends here, with the test unfinished.
t.test('a stop while a query runs aside resolves after it', async (t) => {
  const database = new SqliteDatabase(join(t.testdir(), 'database.sqlite'), SQLITE_SCHEMA);
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

t.test('a transaction that was let in before a stop is written', async (t) => {
  const fatal: Error[] = [];
  const onFatal = (error: Error) => void fatal.push(error);
  const database = new SqliteDatabase(join(t.testdir(), 'database.sqlite'), SQLITE_SCHEMA, {
    onFatal,
    flushFile: () => delay(20),
  });
  await database.start();
  const failing = database.transaction(async () => {
    const startedMs = performance.now();
    while (performance.now() - startedMs < 20); // The next one lets the rest of the service go on first.
    throw new ScenepressError('storage_damaged', 'Its group is given up.');
  });
  const writing = database.transaction((tx) =>
    tx.run("INSERT INTO ledger_accounts VALUES ('a', '2026-01', 0)"),
  );
  await t.rejects(failing, { code: 'storage_damaged' });
  await database.stop();
  await writing;
  t.same(fatal, []);
});
