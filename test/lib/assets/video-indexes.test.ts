import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { type AssetStore, FileAssetStore } from '../../../lib/index.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { indexingService } from '../../fixtures/indexing-service.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

/** A store of another kind: its assets have no paths. */
function distant(store: AssetStore, changes: Partial<AssetStore> = {}): AssetStore {
  return {
    put: (key, file) => store.put(key, file),
    delete: (key) => store.delete(key),
    async open(key) {
      const opened = await store.open(key);
      return opened && { stream: opened.stream, sizeBytes: opened.sizeBytes };
    },
    ...changes,
  };
}

t.test('a render is given the newest video of its scene, in place, with its index', async (t) => {
  const { render, renderer, pathOf, folder } = await indexingService(t);
  await render();
  const second = await render();
  await render();
  t.same(renderer.earlier, [
    undefined,
    { index: 'index 1', video: 'video 1' },
    { index: 'index 2', video: 'video 2' },
  ]);
  t.equal(renderer.tasks[2]?.earlier?.video, pathOf(second.jobId, 'video.mp4'), 'not a copy');
  t.same(readdirSync(join(folder, 'data/work')), [], 'fetched files are removed');
});

t.test('videos of another owner, scene or form are not given', async (t) => {
  const { render, renderer } = await indexingService(t);
  await render();
  await render({ owner: 'bob' });
  await render({ className: 'Other' });
  await render({ quality: 'high' });
  await render({ aspectRatio: '9:16' });
  await render({ fps: 12 });
  t.same(renderer.earlier, Array(6).fill(undefined));
  await render();
  t.match(renderer.earlier[6], { index: 'index 1' });
});

t.test('a request may name the job whose video is given', async (t) => {
  const { service, render, renderer } = await indexingService(t);
  const first = await render();
  const others = await render({ owner: 'bob' });
  const small = await render({ quality: 'low' });
  await render();
  await render({ className: 'Renamed', earlierJobId: first.jobId });
  t.same(renderer.earlier.at(-1), { index: 'index 1', video: 'video 1' }, 'also for a class of another name');
  await render({ earlierJobId: small.jobId });
  t.match(renderer.earlier.at(-1), { index: 'index 4' }, 'the newest, if its form is another');
  await t.rejects(render({ earlierJobId: others.jobId }), { code: 'not_found' });
  await t.rejects(render({ earlierJobId: 'none' }), { code: 'not_found' });
  await t.rejects(render({ earlierJobId: 1 as never }), { code: 'invalid_request' });
  const { jobId } = await service.renderAgain(first.jobId);
  await service.wait(jobId);
  t.same(renderer.earlier.at(-1), { index: 'index 1', video: 'video 1' }, 'a job that is rendered again');
  await service.forget(first.jobId);
  await render({ earlierJobId: first.jobId });
  t.match(renderer.earlier.at(-1), { index: 'index 7' }, 'the newest, if it was forgotten');
});

t.test('an index is internal, and removed with the video', async (t) => {
  const { service, render, renderer, pathOf, parts } = await indexingService(t);
  const job = await render();
  t.ok(existsSync(pathOf(job.jobId)));
  t.same(
    job.artifacts.map(({ name }) => name),
    ['video.mp4'],
  );
  await t.rejects(service.openArtifact(job.jobId, 'video.index' as never), { code: 'not_found' });
  await service.forget(job.jobId);
  t.notOk(existsSync(pathOf(job.jobId)));
  await render();
  t.equal(renderer.earlier[1], undefined, 'nothing is left of a forgotten scene');
  const row = await parts.dataFolder?.database.get(
    'SELECT scene_digest, index_digest FROM jobs WHERE job_id = ?',
    job.jobId,
  );
  t.match(row, { scene_digest: null, index_digest: null });
});

t.test('only an index as it was stored for the job is used', async (t) => {
  const { render, renderer, pathOf } = await indexingService(t);
  const first = await render();
  const other = await render({ className: 'Other' });
  const others = await render({ owner: 'bob' });
  const path = pathOf(first.jobId);
  const intact = readFileSync(path);
  const altered = Buffer.from(intact);
  altered[altered.length - 1] = 0;
  const cases: Record<string, Buffer> = {
    altered,
    truncated: intact.subarray(0, -1),
    empty: Buffer.alloc(0),
    'of another job': readFileSync(pathOf(other.jobId)),
    'of another owner': readFileSync(pathOf(others.jobId)),
  };
  renderer.index = () => {}; // So that the first video remains the newest with an index.
  for (const [name, bytes] of Object.entries(cases)) {
    writeFileSync(path, bytes);
    await render();
    t.equal(renderer.earlier.at(-1), undefined, name);
  }
  writeFileSync(path, intact);
  await render();
  t.same(renderer.earlier.at(-1), { index: 'index 1', video: 'video 1' });
  writeFileSync(pathOf(first.jobId, 'video.mp4'), 'cut');
  await render();
  t.equal(renderer.earlier.at(-1), undefined, 'a video of another size');
});

