import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Request, Told } from '../../fixtures/descriptors-program.ts';
import { processesBelow, signalTo } from '../../fixtures/processes.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until as pollUntil } from '../../fixtures/until.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/descriptors-program.ts');
const LIMIT = 200;

/** A service in a process with a low limit of open files. */
async function limitedService(t: Test) {
  const folder = testFolder(t);
  const limited = ['-c', `ulimit -n ${LIMIT} && exec "$@"`, 'sh', process.execPath, PROGRAM, folder];
  const child = spawn('/bin/sh', limited, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.teardown(() => child.kill('SIGKILL'));
  let told: Told | undefined;
  child.on('message', (message: Told) => {
    told = message;
  });
  const until = async (condition: (told: Told) => boolean): Promise<Told> => {
    while (!told || !condition(told)) await once(child, 'message');
    return told;
  };
  await until(({ warm }) => warm);
  const worker = (name: string) => ['w0', 'w1'].map((worker) => join(folder, 'work', worker, name));
  /** Resolves when a scene runs, whose channels are then open. */
  const sceneLingers = () => pollUntil(() => worker('lingers').some((path) => existsSync(path)));
  /** Ends scenes that linger. */
  const letScenesEnd = () => {
    for (const path of worker('go')) writeFileSync(path, '');
  };
  return {
    pid: child.pid as number,
    until,
    sceneLingers,
    letScenesEnd,
    ask: (request: Request) => void child.send(request),
  };
}

const areOver = ({ jobs }: Told, count: number) => {
  const all = Object.values(jobs);
  return all.length === count && all.every(({ status }) => status === 'completed' || status === 'failed');
};

t.test(
  'jobs enqueued without free descriptors are queued and complete later, with one attempt',
  async (t) => {
    const { until, ask } = await limitedService(t);
    ask({ useUpAllBut: 0 });
    const count = 5;
    for (let i = 0; i < count; i++) ask({ enqueue: 'x' });
    await until(({ problems, jobs }) => problems.includes('resources') && Object.keys(jobs).length === count);
    // Meanwhile it has been tried several times.
    const tries = ({ warnings }: Told) =>
      warnings.filter((warning) => warning.includes('is unavailable')).length;
    const later = await until((told) => tries(told) >= 4);
    for (const { error } of Object.values(later.jobs)) t.equal(error, null);

    ask('let go');
    const done = await until((told) => areOver(told, count));
    for (const job of Object.values(done.jobs))
      t.match(job, { status: 'completed', attempts: 1, error: null });
    t.same(done.problems, []);
  },
);

// A channel needs three descriptors, so it fails at a different step for each number.
for (const left of [0, 1, 2, 3]) {
  t.test(`a scene is not blamed if its render ends with ${left} free descriptors`, async (t) => {
    const { until, ask, sceneLingers, letScenesEnd } = await limitedService(t);
    ask({ enqueue: 'linger' });
    await until(({ jobs }) => Object.values(jobs).some(({ status }) => status === 'running'));
    await sceneLingers();
    ask({ useUpAllBut: left });
    letScenesEnd();
    await until(
      (told) => told.warnings.some((warning) => warning.includes('the job waits')) || areOver(told, 1),
    );
    ask('let go');
    const done = await until((told) => areOver(told, 1));
    t.match(Object.values(done.jobs), [{ status: 'completed', attempts: 1, error: null }]);
    t.same(done.errors, []);
  });
}

t.test(
  'a renderer that cannot be replaced for lack of descriptors crashes no thread and is replaced later',
  async (t) => {
    const { until, ask, pid } = await limitedService(t);
    ask({ useUpAllBut: 0 });
    await until(({ descriptors }) => descriptors === 'used up');
    signalTo(processesBelow(pid), 'SIGKILL');
    // Each of the two died, and its replacement could not be started.
    const ended = (warning: string) => warning.includes('ended or could not be started');
    await until(({ warnings }) => warnings.filter(ended).length >= 4);
    ask({ enqueue: 'x' });
    ask('let go');
    const done = await until((told) => areOver(told, 1));
    t.match(Object.values(done.jobs), [{ status: 'completed', attempts: 1, error: null }]);
    t.notOk(
      done.errors.some((error) => error.includes('thread')),
      'no thread crashed',
    );
  },
);
