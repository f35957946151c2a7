import assert from 'node:assert/strict';
import type { ResealedStep } from '../keys/sealed-secrets.ts';
import { FAILED_BY } from '../model/failures.ts';
import type { JobRecord } from '../model/job.ts';
import type { JobQuery } from '../model/job-list-query.ts';
import type { Storage } from '../storage/storage.ts';
import { IDEMPOTENT_REQUESTS } from './idempotent-requests.ts';
import { insert, jobRecord } from './job-record.ts';
import { type Behaviour, behaviours, EMPTY_STORAGE, type Opened, type SuiteOptions } from './suite.ts';

/**
 * Behaviors of a {@link Storage}. `open` returns a new, empty, started one.
 *
 * ```ts
 * const open = async () => ({ subject: await MyStorage.open(), close: async () => {} });
 * for (const { title, run } of storageSuite(open)) test(title, run);
 * ```
 */
export function storageSuite(open: () => Promise<Opened<Storage>>, options: SuiteOptions = {}): Behaviour[] {
  const suite = { name: 'storageSuite', open, options, ...EMPTY_STORAGE };
  return behaviours(suite, {
    async 'stores a job and its source without changes'(storage) {
      const job = jobRecord('1', { metadataJson: '{"a":1e400}' });
      const source = 'x = "\0 \ud800 数学 \u2028"\r\n';
      await insert(storage, job, source);
      assert.deepEqual(await storage.getJob('1'), job);
      assert.equal(await storage.readSource('1'), source);
    },

    async 'stores the plays and the output of a job without changes'(storage) {
      const plays = [
        { line: 7, shows: 'Create(Circle) 数学', startSeconds: 0, seconds: 1 },
        { line: 0, shows: '', startSeconds: 1, seconds: 0.1 + 0.2 },
      ];
      await insert(storage, jobRecord('1', { phase: 'running' }));
      const trace = { plays, output: 'x = 1\n数学 "\u2028"\n' };
      assert.deepEqual(await storage.readTrace('1'), { plays: [], output: '' });
      await storage.transaction((tx) => storage.putTrace(tx, '1', trace));
      assert.deepEqual(await storage.readTrace('1'), trace);
      assert.deepEqual(await storage.readTrace('2'), { plays: [], output: '' });
    },

    async 'returns undefined for a missing job'(storage) {
      assert.equal(await storage.getJob('1'), undefined);
      assert.equal(await storage.readSource('1'), undefined);
    },

    async 'stores nothing of a transaction that throws'(storage) {
      const failing = storage.transaction(async (tx) => {
        await storage.insertJob(tx, jobRecord('1'), 'x');
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.equal(await storage.getJob('1'), undefined);
      assert.equal(await storage.readSource('1'), undefined);
    },

    async 'shows uncommitted writes only within the transaction'(storage) {
      await storage.transaction(async (tx) => {
        await storage.insertJob(tx, jobRecord('1'), 'x');
        assert.equal((await storage.getJob('1', tx))?.jobId, '1');
        assert.equal(await storage.getJob('1'), undefined);
      });
      assert.equal((await storage.getJob('1'))?.jobId, '1');
    },

    async 'serializes transactions'(storage) {
      await insert(storage, jobRecord('1'));
      const increments = Array.from({ length: 30 }, () =>
        storage.transaction(async (tx) => {
          const job = (await storage.getJob('1', tx)) as JobRecord;
          await storage.updateJob(tx, { ...job, attempts: job.attempts + 1 });
        }),
      );
      await Promise.all(increments);
      assert.equal((await storage.getJob('1'))?.attempts, 30);
    },

    async 'does not share records with the caller'(storage) {
      const job = jobRecord('1', {
        artifacts: [{ name: 'video.mp4', assetKey: '1/video.mp4', sizeBytes: 1 }],
      });
      await insert(storage, job);
      job.artifacts.pop();
      assert.equal((await storage.getJob('1'))?.artifacts.length, 1);
      const read = await storage.getJob('1');
      try {
        read?.artifacts.pop();
      } catch {} // It may be frozen.
      assert.equal((await storage.getJob('1'))?.artifacts.length, 1);
    },

    async 'replaces secrets given with jobs in steps, also of ended jobs'(storage) {
      await insert(storage, jobRecord('1'));
      await insert(storage, jobRecord('2', { phase: 'reserving', webhookSecretSealed: 'old two' }));
      await insert(storage, jobRecord('3', { webhookSecretSealed: 'old three' }));
      const ended = jobRecord('3', { phase: 'completed', webhookSecretSealed: 'old three' });
      await storage.transaction((tx) => storage.updateJob(tx, ended));
      await insert(storage, jobRecord('4', { webhookSecretSealed: 'new four' }));
      // A secret whose write is still in progress is replaced, too.
      const inserting = insert(storage, jobRecord('5', { webhookSecretSealed: 'old five' }));
      assert.equal(await resealAll(storage, 1), 3);
      await inserting;
      const secretOf = async (id: string) => (await storage.getJob(id))?.webhookSecretSealed;
      assert.deepEqual(await Promise.all(['1', '2', '3', '4', '5'].map(secretOf)), [
        undefined,
        'new two',
        'new three',
        'new four',
        'new five',
      ]);
      assert.deepEqual(await storage.getJob('3'), { ...ended, webhookSecretSealed: 'new three' });
      assert.equal(await resealAll(storage, 1), 0);
    },

    async 'allows commits between the steps, and limits the secrets replaced in each'(storage) {
      for (let id = 0; id < 20; id += 1)
        await insert(storage, jobRecord(String(id), { webhookSecretSealed: 'old' }));
      const reseal = () => 'new';
      const first = await storage.resealSecrets({ reseal, limit: 5 });
      assert.ok(first.replaced <= 5 && first.next !== undefined);
      await insert(storage, jobRecord('later'));
      let { replaced } = first;
      for (let from: string | undefined = first.next; from !== undefined; ) {
        const step: ResealedStep = await storage.resealSecrets({ reseal, from, limit: 5 });
        assert.ok(step.replaced <= 5);
        replaced += step.replaced;
        from = step.next;
      }
      assert.equal(replaced, 20);
    },

    async 'leaves secrets unchanged if one cannot be replaced'(storage) {
      await insert(storage, jobRecord('1', { webhookSecretSealed: 'old' }));
      const reseal = () => {
        throw new Error('no');
      };
      await assert.rejects(storage.resealSecrets({ reseal, limit: 5 }), { message: 'no' });
      assert.equal((await storage.getJob('1'))?.webhookSecretSealed, 'old');
    },

    async 'lists jobs newest first, in pages, by owner and by status'(storage) {
      for (const id of ['1', '2', '3', '4']) {
        await insert(storage, jobRecord(id, { owner: id === '2' ? 'b' : 'a' }));
      }
      await insert(storage, jobRecord('5', { phase: 'reserving' }));
      await insert(storage, jobRecord('6', { phase: 'settling' }));
      const list = async (query: JobQuery) => (await storage.listJobs(query)).map((job) => job.jobId);
      assert.deepEqual(await list({}), ['6', '4', '3', '2', '1']);
      assert.deepEqual(await list({ owner: 'a', limit: 2 }), ['6', '4']);
      assert.deepEqual(await list({ owner: 'a', limit: 2, before: '4' }), ['3', '1']);
      assert.deepEqual(await list({ status: 'running' }), ['6']);
      assert.deepEqual(await list({ after: '2', before: '6' }), ['4', '3']);
      assert.deepEqual(await list({ quality: 'fourk' }), []);
      await insert(storage, jobRecord('7', { quality: 'fourk' }));
      await insert(storage, jobRecord('8', { phase: 'completed', quality: 'fourk', completedAtMs: 30 }));
      assert.deepEqual(await list({ quality: 'fourk' }), ['8', '7']);
      assert.deepEqual(await list({ quality: 'fourk', owner: 'a', status: 'completed' }), ['8']);
      const failed = { phase: 'failed', error: 'no', completedAtMs: 30 } as const;
      await insert(storage, jobRecord('90', { ...failed, failedBy: 'scene' }));
      await insert(storage, jobRecord('91', { ...failed, failedBy: 'cancel' }));
      await insert(storage, jobRecord('92', failed));
      assert.deepEqual(await list({ status: 'failed', canceled: false }), ['92', '90']);
      assert.deepEqual(await list({ canceled: true }), ['91']);
      assert.deepEqual(await list({ status: 'queued', canceled: true }), []);
      assert.deepEqual(await list({ canceled: false, limit: 3 }), ['92', '90', '8']);
      assert.deepEqual(await list({ owner: 'none' }), []);
      assert.deepEqual(await list({ owner: '__proto__' }), []);
    },

    async 'locks an owner until the end of the transaction'(storage) {
      const locked = Promise.withResolvers<void>();
      const first = storage.transaction(async (tx) => {
        await storage.lockOwner(tx, 'a');
        locked.resolve();
        // What does not wait looks meanwhile.
        for (let reads = 0; reads < 20; reads += 1) await storage.getJob('none', tx);
        await storage.insertJob(tx, jobRecord('1'), 'x');
      });
      await locked.promise;
      const found = await storage.transaction(async (tx) => {
        await storage.lockOwner(tx, 'a');
        return storage.getJob('1', tx);
      });
      assert.ok(found);
      await first;
    },

    async 'lists jobs without their metadata'(storage) {
      for (let id = 100; id < 230; id += 1) {
        await insert(storage, jobRecord(String(id), { metadataJson: '"m"', owner: id % 2 ? 'a' : 'b' }));
      }
      const listed = await storage.listJobs({ metadata: false, limit: 125, before: '228' });
      const expected = (await storage.listJobs({ limit: 125, before: '228' })).map((job) => {
        assert.equal(job.metadataJson, '"m"');
        return { ...job, metadataJson: null };
      });
      assert.deepEqual(listed, expected);
      assert.equal((await storage.listJobs({ metadata: false, owner: 'a', limit: 200 })).length, 65);
      assert.equal((await storage.listJobs({ metadata: false })).length, 50);
    },

    async 'counts visible jobs by status, of an owner and behind an id'(storage) {
      const ended = { durationMs: 20, completedAtMs: 30 };
      const phases = ['queued', 'reserving', 'running', 'settling', 'completed', 'completed'] as const;
      for (const [index, phase] of phases.entries()) {
        await insert(storage, jobRecord(String(index), { phase, ...(phase === 'completed' && ended) }));
      }
      await insert(storage, jobRecord('6', { ...ended, phase: 'failed', error: 'no', owner: 'b' }));
      const all = { queued: 1, running: 2, completed: 2, failed: 1 };
      assert.deepEqual(await storage.countJobs({ after: '' }), all);
      assert.deepEqual(await storage.countJobs({ after: '4' }), {
        ...all,
        queued: 0,
        running: 0,
        completed: 1,
      });
      const some = await storage.countJobs({ after: '', limit: 1 });
      assert.deepEqual(
        some,
        Object.fromEntries(Object.entries(all).map(([name, n]) => [name, Math.min(n, 1)])),
      );
      assert.deepEqual(await storage.countJobs({ after: '', owner: 'b' }), {
        queued: 0,
        running: 0,
        completed: 0,
        failed: 1,
      });
      await insert(storage, jobRecord('7', { ...ended, phase: 'failed', error: 'no', failedBy: 'cancel' }));
      assert.deepEqual(await storage.countJobs({ after: '', canceled: false }), all);
      const none = { queued: 0, running: 0, completed: 0 };
      assert.deepEqual(await storage.countJobs({ after: '', canceled: true }), { ...none, failed: 1 });
    },

    async 'stores what a job failed by'(storage) {
      const end = { phase: 'failed', error: 'no', completedAtMs: 30 } as const;
      const jobs = FAILED_BY.map((failedBy, at) => jobRecord(`${at}`, { ...end, failedBy }));
      for (const job of jobs) await insert(storage, job);
      for (const job of jobs) assert.deepEqual(await storage.getJob(job.jobId), job);
    },

    async 'returns how the latest jobs ended'(storage) {
      const end = { durationMs: 20, completedAtMs: 30 };
      await insert(storage, jobRecord('1', { ...end, phase: 'completed', owner: 'a' }));
      await insert(
        storage,
        jobRecord('2', { ...end, phase: 'failed', owner: 'b', error: 'no', failedBy: 'scene' }),
      );
      await insert(storage, jobRecord('3', { phase: 'running' }));
      await insert(storage, jobRecord('4', { ...end, phase: 'completed', owner: 'c' }));
      const failed = { owner: 'b', phase: 'failed', failedBy: 'scene', ...end };
      const completed = { owner: 'c', phase: 'completed', ...end };
      assert.deepEqual(await storage.recentEnds({ after: '1', limit: 10 }), [completed, failed]);
      assert.deepEqual(await storage.recentEnds({ after: '', limit: 1 }), [completed]);
      assert.deepEqual(await storage.recentEnds({ after: '4', limit: 10 }), []);
    },

    async 'returns unfinished jobs oldest first, invisible ones included'(storage) {
      await insert(storage, jobRecord('2', { phase: 'running' }));
      await insert(storage, jobRecord('1'));
      await insert(storage, jobRecord('3', { phase: 'failed' }));
      await insert(storage, jobRecord('4', { phase: 'reserving' }));
      const ids = (await storage.unfinishedJobs()).map((job) => job.jobId);
      assert.deepEqual(ids, ['1', '2', '4']);
    },

    async 'rejects a change of a terminal job'(storage) {
      await insert(storage, jobRecord('1', { phase: 'completed' }));
      await assert.rejects(storage.transaction((tx) => storage.updateJob(tx, jobRecord('1'))));
      assert.equal((await storage.getJob('1'))?.phase, 'completed');
    },

    async 'removes an invisible job with its source'(storage) {
      await insert(storage, jobRecord('1', { phase: 'reserving' }));
      await storage.transaction((tx) => storage.deleteJob(tx, '1'));
      assert.equal(await storage.getJob('1'), undefined);
      assert.equal(await storage.readSource('1'), undefined);
    },

    async 'removes the texts of a forgotten job'(storage) {
      await insert(storage, jobRecord('1', { phase: 'failed', error: 'e', metadataJson: '1' }), 'secret');
      await insert(storage, jobRecord('2'), 'kept');
      const request = { owner: 'a', key: 'k', fingerprint: 'f', jobId: '1', createdAtMs: 1000 };
      await storage.transaction((tx) => storage.putIdempotentRequest(tx, request));
      const play = { line: 1, shows: 'Secret', startSeconds: 0, seconds: 1 };
      await storage.transaction((tx) => storage.putTrace(tx, '1', { plays: [play], output: '' }));
      const forgotten = jobRecord('1', { phase: 'failed', error: 'gone', forgottenAtMs: 5 });
      await storage.transaction((tx) => storage.forgetJob(tx, forgotten));
      await storage.purge();
      for (let start = 0; start < 2; start += 1) {
        assert.deepEqual(await storage.getJob('1'), forgotten);
        assert.equal(await storage.readSource('1'), undefined);
        assert.deepEqual(await storage.readTrace('1'), { plays: [], output: '' });
        assert.equal(await storage.readSource('2'), 'kept');
        assert.equal(
          await storage.transaction((tx) => storage.getIdempotentRequest('a', 'k', tx)),
          undefined,
        );
        assert.equal((await storage.listJobs({ owner: 'a' })).length, 2);
        await storage.stop();
        await storage.start();
      }
      await assert.rejects(storage.transaction((tx) => storage.forgetJob(tx, jobRecord('2'))));
    },

    ...IDEMPOTENT_REQUESTS,

    async 'returns jobs with artifacts oldest first, without those whose artifacts were removed'(storage) {
      const artifacts: JobRecord['artifacts'] = [{ name: 'video.mp4', assetKey: 'k', sizeBytes: 1 }];
      for (const id of ['2', '1', '3'])
        await insert(storage, jobRecord(id, { phase: 'completed', artifacts }));
      await insert(storage, jobRecord('4'));
      await storage.transaction((tx) => storage.noteArtifactsRemoved(tx, '2', 0));
      const ids: string[] = [];
      for await (const { jobId } of storage.jobsWithArtifacts()) ids.push(jobId);
      assert.deepEqual(ids, ['1', '3']);
      assert.equal((await storage.getJob('2'))?.artifacts.length, 1);
    },

    async 'tells what the jobs of an owner take, if it does'(storage) {
      if (!storage.storedBytes) return;
      const artifacts: JobRecord['artifacts'] = [{ name: 'video.mp4', assetKey: 'k', sizeBytes: 1_000_000 }];
      for (const id of ['1', '2']) await insert(storage, jobRecord(id, { phase: 'completed', artifacts }));
      await insert(storage, jobRecord('3', { owner: 'b', phase: 'completed', artifacts }));
      const both = await storage.storedBytes('a');
      assert.ok(both > 2_000_000 && both < 2_010_000, `${both} bytes`);
      await storage.transaction((tx) => storage.noteArtifactsRemoved(tx, '1', 0));
      assert.equal(await storage.storedBytes('a'), both - 1_000_000);
      const forgotten = jobRecord('1', { phase: 'completed', artifacts, forgottenAtMs: 1 });
      await storage.transaction((tx) => storage.forgetJob(tx, forgotten));
      assert.ok((await storage.storedBytes('a')) < both - 1_000_000);
    },

    async 'keeps its data across a restart'(storage) {
      await insert(storage, jobRecord('1'), 'source');
      await storage.stop();
      await storage.start();
      assert.deepEqual(await storage.getJob('1'), jobRecord('1'));
      assert.equal(await storage.readSource('1'), 'source');
      assert.equal((await storage.listJobs({ owner: 'a' })).length, 1);
    },
  });
}

async function resealAll(storage: Storage, limit: number): Promise<number> {
  const reseal = (sealed: string) => sealed.replace('old', 'new');
  let count = 0;
  for (let from: string | undefined; ; ) {
    const { replaced, next } = await storage.resealSecrets({ reseal, from, limit });
    count += replaced;
    if (next === undefined) return count;
    from = next;
  }
}
