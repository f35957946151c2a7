import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isShortage } from '../../../../lib/files/shortage.ts';
import { DEFAULT_LIMITS, jobLimits } from '../../../../lib/model/limits.ts';
import type { SceneFailure } from '../../../../lib/model/render-task.ts';
import type { JobReport, ListJob } from '../../../../lib/model/renderer-messages.ts';
import type { ForkCommand, JobEnded } from '../../../../lib/model/zygote-messages.ts';
import { Forks, type Occupied } from '../../../../lib/render/run/forks.ts';
import type { Processes } from '../../../../lib/render/start/processes.ts';
import type { Zygote } from '../../../../lib/render/start/zygote.ts';
import { failedReport } from '../../../fixtures/failed-report.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { LAUNCHER } from '../../../simulator/simulated-pool.ts';
import { SimulatedSockets } from '../../../simulator/simulated-sockets.ts';

const JOB: ListJob = {
  kind: 'list',
  code: '',
  isBytes: false,
  widthPx: 64,
  heightPx: 36,
  fps: 1,
  file: null,
  limits: jobLimits(DEFAULT_LIMITS),
};
const FAILED: JobReport = failedReport("RuntimeError: can't start new thread");
const LIMIT: SceneFailure = { error: 'a limit', failedBy: 'limit:memory' };
const SHORTAGE = 'no more processes';

/** Runs a fork that sends a report, or never connects, and ends. `files`: the folder in that of the test. */
function run(
  t: Test,
  report: JobReport | undefined,
  end: Partial<JobEnded>,
  { endReason, files }: { endReason?: 'canceled'; files?: string } = {},
) {
  const sockets = new SimulatedSockets();
  const workFolder = testFolder(t, { given: { 'data.csv': '1,2' } });
  const folder = join(workFolder, 'w0');
  const replaced: string[] = [];
  const commands: ForkCommand[] = [];
  const zygote = {
    run: async (command: ForkCommand): Promise<JobEnded> => {
      const { socket, job } = command;
      commands.push(command);
      if (report)
        sockets
          .connect(socket)
          ?.resume()
          .end(`${JSON.stringify(report)}\n`);
      const ended = {
        type: 'ended',
        job,
        exitCode: 0,
        signal: null,
        reason: null,
        memoryBytes: null,
      } as const;
      return { ...ended, problem: null, shortage: null, ...end };
    },
    killJob: () => {},
    replace: (reason: string) => replaced.push(reason),
  } as unknown as Zygote;
  const forks = new Forks(
    {
      index: 0,
      launcher: LAUNCHER,
      limits: DEFAULT_LIMITS,
      clock: new FakeClock('2026-11-21T10:00:00Z'),
      processes: { accept: (options) => sockets.accept(options) } as Processes,
    },
    folder,
  );
  const occupied: Occupied = { zygote, background: false, endReason };
  const outcome = forks.run(occupied, join(folder, '1'), JOB, () => {}, {
    files: files && join(workFolder, files),
  });
  const failure = outcome.then((outcome) => forks.failureOf(outcome, () => LIMIT, endReason, 5));
  return { failure, replaced, commands, folder };
}

t.test('a fork that fails while the machine is short of processes was interrupted', async (t) => {
  for (const report of [FAILED, { type: 'stage', stage: 'loading' } as const]) {
    const { failure, replaced } = run(t, report, { shortage: SHORTAGE, signal: 'SIGTRAP' });
    const error = await failure.catch((error: Error) => error);
    t.match(error, { name: 'JobInterrupted', message: SHORTAGE });
    t.ok(isShortage(error));
    t.same(replaced, [], 'its zygote can go on');
  }
});

t.test(
  'a fork that has succeeded, exceeded a limit or was stopped ends as if nothing was short',
  async (t) => {
    const shortage = SHORTAGE;
    const scenes: JobReport = { type: 'scenes', names: ['A'] };
    t.equal(await run(t, scenes, { shortage }).failure, undefined);
    const failed = { kind: 'failed', durationMs: 5 };
    t.match(await run(t, FAILED, { shortage, reason: 'disk' }).failure, { ...failed, error: 'a limit' });
    t.match(await run(t, FAILED, { shortage }, { endReason: 'canceled' }).failure, failed);
    t.match(await run(t, FAILED, {}).failure, failed);
  },
);

t.test('a zygote that can fork no job is replaced, unless the machine is short of processes', async (t) => {
  const problem = 'a job could not be forked';
  const short = run(t, undefined, { problem, shortage: SHORTAGE });
  const error = await short.failure.catch((error: Error) => error);
  t.match(error, { name: 'JobNotRead', message: problem });
  t.ok(isShortage(error));
  t.same(short.replaced, []);
  const broken = run(t, undefined, { problem });
  await t.rejects(broken.failure, { name: 'JobNotRead', message: problem });
  t.same(broken.replaced, [problem]);
});

t.test('a fork is told of links to the files of its job, in the folder of its worker', async (t) => {
  const scenes: JobReport = { type: 'scenes', names: ['A'] };
  const { failure, commands, folder } = run(t, scenes, {}, { files: 'given' });
  t.equal(await failure, undefined);
  t.same(commands[0]?.filesFolder, join(folder, '1.files'));
  t.equal(readFileSync(join(folder, '1.files/data.csv'), 'utf8'), '1,2');
  const without = run(t, scenes, {});
  await without.failure;
  t.equal(without.commands[0]?.filesFolder, null);
});

t.test('a job whose files are gone is not read', async (t) => {
  const { failure, commands } = run(t, FAILED, {}, { files: 'gone' });
  await t.rejects(failure, { name: 'JobNotRead', cause: { code: 'ENOENT' } });
  t.same(commands, []);
});
