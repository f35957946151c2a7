import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { ended, zygotesBelow } from '../../fixtures/processes.ts';
import { drawing, enqueue, render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SECONDS_MS = 5_000;
const LATEST_MS = 30_000;

const folder = testFolder(t);
const work = join(folder, 'work');
const service = await startService(t, { folder, workers: 1 });

/** Waits for readiness. Becoming ready takes as long as the start of a renderer. */
async function until(ready: boolean, withinMs: number = Number.POSITIVE_INFINITY): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (service.status().ready !== ready) {
    if (performance.now() > deadline) throw new Error(`not ${ready ? 'ready' : 'unready'} in time`);
    await delay(20);
  }
}

t.test('a removed work folder is created again, and renders continue', async (t) => {
  t.match(await render(service, {}), { status: 'completed', attempts: 1 });
  t.match(await render(service, { aspectRatio: '9:16' }), { status: 'completed', attempts: 1 });
  rmSync(work, { recursive: true });
  t.match(await render(service, {}), { status: 'completed', attempts: 1, error: null });
  t.match(await render(service, { aspectRatio: '9:16' }), { status: 'completed', attempts: 1, error: null });
  t.equal(service.status().ready, true);
  while ((statSync(work).mode & 0o777) !== 0o711) await delay(20); // Until the next check.
});

t.test('a render whose folder is removed is repeated without counting an attempt', async (t) => {
  const code = scene('self.wait(1 / config.frame_rate)', 'time.sleep(1.5)', 'self.wait(1)');
  const { jobId } = await drawing(service, { code });
  rmSync(work, { recursive: true });
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1, error: null });
});

t.test('renders continue when the work folder is removed and a renderer ends at the same time', async (t) => {
  const before = zygotesBelow(process.pid);
  rmSync(work, { recursive: true });
  for (const { pid } of before) process.kill(pid, 'SIGKILL');
  await ended(before);
  const { jobId } = await enqueue(service, {});
  void delay(LATEST_MS, undefined, { ref: false }).then(() => service.cancel(jobId).catch(() => {}));
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1, error: null });
});

t.test('a file at its path is detected within seconds, and jobs wait until it is removed', async (t) => {
  await until(true);
  renameSync(work, `${work}.away`);
  writeFileSync(work, '');
  await until(false, SECONDS_MS);
  const [problem] = service.status().problems;
  t.match(problem, {
    part: 'disk',
    message: /work in the data folder.*Jobs wait.*remove what is there.*log/s,
  });
  t.notMatch(problem?.message, folder, 'the message contains no path');
  const waiting = await enqueue(service, {});
  await delay(1_500);
  t.match(await service.get(waiting.jobId), { status: 'queued', attempts: 0 });
  rmSync(work);
  await until(true);
  t.match(await service.wait(waiting.jobId), { status: 'completed', attempts: 1 });
});

t.test('a work folder that another service uses is refused, and left alone', async (t) => {
  const root = testFolder(t);
  const workFolder = join(root, 'work');
  const first = await startService(t, { folder: join(root, 'first'), workFolder, workers: 1 });
  const second = startService(t, { folder: join(root, 'second'), workFolder, workers: 1 });
  await t.rejects(second, {
    code: 'storage_locked',
    message: `The work folder ${workFolder} is in use by another process`,
  });
  t.match(await render(first, {}), { status: 'completed', attempts: 1 });
  await first.stop();
  await startService(t, { folder: join(root, 'second'), workFolder, workers: 1 });
});
