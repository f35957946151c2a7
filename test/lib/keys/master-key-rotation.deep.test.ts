import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Disk } from '../../../lib/files/disk.ts';
import { ApiKeys, DataFolder, RenderService } from '../../../lib/index.ts';
import { backUp, completeReplacement, replaceMasterKey, restore } from '../../../lib/operations.ts';
import { abortAtEachCheck } from '../../fixtures/aborts-at-check.ts';
import { crashingDisk } from '../../fixtures/crashing-disk.ts';
import { isDeep } from '../../fixtures/depth.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const [OLD, NEW] = ['aa'.repeat(32), 'bb'.repeat(32)];

interface Options {
  given?: string;
  disk?: Disk;
}

async function opened(path: string, { given, disk }: Options = {}) {
  const folder = new DataFolder(path, { onFatal: () => {}, ...(disk && { disk }) });
  await folder.start();
  const masterKeys = await folder.masterKeys({ given }).catch(async (error: unknown) => {
    await folder.stop();
    throw error;
  });
  const service = new RenderService({ dataFolder: folder, webhooks: { masterKeys } });
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys });
  const reseal = async () => void (await service.resealSecrets({ keys }));
  const rotate = (given?: string) => replaceMasterKey(folder, { reseal, given });
  const complete = () => completeReplacement(folder, { reseal });
  const mint = () => keys.mint({ accountId: 'a', name: 'n' });
  return { folder, masterKeys, service, keys, mint, rotate, complete, stop: () => folder.stop() };
}

type Studio = Awaited<ReturnType<typeof opened>>;

/** Inserts ended and queued jobs with their own secrets. */
async function insertJobs({ folder, masterKeys }: Studio, count: number): Promise<string[]> {
  const { storage } = folder;
  const ids = Array.from({ length: count }, (_, number) => `job${number}`);
  await storage.transaction(async (tx) => {
    for (const [number, jobId] of ids.entries()) {
      const phase = number % 2 ? ('completed' as const) : ('queued' as const);
      const webhookSecretSealed = masterKeys.seal(`of ${jobId}`);
      await storage.insertJob(tx, jobRecord(jobId, { phase, webhookSecretSealed }), '');
    }
  });
  return ids;
}

async function assertSecrets(
  t: Test,
  studio: Studio,
  jobs: string[],
  minted: Minted[],
  when = '',
): Promise<void> {
  const { folder, masterKeys, keys } = studio;
  for (const { record, webhookSecret } of minted)
    t.equal(await keys.webhookSecretOf(record.keyId), webhookSecret, `of a key ${when}`);
  for (const jobId of jobs) {
    const sealed = (await folder.storage.getJob(jobId))?.webhookSecretSealed as string;
    t.equal(masterKeys.decrypt(sealed), `of ${jobId}`, `of a job ${when}`);
  }
}

type Minted = Awaited<ReturnType<ApiKeys['mint']>>;

t.test('a rotation keeps all secrets, and the old key is no longer accepted', async (t) => {
  const path = testFolder(t);
  const studio = await opened(path);
  const minted = [await studio.mint()];
  const jobs = await insertJobs(studio, 3);
  const before = readFileSync(join(path, 'master.key'), 'utf8');
  const former = await studio.rotate();
  await assertSecrets(t, studio, jobs, minted);
  await studio.stop();
  t.not(readFileSync(join(path, 'master.key'), 'utf8'), before);
  t.equal(readFileSync(join(path, former as string), 'utf8'), before);
  t.notOk(existsSync(join(path, 'master.key.next')));
  const again = await opened(path);
  t.equal(again.masterKeys.former, undefined);
  await assertSecrets(t, again, jobs, minted);
  await again.stop();
  await t.rejects(opened(path, { given: before }), { code: 'master_key', message: /is not the one/ });
});

t.test('API keys minted during a rotation are encrypted with the new master key', async (t) => {
  const path = testFolder(t);
  const studio = await opened(path);
  const minting = [studio.mint(), studio.mint()];
  const rotating = studio.rotate();
  for (let n = 0; n < 20; n += 1) {
    minting.push(studio.mint());
    await new Promise(setImmediate);
  }
  await rotating;
  const minted = await Promise.all(minting);
  await studio.stop();
  const again = await opened(path);
  await assertSecrets(t, again, [], minted);
  await again.stop();
});

