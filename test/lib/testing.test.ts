import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Schema } from '../../lib/databases/sqlite/migrated-schema.ts';
import { SqliteDatabase } from '../../lib/databases/sqlite/sqlite-database.ts';
import {
  DataFolder,
  type DataFolderOptions,
  FileAssetStore,
  LocalSignals,
  SQL_SCHEMAS,
} from '../../lib/index.ts';
import type { SqlDatabase, SqlTransaction } from '../../lib/storage/sql.ts';
import { accountStoreSuite } from '../../lib/testing/accounts.ts';
import { actStoreSuite } from '../../lib/testing/acts.ts';
import { deliveriesSuite } from '../../lib/testing/deliveries.ts';
import { deliveryClaimsSuite } from '../../lib/testing/delivery-claims.ts';
import {
  assetStoreSuite,
  type Behaviour,
  ledgerSuite,
  signalsSuite,
  sqlDatabaseSuite,
} from '../../lib/testing/index.ts';
import { keyUseStoreSuite } from '../../lib/testing/key-uses.ts';
import { keyStoreSuite } from '../../lib/testing/keys.ts';
import { queueSuite } from '../../lib/testing/queue.ts';
import { sessionStoreSuite } from '../../lib/testing/sessions.ts';
import { settingsStoreSuite } from '../../lib/testing/settings.ts';
import { storageSuite } from '../../lib/testing/storage.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { DistantLedger } from '../fixtures/distant-ledger.ts';
import { LateStores } from '../fixtures/late-stores.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** A behaviour that needs one call to be in progress when the next is made. */
const IN_ORDER = /keys that are being written/;
let folders = 0;

async function openFolder(t: Test, options: DataFolderOptions = {}): Promise<DataFolder> {
  const folder = new DataFolder(join(t.testdirName, String(folders++)), options);
  await folder.start();
  return folder;
}

type Open<T> = () => Promise<{ subject: T; close: () => Promise<void> }>;
/** Wraps a store of the subject, or the subject itself. */
type Wrap = <T extends object>(store: T) => T;

const suites: [name: string, behaviours: (t: Test, wrap: Wrap) => Behaviour[]][] = [
  ['the SQLite storage', (t, wrap) => storageSuite(inFolder(t, ({ storage }) => wrap(storage)))],
  [
    'the SQLite storage, for deliveries',
    (t, wrap) => deliveriesSuite(inFolder(t, ({ storage }) => wrap(storage))),
  ],
  [
    'the SQLite storage, for claims on deliveries',
    (t, wrap) => deliveryClaimsSuite(inFolder(t, ({ storage }) => wrap(storage))),
  ],
  ['the SQLite storage, for its queue', (t, wrap) => queueSuite(inFolder(t, ({ storage }) => wrap(storage)))],
  [
    'the accounts document',
    (t, wrap) => accountStoreSuite(inFolder(t, ({ accountStore }) => wrap(accountStore))),
  ],
  ['the keys document', (t, wrap) => keyStoreSuite(inFolder(t, ({ keyStore }) => wrap(keyStore)))],
  ['the settings document', (t, wrap) => settingsStoreSuite(inFolder(t, ({ settings }) => wrap(settings)))],
  [
    'the SQLite sessions',
    (t, wrap) => sessionStoreSuite(inFolder(t, ({ sessionStore }) => wrap(sessionStore))),
  ],
  ['the SQLite record of acts', (t, wrap) => actStoreSuite(inFolder(t, ({ actStore }) => wrap(actStore)))],
  [
    'the SQLite uses of keys',
    (t, wrap) => keyUseStoreSuite(inFolder(t, ({ keyUseStore }) => wrap(keyUseStore))),
  ],
  [
    'the tests’ own ledger that lives elsewhere',
    (_, wrap) => ledgerSuite(async () => ({ subject: wrap(new DistantLedger(100)), close: async () => {} })),
  ],
  [
    'the file asset store',
    (t, wrap) =>
      assetStoreSuite(async () => {
        const subject = wrap(new FileAssetStore(join(t.testdirName, String(folders++))));
        await subject.start();
        return { subject, close: async () => {} };
      }),
  ],
];

function inFolder<T>(t: Test, subjectOf: (folder: DataFolder) => T): Open<T> {
  return async () => {
    const folder = await openFolder(t);
    return { subject: subjectOf(folder), close: () => folder.stop() };
  };
}

for (const [name, behaviours] of suites) {
  t.test(name, async (t) => {
    testFolder(t);
    for (const { title, run } of behaviours(t, (store) => store)) await t.test(title, run);
  });

  t.test(`${name}, when calls are carried out and answered late`, async (t) => {
    testFolder(t);
    t.comment(`SEED=${SEED}`);
    const late = new LateStores(SEED);
    for (const { title, run } of behaviours(t, (store) => late.of(store))) {
      if (!IN_ORDER.test(title)) await t.test(title, run);
    }
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
