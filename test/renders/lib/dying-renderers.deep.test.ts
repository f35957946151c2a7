import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import {
  encodersBelow,
  ended,
  jobsBelow,
  type Process,
  processesBelow,
  signalTo,
  zygotesBelow,
} from '../../fixtures/processes.ts';
import { drawing, ENDLESS, enqueue, render, startService, WITH_A_CHILD } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const threads: Worker[] = [];
process.on('worker', (thread) => thread.threadName !== 'database' && threads.push(thread));

const folder = testFolder(t);
const service = await startService(t, { folder, workers: 1, renderer: { silenceTimeoutMs: 1500 } });
/** Without namespaces a scene could have ended these processes itself, so an attempt counts. */
const isReduced = service.status().sandbox?.level === 'reduced';
const mostKills = isReduced ? 1 : 2;
const attempts = isReduced ? 2 : 1;

const victims = ['zygote', 'watch', ...(isReduced ? [] : ['init'])] as ('zygote' | 'watch' | 'init')[];
for (const victim of victims) {
  t.test(`a job whose ${victim} is killed is completed in the permitted number of attempts`, async (t) => {
    let kills = 0;
    service.on('progress', (_, { frames }) => {
      if (frames === 0 || kills === mostKills) return;
      kills += 1;
      if (victim === 'zygote') killZygotes('SIGKILL');
      else killOfJob(victim);
    });
    const job = await render(service, { code: WITH_A_CHILD });
    service.removeAllListeners('progress');
    t.match(job, { status: 'completed', attempts, error: null });
    t.equal(kills, mostKills);
  });
}

t.test('a scene that is killed is rendered again, once', async (t) => {
  let kills = 0;
  const kill = () => {
    kills += 1;
    killOfJob('job');
  };
  service.on('progress', (_, { frames }) => frames > 0 && kills === 0 && kill());
  t.match(await render(service, { code: WITH_A_CHILD }), { status: 'completed', attempts: 2, error: null });
  service.removeAllListeners('progress');
  service.on('progress', (_, { frames }) => frames > 0 && kill());
  t.match(await render(service, { code: ENDLESS }), {
    status: 'failed',
    attempts: 2,

    creditsCost: 0,
    error: "The scene's process was ended by SIGKILL before the render was finished.",
  });
  service.removeAllListeners('progress');
  t.equal(service.status().ready, true, 'other jobs are rendered');
});

t.test('a renderer killed between two jobs is replaced before the next', async (t) => {
  await render(service, { className: 'OneFrame' });
  const before = zygotesAndScenes();
  killZygotes('SIGKILL');
  await ended(before);
  while (zygotesBelow(process.pid).length === 0) await delay(20);
  t.match(await render(service, {}), { status: 'completed', attempts: 1 });
});

t.test('a hanging renderer is replaced, and its job rendered again', async (t) => {
  const { jobId } = await drawing(service, { code: WITH_A_CHILD });
  const before = zygotesAndScenes();
  killZygotes('SIGSTOP');
  t.match(await service.wait(jobId), { status: 'completed', attempts, error: null });
  await ended(before);
});

t.test('a job can be canceled while its renderer hangs', async (t) => {
  const { jobId } = await drawing(service, { code: ENDLESS });
  const before = zygotesAndScenes();
  killZygotes('SIGSTOP');
  t.match(await service.cancel(jobId), { status: 'failed', error: 'Canceled', attempts: 1 });
  await ended(before);
});

t.test('an encoder killed between two jobs is replaced before the next', async (t) => {
  const before = encodersBelow(process.pid);
  t.not(before.length, 0);
  killEncoders();
  await ended(before);
  t.match(await render(service, {}), { status: 'completed', attempts: 1, error: null });
});

t.test('a job whose encoder is killed is completed in the permitted number of attempts', async (t) => {
  let kills = 0;
  service.on('progress', (_, { frames }) => {
    if (frames > 0 && kills++ === 0) killEncoders();
  });
  const job = await render(service, { code: WITH_A_CHILD });
  service.removeAllListeners('progress');
  t.not(kills, 0);
  t.match(job, { status: 'completed', attempts, error: null });
});

t.test('a crashed worker thread is replaced, and its job rendered without counting an attempt', async (t) => {
  const { jobId } = await drawing(service, { code: WITH_A_CHILD });
  const before = processesBelow(process.pid);
  const crashed = threads.at(-1);
  await crashed?.terminate();
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1, error: null });
  t.not(threads.at(-1), crashed, 'there is a new thread');
  await ended(before);
});

t.test('queued jobs wait for the new renderer and are completed', async (t) => {
  const first = await drawing(service, { code: WITH_A_CHILD });
  const others = await Promise.all([enqueue(service, {}), enqueue(service, { aspectRatio: '9:16' })]);
  killZygotes('SIGKILL');
  for (const { jobId } of others) t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  t.match(await service.wait(first.jobId), { status: 'completed', attempts });
});

t.test('a stop leaves no processes and no files of interrupted attempts', async (t) => {
  const completed = await service.list({ status: 'completed' });
  const before = processesBelow(process.pid);
  await service.stop();
  await ended(before, 0);
  t.notOk((await readdir(folder)).includes('work'), 'no work folder');
  t.equal((await readdir(join(folder, 'artifacts'))).length, completed.length, 'no other artifacts');
});

/** All renderer processes except encoders, which are not affected. */
function zygotesAndScenes(): Process[] {
  const encoders = encodersBelow(process.pid).map(({ pid }) => pid);
  return processesBelow(process.pid).filter(({ pid }) => !encoders.includes(pid));
}

/** Kills a process of the running scene. */
function killOfJob(name: 'watch' | 'init' | 'job'): void {
  const jobs = jobsBelow(process.pid);
  const watch = jobs.find((process) => process.name === 'watch');
  signalTo(
    jobs.filter((one) => one.name === name && (one.pid === watch?.pid || one.parent === watch?.pid)),
    'SIGKILL',
  );
}

function killEncoders(): void {
  signalTo(encodersBelow(process.pid), 'SIGKILL');
}

function killZygotes(signal: NodeJS.Signals): void {
  signalTo(zygotesBelow(process.pid), signal);
}