t.test('other transactions commit between the steps of a rotation', async (t) => {
  const studio = await opened(testFolder(t));
  const { storage } = studio.folder;
  const jobs = await insertJobs(studio, 1000);
  const rotating = studio.rotate();
  let isDone = false;
  const done = rotating.then(() => {
    isDone = true;
  });
  const masterKeyOf = async (jobId: string) =>
    (await storage.getJob(jobId))?.webhookSecretSealed?.slice(0, 8);
  let between = 0;
  while (!isDone) {
    await storage.transaction((tx) => storage.insertJob(tx, jobRecord(`later${Math.random()}`), ''));
    const found = await Promise.all(jobs.map(masterKeyOf));
    if (new Set(found).size > 1) between += 1;
  }
  await done;
  t.ok(between > 0, `${between} commits during the rotation`);
  await assertSecrets(t, studio, jobs, []);
  await studio.stop();
});

t.test(
  'secrets encrypted before the rotation but committed behind its position are encrypted again, too',
  async (t) => {
    const studio = await opened(testFolder(t));
    const { storage } = studio.folder;
    const jobs = await insertJobs(studio, 3);
    // As with concurrent transactions.
    const late = jobRecord('late', { webhookSecretSealed: studio.masterKeys.seal('of late') });
    const resealSecrets = storage.resealSecrets.bind(storage);
    storage.resealSecrets = async (step) => {
      const resealed = await resealSecrets(step);
      if (!(await storage.getJob('late'))) await storage.transaction((tx) => storage.insertJob(tx, late, ''));
      return resealed;
    };
    await studio.rotate();
    const sealed = (await storage.getJob('late'))?.webhookSecretSealed as string;
    t.equal(studio.masterKeys.current.decrypt(sealed), 'of late');
    await assertSecrets(t, studio, jobs, []);
    await studio.stop();
  },
);

t.test('a service that first needs the master key during a rotation uses the new one', async (t) => {
  for (const given of [undefined, NEW]) {
    const path = testFolder(t);
    const { folder } = await opened(path, given === undefined ? {} : { given: OLD });
    const service = new RenderService({ dataFolder: folder, assetUrl: 'https://example.org' });
    await service.startWithoutWorkers();
    const webhook = { url: 'https://example.org/', secret: 'mine' };
    const enqueue = () => service.enqueue({ owner: 'a', code: 'x', className: 'A', webhook });
    const enqueued: Promise<{ jobId: string }>[] = [];
    await replaceMasterKey(folder, {
      given,
      async reseal() {
        const again = replaceMasterKey(folder, { given, reseal: async () => {} });
        await t.rejects(again, { code: 'conflict' });
        enqueued.push(enqueue());
        await service.resealSecrets();
        enqueued.push(enqueue());
      },
    });
    const jobs = await Promise.all(enqueued);
    await service.stop();
    const after = await opened(path, given === undefined ? {} : { given });
    for (const { jobId } of jobs) {
      const sealed = (await after.folder.storage.getJob(jobId))?.webhookSecretSealed as string;
      t.equal(after.masterKeys.current.decrypt(sealed), 'mine');
    }
    await after.stop();
  }
});

t.test('a backup and a rotation wait for each other', async (t) => {
  const root = testFolder(t);
  const studio = await opened(join(root, 'data'));
  const minted = [await studio.mint()];
  const jobs = await insertJobs(studio, 50);
  const rotations = [studio.rotate()];
  const backups = [];
  for (let number = 0; number < 3; number += 1) {
    backups.push(backUp(studio.folder, join(root, `backup${number}`), { withMasterKey: true }));
    await Promise.all(rotations);
    rotations.push(studio.rotate());
  }
  await Promise.all([...rotations, ...backups]);
  await studio.stop();
  for (const number of backups.keys()) {
    const restored = join(root, `restored${number}`);
    await restore(join(root, `backup${number}`), restored);
    const copy = await opened(restored);
    t.equal(copy.masterKeys.former, undefined);
    await assertSecrets(t, copy, jobs, minted);
    await copy.stop();
  }
});