t.test('where scenes can reach the files of their encoder, no index is made', async (t) => {
  const { render, renderer } = await indexingService(t);
  const limits = { memory: 'watch', processes: 'user', disk: 'watch' } as const;
  renderer.status.sandbox = { level: 'reduced', layers: ['landlock', 'seccomp'], limits, problems: {} };
  await render();
  renderer.status.sandbox = { level: 'reduced', layers: ['namespaces'], limits, problems: {} };
  await render();
  t.match(
    renderer.tasks.map(({ isIndexed = false }) => isIndexed),
    [false, true],
  );
});

t.test('switched off, indexes are neither made nor used', async (t) => {
  const { render, renderer, pathOf, service, folder } = await indexingService(t);
  await render();
  await service.stop();
  const off = await indexingService(t, { folder: join(folder, 'data'), incremental: false });
  const { jobId } = await off.render();
  t.notOk(off.renderer.tasks[0]?.isIndexed);
  t.equal(off.renderer.earlier[0], undefined);
  t.notOk(existsSync(pathOf(jobId)));
  t.equal(renderer.tasks[0]?.isIndexed, true);
});

t.test('an index that the store does not take fails no job', async (t) => {
  const store = new FileAssetStore(testFolder(t));
  const assets = distant(store, {
    async put(key, file) {
      if (key.endsWith('.index')) throw new Error('refused');
      return store.put(key, file);
    },
  });
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (...warning: unknown[]) => void warnings.push(warning) };
  const { render, renderer } = await indexingService(t, { assets, logger });
  await render();
  await render();
  t.same(renderer.earlier, [undefined, undefined]);
  t.match(warnings[0], [{ err: { message: 'refused' } }, /index of a video could not be stored/]);
});

t.test('an index that is no file is not stored', async (t) => {
  const { render, renderer, pathOf, folder } = await indexingService(t);
  writeFileSync(join(folder, 'secret'), 'secret');
  renderer.index = (path) => symlinkSync(join(folder, 'secret'), path);
  const { jobId } = await render();
  t.notOk(existsSync(pathOf(jobId)));
});

t.test('from a store without files, both are fetched', async (t) => {
  const assets = distant(new FileAssetStore(testFolder(t)));
  const { render, renderer, folder } = await indexingService(t, { assets });
  await render();
  await render();
  t.same(renderer.earlier[1], { index: 'index 1', video: 'video 1' });
  t.match(renderer.tasks[1]?.earlier?.video, join(folder, 'data/work'));
  t.same(readdirSync(join(folder, 'data/work')), []);
});

t.test('a store that gives no index or video is done without', async (t) => {
  const store = new FileAssetStore(testFolder(t));
  let ending = '';
  let failure = async (): Promise<Awaited<ReturnType<AssetStore['open']>>> => undefined;
  const assets = distant(store, {
    open: async (key) => (key.endsWith(ending) ? failure() : distant(store).open(key)),
  });
  const { render, renderer } = await indexingService(t, { assets });
  ending = 'nothing';
  await render();
  renderer.index = () => {};
  const torn = () =>
    new Readable({
      read() {
        this.destroy(new Error('torn'));
      },
    });
  const failures: Record<string, typeof failure> = {
    missing: async () => undefined,
    refused: async () => {
      throw new Error('refused');
    },
    torn: async () => ({ stream: torn(), sizeBytes: 'video 1'.length }),
    large: async () => ({ stream: torn(), sizeBytes: 2 ** 40 }),
  };
  for (ending of ['.index', '.mp4'])
    for (const [name, open] of Object.entries(failures)) {
      failure = open;
      await render();
      t.equal(renderer.earlier.at(-1), undefined, `${name} ${ending}`);
    }
  ending = 'nothing';
  await render();
  t.same(renderer.earlier.at(-1), { index: 'index 1', video: 'video 1' });
});

t.test('a store that does not answer delays no render for long, and no stop', async (t) => {
  const store = new FileAssetStore(testFolder(t));
  let hangs = false;
  const never = new Promise<undefined>(() => {});
  const assets = distant(store, { open: (key) => (hangs ? never : distant(store).open(key)) });
  const { render, renderer, service } = await indexingService(t, { assets });
  await render();
  hangs = true;
  const sinceMs = systemClock.uptimeMs();
  await render();
  t.equal(renderer.earlier[1], undefined);
  t.ok(systemClock.uptimeMs() - sinceMs < 10_000);
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Main', code: 'x' });
  await until(async () => (await service.get(jobId))?.status === 'running');
  t.equal((await service.cancel(jobId)).status, 'failed');
});
