import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  DataFolder,
  type DataFolderOptions,
  FileAssetStore,
  LocalSignals,
  StoredLedger,
} from '../../lib/index.ts';
import {
  accountStoreSuite,
  assetStoreSuite,
  type Behaviour,
  deliveriesSuite,
  deliveryClaimsSuite,
  keyStoreSuite,
  ledgerSuite,
  queueSuite,
  settingsStoreSuite,
  signalsSuite,
  storageSuite,
} from '../../lib/testing/index.ts';
import { DistantLedger } from '../fixtures/distant-ledger.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const clock = new FakeClock('2026-11-21T10:00:00Z');
let folders = 0;

async function openFolder(t: Test, options: DataFolderOptions = {}): Promise<DataFolder> {
  const folder = new DataFolder(join(t.testdirName, String(folders++)), options);
  await folder.start();
  return folder;
}

const suites: [name: string, behaviours: (t: Test) => Behaviour[]][] = [
  [
    'the SQLite storage',
    (t) =>
      storageSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.storage, close: () => folder.stop() };
      }),
  ],
  [
    'the SQLite storage, for deliveries',
    (t) =>
      deliveriesSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.storage, close: () => folder.stop() };
      }),
  ],
  [
    'the SQLite storage, for claims on deliveries',
    (t) =>
      deliveryClaimsSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.storage, close: () => folder.stop() };
      }),
  ],
  [
    'the SQLite storage, for its queue',
    (t) =>
      queueSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.storage, close: () => folder.stop() };
      }),
  ],
  [
    'the accounts document',
    (t) =>
      accountStoreSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.accountStore, close: () => folder.stop() };
      }),
  ],
  [
    'the keys document',
    (t) =>
      keyStoreSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.keyStore, close: () => folder.stop() };
      }),
  ],
  [
    'the settings document',
    (t) =>
      settingsStoreSuite(async () => {
        const folder = await openFolder(t);
        return { subject: folder.settings, close: () => folder.stop() };
      }),
  ],
  [
    'the stored ledger',
    (t) =>
      ledgerSuite(async () => {
        const folder = await openFolder(t);
        const subject = new StoredLedger({ store: folder.ledgerStore, freeCreditsPerMonth: 100, clock });
        return { subject, close: () => folder.stop() };
      }),
  ],
  [
    'the tests’ own ledger that lives elsewhere',
    () => ledgerSuite(async () => ({ subject: new DistantLedger(100), close: async () => {} })),
  ],
  [
    'signals within a process',
    () => signalsSuite(async () => ({ subject: new LocalSignals(), close: async () => {} })),
  ],
  [
    'the file asset store',
    (t) =>
      assetStoreSuite(async () => {
        const subject = new FileAssetStore(join(t.testdirName, String(folders++)));
        await subject.start();
        return { subject, close: async () => {} };
      }),
  ],
];
for (const [name, behaviours] of suites) {
  t.test(name, async (t) => {
    t.testdir();
    for (const { title, run } of behaviours(t)) await t.test(title, run);
  });
}

t.test('a suite fails where the behaviour is missing', async (t) => {
  const forgetful = new DistantLedger(100);
  forgetful.void = async () => {};
  const failing = ledgerSuite(async () => ({ subject: forgetful, close: async () => {} }));
  const voiding = failing.find(({ title }) => title.startsWith('gives the whole reserve back'));
  await t.rejects(voiding?.run() as Promise<void>);
});
