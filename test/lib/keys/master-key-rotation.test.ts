import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  ApiKeys,
  DataFolder,
  loadMasterKey,
  type MasterKey,
  RenderService,
  replaceMasterKey,
} from '../../../lib/index.ts';
import { type Disk, type DiskFile, realDisk } from '../../../lib/storage/disk.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';

const [OLD, NEW] = ['aa'.repeat(32), 'bb'.repeat(32)];

/** The machine's disk, until it dies: after so many more changes each one fails, as if nobody were there any more. */
function mortalDisk(): Disk & { dieAfter: (changes: number) => void; died: () => boolean } {
  let left = Number.POSITIVE_INFINITY;
  const count = () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  };
  const counted =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      count();
      return call(...args);
    };
  return {
    ...realDisk,
    async open(path, how) {
      const file = await counted(realDisk.open)(path, how);
      const writeNow: DiskFile['writeNow'] = (bytes, position) => {
        count();
        file.writeNow(bytes, position);
      };
      return { ...file, write: counted(file.write), writeNow, sync: counted(file.sync) };
    },
    rename: counted(realDisk.rename),
    remove: counted(realDisk.remove),
    syncFolder: counted(realDisk.syncFolder),
    dieAfter: (changes) => {
      left = changes;
    },
    died: () => left < 0,
  };
}

async function opened(path: string, options: { given?: string; disk?: Disk } = {}) {
  const folder = new DataFolder(path, { onFatal: () => {}, ...(options.disk && { disk: options.disk }) });
  await folder.start();
  const { storage, keyStore: store } = folder;
  const sealed = () => folder.anySealedSecret();
  const load = loadMasterKey(path, { given: options.given, sealed });
  const masterKey = await load.catch(async (error: unknown) => {
    await folder.stop();
    throw error;
  });
  const service = new RenderService({ dataFolder: folder, webhooks: { masterKey } });
  return { folder, masterKey, service, keys: new ApiKeys({ storage, store, masterKey }) };
}

async function rotate(
  path: string,
  { keys, service, masterKey: current }: { keys: ApiKeys; service: RenderService; masterKey: MasterKey },
  options: { given?: string; disk?: Disk } = {},
): Promise<void> {
  const reseal = async (next: MasterKey) => void (await service.resealSecrets(next, { keys }));
  await replaceMasterKey(path, { current, reseal, ...options });
}

t.test('secrets stay what they were under a new key, and the old one opens nothing any more', async (t) => {
  const path = t.testdir();
  const studio = await opened(path);
  const minted = await studio.keys.mint({ accountId: 'a', name: 'n' });
  const before = readFileSync(join(path, 'master.key'), 'utf8');
  await rotate(path, studio);
  t.equal(await studio.keys.webhookSecretOf(minted.record.keyId), minted.webhookSecret);
  await studio.folder.stop();
  t.not(readFileSync(join(path, 'master.key'), 'utf8'), before);
  t.notOk(existsSync(join(path, 'master.key.next')));
  const again = await opened(path);
  t.equal(await again.keys.webhookSecretOf(minted.record.keyId), minted.webhookSecret);
  await again.folder.stop();
  await t.rejects(opened(path, { given: before }), { code: 'master_key', message: /is not the one/ });
});

t.test('keys made while it rotates are sealed with the right one', async (t) => {
  const path = t.testdir();
  const studio = await opened(path);
  const mint = () => studio.keys.mint({ accountId: 'a', name: 'n' });
  const minting = [mint(), mint()];
  const rotating = rotate(path, studio);
  for (let n = 0; n < 20; n += 1) {
    minting.push(mint());
    await new Promise(setImmediate);
  }
  await rotating;
  const minted = await Promise.all(minting);
  await studio.folder.stop();
  const again = await opened(path);
  for (const { record, webhookSecret } of minted) {
    t.equal(await again.keys.webhookSecretOf(record.keyId), webhookSecret);
  }
  await again.folder.stop();
});

t.test(
  'a service that needs the key for the first time meanwhile leaves the rotation to itself',
  async (t) => {
    for (const given of [undefined, NEW]) {
      const path = t.testdir();
      const { folder, masterKey: current } = await opened(path, given === undefined ? {} : { given: OLD });
      const { storage } = folder;
      const job = jobRecord('1', { phase: 'completed', webhookSecretSealed: current.seal('mine') });
      await storage.transaction((tx) => storage.insertJob(tx, job, ''));
      const webhooks = given === undefined ? {} : { masterKey: current };
      const service = new RenderService({ dataFolder: folder, assetUrl: 'https://example.org', webhooks });
      await service.open();
      const webhook = { url: 'https://example.org/', secret: 'mine' };
      const enqueue = () => service.enqueue({ owner: 'a', code: 'x', className: 'A', webhook });
      const enqueued: Promise<{ jobId: string }>[] = [];
      await replaceMasterKey(path, {
        current,
        given,
        async reseal(next) {
          const again = replaceMasterKey(path, { current, given, reseal: async () => {} });
          await t.rejects(again, { code: 'conflict' });
          enqueued.push(enqueue());
          await service.resealSecrets(next);
          enqueued.push(enqueue());
        },
      });
      const jobs = ['1', ...(await Promise.all(enqueued)).map(({ jobId }) => jobId)];
      await service.stop();
      const after = await opened(path, given === undefined ? {} : { given });
      for (const jobId of jobs) {
        const sealed = (await after.folder.storage.getJob(jobId))?.webhookSecretSealed as string;
        t.equal(after.masterKey.open(sealed), 'mine');
      }
      await after.folder.stop();
    }
  },
);

t.test('killed at any moment, it has happened or it has not', async (t) => {
  // Where no secret is a key's, those of jobs tell which.
  for (const [given, keyCount] of [
    [undefined, 2],
    [NEW, 2],
    [undefined, 0],
  ] as const) {
    const outcomes = new Set<string>();
    for (let calls = 0; ; calls += 1) {
      const path = t.testdir();
      const first = await opened(path, given === undefined ? {} : { given: OLD });
      const mint = () => first.keys.mint({ accountId: 'a', name: 'n' });
      const minted = await Promise.all(Array.from({ length: keyCount }, mint));
      const job = jobRecord('1', { webhookSecretSealed: first.masterKey.seal('mine') });
      await first.folder.storage.transaction((tx) => first.folder.storage.insertJob(tx, job, ''));
      await first.folder.stop();

      const disk = mortalDisk();
      const studio = await opened(path, { ...(given !== undefined && { given: OLD }), disk });
      disk.dieAfter(calls);
      await rotate(path, studio, { ...(given !== undefined && { given }), disk }).catch(() => {});
      await studio.folder.stop().catch(() => {});

      const again = await opened(path, given === undefined ? {} : { given: OLD }).catch(async () => {
        outcomes.add('new');
        return opened(path, { given: NEW });
      });
      for (const { record, webhookSecret } of minted) {
        t.equal(await again.keys.webhookSecretOf(record.keyId), webhookSecret, `after ${calls} changes`);
      }
      const sealed = (await again.folder.storage.getJob('1'))?.webhookSecretSealed as string;
      t.equal(again.masterKey.open(sealed), 'mine', `of a job, after ${calls} changes`);
      if (existsSync(join(path, 'master.key.next'))) t.fail(`master.key.next is left after ${calls} changes`);
      await again.folder.stop();
      if (!disk.died()) break;
      t.ok(calls < 100);
    }
    t.comment(`${given === undefined ? 'kept in the folder' : 'given'}: killed at every change`);
    if (given !== undefined) t.ok(outcomes.has('new'), 'the new key was needed');
  }
});
