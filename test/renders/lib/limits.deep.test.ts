import t from 'tap';
import { jobsBelow, processesNamed } from '../../fixtures/processes.ts';
import { afterOneFrame, render, scene, startService } from '../../fixtures/renders.ts';
import { until } from '../../fixtures/until.ts';

const MIB = 1024 * 1024;
const service = await startService(t, {
  workers: 1,
  limits: { memoryBytes: 600 * MIB, frames: 40, outputBytes: MIB / 16 },
});

t.test('the memory limit applies to all processes of a scene together', async (t) => {
  const code = scene(
    'for _ in range(4):',
    '    if os.fork() == 0:',
    `        much = bytearray(os.urandom(1) * ${200 * MIB})`,
    '        time.sleep(3600)',
    'time.sleep(3600)',
  );
  const job = await render(service, { code });
  t.match(job, {
    status: 'failed',
    failedBy: 'limit:memory',
    error: 'The scene used more memory than the limit of 600 MiB.',
  });
  await until(() => jobsBelow(process.pid).length === 0);
});

t.test('memory shared with the zygote and only read is not counted', async (t) => {
  const code = afterOneFrame(
    'for _ in range(8):',
    '    os.fork() or os._exit(time.sleep(1) or 0)',
    'time.sleep(0.8)',
  );
  t.match(await render(service, { code }), { status: 'completed', error: null });
});

t.test('a render over the frame limit is ended', async (t) => {
  const code = scene('for _ in range(100):', '    self.play(Create(Square()))');
  const job = await render(service, { code });
  t.match(job, {
    status: 'failed',
    failedBy: 'limit:frames',
    error: /longer than the limit of 40 frames\.\nline 7: self\.play\(Create\(Square\(\)\)\)$/,
  });
});

t.test('a render over the size limit is ended', async (t) => {
  const code = scene(
    'for _ in range(30):',
    '    self.clear()',
    '    places = np.random.uniform((-7, -4, 0), (7, 4, 0), (100, 3))',
    '    self.add(*(Square(0.5, color=random_color(), fill_opacity=1).move_to(place) for place in places))',
    '    self.wait(1 / config.frame_rate)',
  );
  const job = await render(service, { code });
  t.match(job, {
    status: 'failed',
    failedBy: 'limit:output',
    error: /^The video is larger than the limit of /,
  });
});

t.test('a render over a limit of its files is ended', async (t) => {
  const service = await startService(t, { workers: 1, limits: { diskBytes: 8 * MIB, files: 200 } });
  const large = scene(
    'for n in range(4):',
    `    open(str(n), 'wb').write(bytes(${4 * MIB}))`,
    'time.sleep(60)',
  );
  t.match(await render(service, { code: large }), { status: 'failed', failedBy: 'limit:disk' });
  const many = scene('for n in range(400):', "    open(str(n), 'wb')", 'time.sleep(60)');
  t.match(await render(service, { code: many }), { status: 'failed', failedBy: 'limit:files' });
});

t.test('the next scene is rendered', async (t) => {
  t.match(await render(service, {}), { status: 'completed', attempts: 1 });
});

t.test('a render over the time limit is ended with all its processes', async (t) => {
  const service = await startService(t, { workers: 1, limits: { timeoutMs: 8000 } });
  const code = scene("subprocess.Popen(['sleep', '1234567.1'])", 'while True:', '    pass');
  const job = await render(service, { code });
  t.match(job, {
    status: 'failed',
    failedBy: 'limit:time',
    error: /^The render took longer than the limit of 8 seconds\. For the last/,
  });
  t.ok(job.durationMs && job.durationMs >= 8000 && job.durationMs < 16_000, `${job.durationMs} ms`);
  t.same(processesNamed('sleep 1234567.1'), []);
});
