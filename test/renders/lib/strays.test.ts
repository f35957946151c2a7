import t from 'tap';
import { processesNamed } from '../../fixtures/processes.ts';
import {
  afterOneFrame,
  cancelToTheEnd,
  drawing,
  render,
  scene,
  startService,
} from '../../fixtures/renders.ts';

const service = await startService(t, { workers: 1 });

/** A grandchild of the scene in its own session, which ignores signals and has closed its descriptors. */
function daemon(seconds: string): string[] {
  return [
    'asleep, awake = os.pipe()',
    'if os.fork() == 0:',
    '    os.setsid()',
    '    if os.fork():',
    '        os._exit(0)',
    '    os.closerange(0, awake)',
    '    os.closerange(awake + 1, 256)',
    '    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):',
    '        signal.signal(number, signal.SIG_IGN)',
    `    os.execvp('sleep', ['sleep', '${seconds}'])`,
    'os.close(awake)',
    'os.wait()',
  ];
}

/** Waits until the daemon has called exec, which closes the pipe, then draws a frame. */
const UNTIL_IT_SLEEPS = ['os.read(asleep, 1)', 'self.wait(1 / config.frame_rate)'];

for (const [name, seconds, ending] of [
  ['is complete', '7654321.1', ['time.sleep(0.5)']],
  ['fails', '7654321.2', ['time.sleep(0.5)', '1 / 0']],
  ['exits', '7654321.3', ['time.sleep(0.5)', 'os._exit(3)']],
] as const) {
  t.test(`a daemon left by a scene is dead when the scene ${name}`, async (t) => {
    const { jobId } = await drawing(service, {
      code: scene(...daemon(seconds), ...UNTIL_IT_SLEEPS, ...ending),
    });
    t.equal(processesNamed(`sleep ${seconds}`).length, 1, 'the daemon is running');
    const job = await service.wait(jobId);
    t.ok(job.completedAt);
    t.same(processesNamed(`sleep ${seconds}`), []);
  });
}

t.test('a daemon left by a scene is dead when its job is canceled', async (t) => {
  const code = scene(...daemon('7654321.4'), ...UNTIL_IT_SLEEPS, 'time.sleep(3600)');
  const { jobId } = await drawing(service, { code });
  t.equal(processesNamed('sleep 7654321.4').length, 1, 'the daemon is running');
  await cancelToTheEnd(service, jobId);
  t.same(processesNamed('sleep 7654321.4'), []);
});

t.test('a scene that forks and returns in both processes is rendered once', async (t) => {
  const job = await render(service, { code: afterOneFrame('os.fork()') });
  t.match(job, { status: 'completed', attempts: 1 });
});
