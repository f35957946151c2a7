import t, { type Test } from 'tap';
import { StoredLedger } from '../../lib/ledger/stored-ledger.ts';
import type { PostgresStorage } from '../../lib/postgres/index.ts';
import {
  accountStoreSuite,
  actStoreSuite,
  type Behaviour,
  deliveriesSuite,
  deliveryClaimsSuite,
  keyStoreSuite,
  keyUseStoreSuite,
  ledgerSuite,
  queueSuite,
  sessionStoreSuite,
  settingsStoreSuite,
  signalsSuite,
  storageSuite,
} from '../../lib/testing/index.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { empty, openPostgres } from '../fixtures/postgres/database.ts';

type Open<T> = () => Promise<{ subject: T; close: () => Promise<void> }>;

function inSchema<T>(t: Test, subjectOf: (storage: PostgresStorage) => T): Open<T> {
  let schema: string | undefined;
  return async () => {
    if (schema !== undefined) await empty(schema);
    const storage = await openPostgres(t, schema === undefined ? {} : { schema });
    schema = storage.schema;
    return { subject: subjectOf(storage), close: () => storage.stop() };
  };
}

function ledgerOf({ ledgerStore }: PostgresStorage): StoredLedger {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  return new StoredLedger({ store: ledgerStore, freeCreditsPerMonth: 100, clock });
}

const all: [name: string, behaviours: (t: Test) => Behaviour[]][] = [
  ['the storage', (t) => storageSuite(inSchema(t, (storage) => storage))],
  ['deliveries', (t) => deliveriesSuite(inSchema(t, (storage) => storage))],
  ['claims on deliveries', (t) => deliveryClaimsSuite(inSchema(t, (storage) => storage))],
  ['the queue', (t) => queueSuite(inSchema(t, (storage) => storage))],
  ['the ledger', (t) => ledgerSuite(inSchema(t, ledgerOf))],
  ['accounts', (t) => accountStoreSuite(inSchema(t, ({ accountStore }) => accountStore))],
  ['keys', (t) => keyStoreSuite(inSchema(t, ({ keyStore }) => keyStore))],
  ['settings', (t) => settingsStoreSuite(inSchema(t, ({ settings }) => settings))],
  ['signals', (t) => signalsSuite(inSchema(t, ({ signals }) => signals))],
  ['sessions', (t) => sessionStoreSuite(inSchema(t, ({ sessionStore }) => sessionStore))],
  ['the record of acts', (t) => actStoreSuite(inSchema(t, ({ actStore }) => actStore))],
  ['uses of keys', (t) => keyUseStoreSuite(inSchema(t, ({ keyUseStore }) => keyUseStore))],
];

for (const [name, behaviours] of all) {
  t.test(`${name} in Postgres`, async (t) => {
    for (const { title, run } of behaviours(t)) await t.test(title, run);
  });
}
