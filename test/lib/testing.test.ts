import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Schema } from '../../lib/databases/sqlite/migrated-schema.ts';
import { SqliteDatabase } from '../../lib/databases/sqlite/sqlite-database.ts';
import { FileAssetStore, LocalSignals, SQL_SCHEMAS } from '../../lib/index.ts';
import type { SqlDatabase, SqlTransaction } from '../../lib/storage/sql.ts';
import { assetStoreSuite, ledgerSuite, signalsSuite, sqlDatabaseSuite } from '../../lib/testing/index.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { DistantLedger } from '../fixtures/distant-ledger.ts';
import { LateStores } from '../fixtures/late-stores.ts';
import { testSqlStores } from '../fixtures/stores/sql-stores.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
let folders = 0;

const LATE = new LateStores(SEED);
for (const [name, wrap] of [
  ['', <T extends object>(store: T) => store],
  [', when calls are carried out and answered late', <T extends object>(store: T) => LATE.of(store)],
] as const) {
  t.test(`the tests’ own ledger that lives elsewhere${name}`, async (t) => {
    t.comment(`SEED=${SEED}`);
    const open = async () => ({ subject: wrap(new DistantLedger(100)), close: async () => {} });
    for (const { title, run } of ledgerSuite(open)) await t.test(title, run);
  });

  t.test(`the file asset store${name}`, async (t) => {
    testFolder(t);
    t.comment(`SEED=${SEED}`);
    const open = async () => {
      const subject = wrap(new FileAssetStore(join(t.testdirName, String(folders++))));
      await subject.start();
      return { subject, close: async () => {} };
    };
    for (const { title, run } of assetStoreSuite(open)) await t.test(title, run);
  });
}

async function openDatabase(t: Test): Promise<SqliteDatabase> {
  const path = join(t.testdirName, `${folders++}.db`);
  const database = new SqliteDatabase(path, new Schema(SQL_SCHEMAS.sqlite), { clock: systemClock });
  await database.start();
  return database;
}

t.test('SQLite as an SQL database', async (t) => {
  testFolder(t);
  const open = async () => {
    const subject = await openDatabase(t);
    return { subject, close: () => subject.stop() };
  };
  for (const { title, run } of sqlDatabaseSuite(open)) await t.test(title, run);
  await testSqlStores(t, open);
});

/** Databases that lack a behaviour, by its title. */
const FLAWS: Record<string, (database: SqliteDatabase) => Partial<SqlDatabase>> = {
  'runs a task of one name once at a time': () => ({ alone: async (_task, work) => work() }),
  'knows its transactions by their handles': () => ({ inside: (tx) => tx as SqlTransaction }),
  'stores nothing of a transaction that throws, and rejects with its error': (database) => ({
    transaction: async (work) => {
      let thrown: unknown;
      const result = await database.transaction(async (tx) => {
        try {
          return await work(tx);
        } catch (error) {
          thrown = error;
          return undefined;
        }
      });
      if (thrown) throw thrown;
      return result as never;
    },
  }),
  'calls back after a commit, and not after a rollback': (database) => ({
    transaction: (work) =>
      database.transaction((tx) =>
        work(Object.assign(tx, { afterCommit: (listener: () => void) => listener() })),
      ),
  }),
};

for (const [title, flaw] of Object.entries(FLAWS)) {
  t.test(`a database fails that lacks: ${title}`, async (t) => {
    testFolder(t);
    const open = async () => {
      const database = await openDatabase(t);
      const own = flaw(database);
      const subject = new Proxy<SqlDatabase>(database, {
        get(target, name) {
          const found = own[name as keyof SqlDatabase] ?? target[name as keyof SqlDatabase];
          return typeof found === 'function' ? (found as () => unknown).bind(target) : found;
        },
      });
      return { subject, close: () => database.stop() };
    };
    const behaviour = sqlDatabaseSuite(open, { timeoutMs: 5_000 }).find((each) => each.title === title);
    await t.rejects(behaviour?.run() as Promise<void>, { code: 'ERR_ASSERTION' });
  });
}

t.test('signals within a process', async (t) => {
  const suite = signalsSuite(async () => ({ subject: new LocalSignals(), close: async () => {} }));
  for (const { title, run } of suite) await t.test(title, run);
});

t.test('a suite fails where the behaviour is missing', async (t) => {
  const forgetful = new DistantLedger(100);
  forgetful.void = async () => {};
  const failing = ledgerSuite(async () => ({ subject: forgetful, close: async () => {} }));
  const voiding = failing.find(({ title }) => title.startsWith('gives the whole reserve back'));
  await t.rejects(voiding?.run() as Promise<void>);
});
