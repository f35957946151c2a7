import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import t from 'tap';
import type { Job } from '../../../lib/index.ts';
import { RENDER_WORK } from '../../../lib/model/work-times.ts';
import { artifactPath, BODY_LINE, render, SCENES, scene, sharedService } from '../../fixtures/renders.ts';
import { inspectPicture, inspectVideo } from '../../fixtures/video.ts';

const service = await sharedService();
/** The hash of a job's video. */
const videoOf = async (job: Job) =>
  hash('sha256', await readFile(await artifactPath(service, job, 'video.mp4')));
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('a seed makes random numbers repeat', async (t) => {
  const code = scene(
    'import random',
    'self.add(Dot(random.random() * 3 * RIGHT + np.random.random() * 2 * UP))',
    'self.wait(0.2)',
  );
  const labels = { code, title: 'A dot', tags: ['random'], seed: 5 };
  const [first, second, other, none] = [
    await render(service, labels),
    await render(service, labels),
    await render(service, { code, seed: 6 }),
    await render(service, { code }),
  ];
  t.match(first, { status: 'completed', title: 'A dot', tags: ['random'], seed: 5 });
  t.equal(await videoOf(first), await videoOf(second));
  t.equal(new Set([await videoOf(first), await videoOf(other), await videoOf(none)]).size, 3);
  const again = await service.wait((await service.renderAgain(first.jobId)).jobId);
  t.match(again, { title: 'A dot', tags: ['random'], seed: 5 });
  t.equal(await videoOf(again), await videoOf(first));
  await service.forget(again.jobId);
  t.match(await service.get(again.jobId), { title: null, tags: [], seed: null });
});

t.test('a completed job has its request, times and artifacts', async (t) => {
  const before = Date.now();
  const job = await render(service, { owner: 'ada' });
  const { durationMs, createdAt, startedAt, completedAt, artifacts, usage, ...rest } = job;
  t.same(rest, {
    jobId: job.jobId,
    owner: 'ada',
    status: 'completed',
    className: 'Growing',
    quality: 'low',
    aspectRatio: '16:9',
    fps: 15,
    title: null,
    tags: [],
    seed: null,
    params: null,
    audio: null,
    starred: false,
    project: null,
    formats: ['mp4'],
    fromPlay: null,
    toPlay: null,
    poster: null,
    stills: [],
    metadata: null,
    metadataJson: null,
    webhookUrl: null,
    creditsCost: 0,
    error: null,
    diagnosis: null,
    failedBy: null,
    attempts: 1,
  });
  t.match(usage?.stagesMs, { loading: Number, rendering: Number, finishing: Number });
  const { workMs } = usage ?? {};
  t.same(Object.keys(workMs ?? {}), RENDER_WORK);
  const sumMs = Object.values(workMs ?? {}).reduce((sum, ms) => sum + ms, 0);
  t.ok(
    Math.abs(sumMs - (durationMs ?? 0)) < 10,
    `the times by kind of work, ${sumMs} ms, are the whole render`,
  );
  t.match(createdAt, ISO_TIME);
  t.match(startedAt, ISO_TIME);
  t.match(completedAt, ISO_TIME);
  t.ok(Date.parse(createdAt) >= before && Date.parse(`${completedAt}`) <= Date.now());
  t.ok(
    durationMs && durationMs > 0 && durationMs <= Date.parse(`${completedAt}`) - Date.parse(createdAt) + 1,
  );
  t.same(
    artifacts.map(({ name }) => name),
    ['video.mp4', 'thumbnail.jpg'],
  );
  for (const { name, sizeBytes } of artifacts)
    t.equal((await stat(await artifactPath(service, job, name))).size, sizeBytes, name);
  t.same(await service.get(job.jobId), job, 'get returns the same job');
  t.match(await service.plays(job.jobId), [
    { line: Number, shows: 'GrowFromCenter(Circle)', startSeconds: 0, seconds: 1 },
  ]);
  await t.rejects(service.plays(job.jobId, { owner: 'bob' }), { code: 'not_found' });
  await service.forget(job.jobId);
  t.same(await service.plays(job.jobId), []);
});

t.test('what a scene prints is kept, also when it fails, until the job is forgotten', async (t) => {
  const printing = scene('print("x =", 7)', 'import warnings; warnings.warn("careful")', 'self.wait(0.1)');
  const job = await render(service, { owner: 'ada', code: printing });
  t.equal(await service.output(job.jobId), `x = 7\nscene.py:${BODY_LINE + 1}: UserWarning: careful\n`);
  await t.rejects(service.output(job.jobId, { owner: 'bob' }), { code: 'not_found' });
  await service.forget(job.jobId);
  t.equal(await service.output(job.jobId), '');

  const failing = scene('def inner():', '    print("inside")', '    self.play()', 'inner()');
  const failed = await render(service, { code: failing });
  t.equal(await service.output(failed.jobId), 'inside\n');
  t.match(
    failed.error,
    /\nline 8: self\.play\(\)\n {2}scene\.py:9 in construct: inner\(\)\n {2}scene\.py:8 in inner: /,
  );
});

