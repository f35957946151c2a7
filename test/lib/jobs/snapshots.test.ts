import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { FileAssetStore, isScenepressError, type Ledger, type StoredLedger } from '../../../lib/index.ts';
import { Snapshots } from '../../../lib/jobs/snapshots/snapshots.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { clock, type OpenedBook, openDistant, openStored } from '../../fixtures/books.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const HOUR_MS = 3_600_000;

/** Snapshots on the stores of a book, and a file to draw. */
async function openSnapshots(t: Test, { ledger, storage }: Pick<OpenedBook<Ledger>, 'ledger' | 'storage'>) {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'drawn.png');
  await writeFile(path, 'a picture');
  const assets = new FileAssetStore(await temporaryFolder(t));
  await assets.start();
  const make = () =>
    new Snapshots({
      ...{
        ledger,
        storage,
        assets,
        clock,
        pricing: new Pricing(),
        random: systemRandom,
        logger: silentLogger,
      },
      storedBytes: { problemOf: async () => undefined },
      assertAdmitted: async () => {},
    });
  const drawn = { durationMs: 2500, files: [{ name: 'still.png', path, contentType: 'image/png' }] };
  return { snapshots: make(), make, assets, path, drawn, draw: async () => drawn };
}

const auditOf = async (ledger: Ledger) => (await ledger.audit?.())?.problems ?? [];
const left = async (storage: Storage) => (await storage.snapshots.due(Number.MAX_SAFE_INTEGER, 100)).length;

for (const [name, open] of [
  ['a ledger that joins transactions', openStored],
  ['an external ledger', openDistant],
] as const) {
  t.test(name, async (t) => {
    t.test('a snapshot is charged and kept for an hour, for its owner', async (t) => {
      const opened = await open(t);
      const { ledger, storage } = opened;
      const { snapshots, draw, assets } = await openSnapshots(t, opened);
      const { snapshotId = '', creditsCost } = (await snapshots.take('a', draw)) ?? {};
      t.equal(creditsCost, 3);
      t.equal(await ledger.available('a'), 97);
      const { stream, contentType, sizeBytes } = await snapshots.open(snapshotId, 'still.png', {
        owner: 'a',
      });
      t.match([await text(stream), contentType, sizeBytes], ['a picture', 'image/png', 9]);
      t.equal(await storage.storedBytes?.('a'), 9);
      for (const [id, name, owner] of [
        [snapshotId, 'still.png', 'b'],
        [snapshotId, 'other.png', 'a'],
        ['s00', 'still.png', 'a'],
      ] as const)
        await t.rejects(snapshots.open(id, name, { owner }), { code: 'not_found' });
      t.same(await snapshots.recover(), { removed: 0, left: 0 });
      clock.advance(HOUR_MS);
      t.same(await snapshots.recover(), { removed: 1, left: 0 });
      await t.rejects(snapshots.open(snapshotId, 'still.png', { owner: 'a' }), { code: 'not_found' });
      t.equal(await assets.open(`${snapshotId}/still.png`), undefined);
      t.equal(await storage.storedBytes?.('a'), 0);
      t.match(await storage.snapshots.get(snapshotId), { phase: 'removed', costCredits: 3, files: [] });
      t.same(await auditOf(ledger), []);
    });

    t.test('what is not drawn is not charged', async (t) => {
      const opened = await open(t);
      const { ledger, storage } = opened;
      const { snapshots } = await openSnapshots(t, opened);
      t.equal(await snapshots.take('a', async () => undefined), undefined);
      const failure = new Error('the renderer is away');
      await t.rejects(
        snapshots.take('a', () => Promise.reject(failure)),
        failure,
      );
      t.equal(await ledger.available('a'), 100);
      t.equal(await left(storage), 0);
      t.same(await auditOf(ledger), []);
    });

    t.test('without the credits, nothing is drawn, or nothing kept', async (t) => {
      const opened = await open(t, 6);
      const { ledger, storage } = opened;
      const { snapshots, drawn, assets } = await openSnapshots(t, opened);
      let ids: string[] = [];
      const long = async ({ jobId }: { jobId: string }) => {
        ids = [...ids, jobId];
        return { ...drawn, durationMs: 7_000 };
      };
      await t.rejects(snapshots.take('a', long), { code: 'insufficient_credits' });
      t.equal(await ledger.available('a'), 6);
      t.equal(await assets.open(`${ids[0]}/still.png`), undefined);
      await snapshots.take('a', async () => drawn);
      t.equal(await ledger.available('a'), 3);
      await t.rejects(snapshots.take('a', long), { code: 'insufficient_credits' });
      t.equal(ids.length, 1, 'it was refused before it was drawn');
      t.equal(await left(storage), 1);
      t.same(await auditOf(ledger), []);
    });

    t.test('what a dead process has left is withdrawn, with its files', async (t) => {
      const opened = await open(t);
      const { ledger, storage } = opened;
      const { snapshots, make, drawn, assets } = await openSnapshots(t, opened);
      const begun = Promise.withResolvers<string>();
      const never = new Promise<never>(() => {});
      void snapshots.take('a', ({ jobId }) => {
        begun.resolve(jobId);
        return never;
      });
      await begun.promise;
      const stored = Promise.withResolvers<string>();
      const put = assets.put.bind(assets);
      assets.put = async (key, file) => {
        await put(key, file);
        stored.resolve(key);
        return never;
      };
      void snapshots.take('a', async () => drawn);
      const key = await stored.promise;
      t.equal(await ledger.available('a'), 90);
      t.same(await make().recover(), { removed: 0, left: 0 }, 'it may still be drawn');
      t.same(await make().recover({ isStart: true }), { removed: 0, left: 2 });
      t.equal(await ledger.available('a'), 100);
      t.equal(await assets.open(key), undefined);
      t.equal(await left(storage), 0);
      t.same(await auditOf(ledger), []);
    });

    t.test('those of a forgotten owner are removed, also while they are drawn', async (t) => {
      const opened = await open(t);
      const { ledger, storage } = opened;
      const { snapshots, draw, drawn, assets } = await openSnapshots(t, opened);
      const { snapshotId = '' } = (await snapshots.take('a', draw)) ?? {};
      let id = '';
      const taking = snapshots.take('a', async ({ jobId }) => {
        id = jobId;
        await snapshots.forget('a');
        return drawn;
      });
      await t.rejects(taking, { code: 'not_found' });
      for (const one of [snapshotId, id]) t.equal(await assets.open(`${one}/still.png`), undefined);
      t.match(await storage.snapshots.get(snapshotId), { phase: 'removed' });
      t.equal(await ledger.available('a'), 97);
      t.same(await auditOf(ledger), []);
    });
  });
}

