import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { ScenepressError } from '../../../lib/base/errors.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import { systemClock, turn } from '../../../lib/time/clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

// Only the thread keeps this process running; if it did not, the process would exit before the test ends.
t.test('a stop waits for a query in another thread', async (t) => {
  const database = new SqliteDatabase(join(testFolder(t), 'database.sqlite'), SQLITE_SCHEMA, {
    clock: systemClock,
  });
  await database.start();
  let isAnswered = false;
  const query = database.queryInBackground('SELECT 1 AS one').then((rows) => {
    isAnswered = true;
    return rows;
  });
  await database.stop();
  t.ok(isAnswered);
  t.match(await query, [{ one: 1 }]);
  await t.rejects(database.queryInBackground('SELECT 1'), { code: 'not_running' });
});

t.test('a transaction begun before a stop is committed', async (t) => {
  const fatal: Error[] = [];
  const onFatal = (error: Error) => void fatal.push(error);
  const database = new SqliteDatabase(join(testFolder(t), 'database.sqlite'), SQLITE_SCHEMA, {
    clock: systemClock,
    onFatal,
    flushFile: () => delay(20),
  });
  await database.start();
  const failing = database.transaction(async () => {
    const startedMs = performance.now();
    while (performance.now() - startedMs < 20); // Long enough that the next transaction yields first.
    throw new ScenepressError('storage_damaged', 'The group is rolled back.');
  });
  const writing = database.transaction((tx) =>
    tx.run("INSERT INTO ledger_accounts VALUES ('a', '2026-01', 0)"),
  );
  await t.rejects(failing, { code: 'storage_damaged' });
  await database.stop();
  await writing;
  t.same(fatal, []);
});

t.test('at every moment of a stop, a read is answered or refused', async (t) => {
  const database = new SqliteDatabase(join(testFolder(t), 'database.sqlite'), SQLITE_SCHEMA, {
    clock: systemClock,
  });
  await database.start();
  let isStopped = false;
  const stopping = database.stop().then(() => {
    isStopped = true;
  });
  const codes = new Set<unknown>();
  while (!isStopped) {
    codes.add(
      await database.get('SELECT 1 AS one').then(
        () => 'read',
        ({ code }) => code as string,
      ),
    );
    await turn();
  }
  await stopping;
  t.same([...codes], ['read', 'not_running']);
});
