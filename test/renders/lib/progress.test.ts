import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Job } from '../../../lib/index.ts';
import { enqueue, render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { inspectPicture } from '../../fixtures/video.ts';

const service = await startService(t, { workers: 1, previewIntervalMs: 200 });
const SLOW = scene(
  'square = Square(fill_opacity=1)',
  'square.add_updater(lambda square: time.sleep(0.02))',
  'self.play(square.animate.shift(RIGHT))',
);

t.test('a job event is emitted for each status', async (t) => {
  const seen: Job[] = [];
  const note = (job: Job) => seen.push(job);
  service.on('job', note);
  const job = await render(service, { className: 'OneFrame' });
  service.off('job', note);
  t.same(
    seen.map(({ jobId, status, attempts }) => [jobId, status, attempts]),
    [
      [job.jobId, 'queued', 0],
      [job.jobId, 'running', 1],
      [job.jobId, 'completed', 1],
    ],
  );
  t.same(seen.at(-1), job);
});

t.test('progress reports stage, frames and seconds, and never decreases', async (t) => {
  const seen: { jobId: string; stage: string; frames: number; seconds: number }[] = [];
  service.on('progress', (jobId, progress) => seen.push({ jobId, ...progress }));
  const { jobId } = await render(service, { code: SLOW });
  service.removeAllListeners('progress');
  t.ok(seen.every((progress) => progress.jobId === jobId));
  t.same([...new Set(seen.map(({ stage }) => stage))], ['loading', 'rendering', 'finishing']);
  const frames = seen.map(({ frames }) => frames);
  t.same(
    frames,
    frames.toSorted((a, b) => a - b),
  );
  t.ok(new Set(frames).size > 4, `frames seen: ${frames}`);
  for (const { frames, seconds } of seen) t.equal(seconds, frames / 15);
  t.match(seen.at(-1), { frames: 15, seconds: 1 });
});

t.test('progress() returns a value only while a job is rendered', async (t) => {
  const { jobId } = await enqueue(service, { code: SLOW });
  t.equal(service.progress(jobId), undefined);
  const asked = new Promise((resolve) => {
    service.on('progress', (_, progress) => {
      if (progress.frames > 3) resolve(service.progress(jobId));
    });
  });
  t.match(await asked, { stage: 'rendering', frames: Number });
  service.removeAllListeners('progress');
  await service.wait(jobId);
  t.equal(service.progress(jobId), undefined);
});

t.test('previews are small JPEGs at the configured interval', async (t) => {
  const previews: { jobId: string; jpeg: Uint8Array }[] = [];
  service.on('preview', (jobId, jpeg) => previews.push({ jobId, jpeg }));
  const job = await render(service, { code: SLOW });
  service.removeAllListeners('preview');
  t.ok(previews.every(({ jobId }) => jobId === job.jobId));
  const most = 2 + Math.floor((job.durationMs ?? 0) / 200);
  t.ok(previews.length >= 2 && previews.length <= most, `${previews.length} of at most ${most}`);
  const path = join(testFolder(t), 'preview.jpg');
  await writeFile(path, previews.at(-1)?.jpeg ?? '');
  const { codec, widthPx, lightest } = await inspectPicture(path);
  t.match({ codec, widthPx }, { codec: 'mjpeg', widthPx: 320 });
  t.ok(lightest > 200, 'the square is visible');
});