t.test('the plays of a scene are limited to the first 1,000', async (t) => {
  const job = await render(service, {
    code: scene('for _ in range(1100): self.wait(1 / config.frame_rate)'),
  });
  const plays = await service.plays(job.jobId);
  t.equal(plays.length, 1000);
  t.match(plays[999], { line: BODY_LINE, shows: 'wait', startSeconds: 66.6, seconds: 1 / 15 });
});

t.test('the default quality is medium', async (t) => {
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'OneFrame', code: SCENES });
  t.match(await service.wait(jobId), { status: 'completed', quality: 'medium', fps: 30 });
});

t.test('the thumbnail is a JPEG of the most interesting moment', async (t) => {
  const job = await render(service, { className: 'LateLight', quality: 'medium' });
  const thumbnail = await artifactPath(service, job, 'thumbnail.jpg');
  const { codec, widthPx, heightPx, darkest, lightest } = await inspectPicture(thumbnail);
  t.match({ codec, widthPx, heightPx }, { codec: 'mjpeg', widthPx: 640, heightPx: 360 });
  t.ok(darkest < 20 && lightest > 200, `from ${darkest} to ${lightest}`);
});

t.test('captions are WebVTT with their times and escaped markup', async (t) => {
  const job = await render(service, { className: 'Captioned' });
  t.match(job, { status: 'completed', error: null });
  t.equal(
    await readFile(await artifactPath(service, job, 'captions.vtt'), 'utf8'),
    `WEBVTT

00:00:00.000 --> 00:00:01.000
First &amp; &lt;foremost&gt;

00:00:01.000 --> 00:00:01.500
A circle
of radius --&gt; 1
`,
  );
});

t.test('a scene without captions has no captions artifact', async (t) => {
  const job = await render(service, {});
  await t.rejects(service.openArtifact(job.jobId, 'captions.vtt'), { code: 'not_found' });
});

t.test("a sound file written by the scene becomes the video's audio", async (t) => {
  const job = await render(service, { className: 'Sounding' });
  t.match(job, { status: 'completed', error: null });
  const { audio, frames } = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
  t.equal(frames, 15);
  t.equal(audio?.codec, 'aac');
  t.ok(audio && Math.abs(audio.seconds - 1) < 0.1, `${audio?.seconds} s`);
});

t.test('a range of an artifact can be read', async (t) => {
  const job = await render(service, {});
  const whole = await readFile(await artifactPath(service, job, 'video.mp4'));
  const { stream, sizeBytes } = await service.openArtifact(job.jobId, 'video.mp4', {
    range: { start: 4, end: 7 },
  });
  t.equal(Buffer.concat(await stream.toArray()).toString(), 'ftyp');
  t.equal(sizeBytes, whole.length);
});

t.test('a scene renders in portrait and in landscape', async (t) => {
  const [wide, tall] = [await render(service, {}), await render(service, { aspectRatio: '9:16' })];
  t.match(wide, { status: 'completed', attempts: 1 });
  t.match(tall, { status: 'completed', attempts: 1, fps: wide.fps });
});

t.test('files, modules and environment variables of a scene are not visible to the next', async (t) => {
  const leave = scene(
    "open('left.txt', 'w').write('x')",
    "open(os.path.join(os.environ['TMPDIR'], 'left.txt'), 'w').write('x')",
    "open('/tmp/left.txt', 'w').write('x') if os.access('/tmp', os.W_OK) else None",
    "os.environ['LEFT'] = 'x'",
    "sys.modules['left'] = sys",
    'config.background_color = RED',
  );
  const look = scene(
    "assert not os.path.exists('left.txt')",
    "assert not os.path.exists(os.path.join(os.environ['TMPDIR'], 'left.txt'))",
    "assert 'LEFT' not in os.environ",
    "assert 'left' not in sys.modules",
    'assert config.background_color == BLACK',
  );
  t.match(await render(service, { code: leave }), { status: 'completed', error: null });
  t.match(await render(service, { code: look }), { status: 'completed', error: null });
});

t.test('two renders of one scene draw different random numbers', async (t) => {
  const code = scene(
    'import random',
    'self.add_subcaption(f"{random.random()} {np.random.random()}", duration=1)',
    'self.wait(1)',
  );
  const texts = [await render(service, { code }), await render(service, { code })].map(async (job) =>
    readFile(await artifactPath(service, job, 'captions.vtt'), 'utf8'),
  );
  const [first, second] = await Promise.all(texts);
  t.not(first, second);
});

for (const json of [
  'null',
  'true',
  '1.0',
  '12345678901234567890',
  '1e400',
  '"text with \\u0000 and \\ud800"',
  '[1, [2,\n [3]], {}]',
  '{"a": 1, "a": 2, "__proto__": {"x": null}}',
  '['.repeat(5000) + ']'.repeat(5000),
]) {
  t.test(`metadata given as JSON text is returned unchanged: ${json.slice(0, 40)}`, async (t) => {
    const job = await render(service, { className: 'Still', fps: 1, metadataJson: json });
    t.equal(job.metadataJson, json);
    t.equal((await service.get(job.jobId)).metadataJson, json);
  });
}

t.test('metadata given as a value is returned as JSON', async (t) => {
  const metadata = { project: 7, tags: ['a', null], nested: { yes: true } };
  const job = await render(service, { className: 'Still', fps: 1, metadata });
  t.equal(job.metadataJson, JSON.stringify(metadata));
});