t.test('no backup can be made while a rotation is incomplete', async (t) => {
  const root = testFolder(t);
  const studio = await opened(join(root, 'data'));
  const minted = [await studio.mint()];
  const jobs = await insertJobs(studio, 2);
  const killed = replaceMasterKey(studio.folder, {
    reseal: async () => {
      await studio.keys.reseal();
      throw new Error('killed');
    },
  });
  await t.rejects(killed, { message: /killed.*both keys are needed/ });
  await studio.stop();

  const again = await opened(join(root, 'data'));
  await assertSecrets(t, again, jobs, minted);
  await t.rejects(backUp(again.folder, join(root, 'backup')), {
    code: 'conflict',
    message: /was interrupted/,
  });
  await again.complete();
  await backUp(again.folder, join(root, 'backup'), { withMasterKey: true });
  await restore(join(root, 'backup'), join(root, 'restored'));
  await again.stop();
  const copy = await opened(join(root, 'restored'));
  await assertSecrets(t, copy, jobs, minted);
  await copy.stop();
});

t.test('an aborted rotation can be completed, and until then both keys work', async (t) => {
  const studio = await opened(testFolder(t));
  t.teardown(() => studio.stop());
  const minted = [await studio.mint()];
  const jobs = await insertJobs(studio, 3);
  const { folder, keys, service } = studio;
  const rotate = (signal: AbortSignal) =>
    replaceMasterKey(folder, { reseal: (options) => service.resealSecrets({ keys, ...options }), signal });
  const { checks, result } = await abortAtEachCheck(rotate, (count) =>
    assertSecrets(t, studio, jobs, minted, `after an abort at check ${count}`),
  );
  t.ok(checks > 2);
  t.match(result, /^master\.key\.until-/);
  await assertSecrets(t, studio, jobs, minted, 'at the end');
  t.notOk(await folder.masterKeyFiles.isRotating());
});

t.test('a rotation killed at any point can be completed, and until then both keys work', async (t) => {
  for (const given of [undefined, NEW]) {
    const [old, next] = given === undefined ? [{}, {}] : [{ given: OLD }, { given: NEW }];
    const outcomes = new Set<string>();
    // In the quick suite every fifth change, of which either key completes half.
    const step = isDeep ? 1 : 5;
    for (let calls = 0; ; calls += step) {
      const path = testFolder(t);
      const when = `after ${calls} changes`;
      const first = await opened(path, old);
      const minted = [await first.mint(), await first.mint()];
      const jobs = await insertJobs(first, 3);
      await first.stop();

      const disk = crashingDisk();
      const studio = await opened(path, { ...old, disk });
      disk.crashAfter(calls);
      await studio.rotate(given).catch(() => {});
      await studio.stop().catch(() => {});

      const isIncomplete = existsSync(join(path, 'master.key.next'));
      const completed = await opened(path, old).catch(() => undefined);
      outcomes.add(
        `${isIncomplete ? 'incomplete' : 'complete'}, old key ${completed ? 'accepted' : 'rejected'}`,
      );
      if (completed) {
        await assertSecrets(t, completed, jobs, minted, when);
        await completed.stop();
      }
      // Either key can complete it, and that key is then the current one.
      const again = completed && (calls / step) % 2 === 0 ? old : isIncomplete || !completed ? next : old;
      const last = await opened(path, again);
      await assertSecrets(t, last, jobs, minted, when);
      await last.complete();
      await last.stop();
      t.notOk(readdirSync(path).includes('master.key.next'), when);
      const alone = await opened(path, again);
      t.equal(alone.masterKeys.former, undefined, when);
      await assertSecrets(t, alone, jobs, minted, `${when}, completed`);
      await alone.stop();
      const former = readdirSync(path).filter((name) => name.startsWith('master.key.until-'));
      t.ok(former.length <= 1, `${former} ${when}`);
      if (!disk.hasCrashed()) break;
      t.ok(calls < 100);
    }
    t.ok(outcomes.has('incomplete, old key accepted'));
    t.ok(outcomes.has('complete, old key accepted'));
    if (given !== undefined) t.ok(outcomes.has('complete, old key rejected'), 'the new key was needed');
  }
});