t.test(
  'an external ledger that fails before or after its calls charges each once, or not at all',
  async (t) => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    t.comment(`SEED=${seed}`);
    const random = seededRandom(seed);
    const opened = await openDistant(t, 1000);
    const { ledger, storage } = opened;
    const { snapshots, make, draw, assets } = await openSnapshots(t, opened);
    ledger.faults = () => (random() < 0.3 ? (random() < 0.5 ? 'before' : 'after') : undefined);
    for (let index = 0; index < 60; index += 1)
      await snapshots
        .take('a', draw)
        .catch((error: unknown) => t.notOk(isScenepressError(error, 'not_found')));
    ledger.faults = undefined;
    await make().recover({ isStart: true });
    const states = await Promise.all(
      [...ledger.jobs].map(async ([id, { state, amount }]) => {
        const record = await storage.snapshots.get(id);
        if (state === 'settled') t.match(record, { phase: 'kept', costCredits: amount });
        else t.equal(record, undefined);
        const asset = await assets.open(`${id}/still.png`);
        asset?.stream.destroy();
        t.equal(asset !== undefined, state === 'settled', 'files are there if they were paid');
        return state;
      }),
    );
    t.notOk(states.includes('open'));
    t.ok(states.includes('settled') && states.includes('voided'));
    const charged = states.filter((state) => state === 'settled').length * 3;
    t.equal(ledger.balanceCredits, 1000 - charged);
  },
);

t.test('the audit names a snapshot whose charge differs from its record', async (t) => {
  const opened = await openStored(t);
  const { ledger, storage } = opened;
  const { snapshots, draw } = await openSnapshots(t, opened);
  const { snapshotId = '' } = (await snapshots.take('a', draw)) ?? {};
  const record = await storage.snapshots.get(snapshotId);
  await storage.transaction(async (tx) => {
    if (record) await storage.snapshots.update(tx, { ...record, costCredits: 4 });
  });
  t.match((await (ledger as StoredLedger).audit()).problems, [/snapshot s\w+ is kept and cost 4.*3 charged/]);
});
