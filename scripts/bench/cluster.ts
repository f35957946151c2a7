import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  enqueueInBoss,
  fillBoss,
  fillOurs,
  HELD,
  MOST_FREQUENT_CHECKS,
  type Ours,
  openBoss,
  openOurs,
  RENDERS,
} from './cluster-queues.ts';
import { installPeerPackages, type PgBossInstance } from './peer-packages.ts';
import { startPeerServer } from './peers.ts';
import { cpuMsOf } from './postgres-cpu.ts';

const WORKER = join(import.meta.dirname, 'cluster-worker.ts');
const WORKERS = [1, 2, 4, 8];
const OWNERS = 10;
const ENQUEUED_AT_ONCE = 8;
/** Jobs per worker process that are not measured: then its code is compiled, and its statements are planned. */
const WARM_UP = 300;
const CLAIMS = 1_000;
const ROUNDS_OF_SMALL = 20;
/** As in the service: between looks for leases that have expired. */
const SWEEP_MS = 4_000;

interface How {
  jobs: number;
  slots: number;
  rounds: number;
}

/**
 * Measures the queue of several processes in Postgres, with credits and durable commits, beside bare pg-boss in the same
 * server: throughput, its growth with the number of worker processes, and what many waiting jobs of one account do.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      jobs: { type: 'string', default: '2000' },
      slots: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      waiting: { type: 'string', default: '100000' },
      only: { type: 'string' },
    },
  });
  const how = { jobs: Number(values.jobs), slots: Number(values.slots), rounds: Number(values.rounds) };
  const server = await startPeerServer('pg-boss');
  if (typeof server === 'string') return console.log(server);
  try {
    installPeerPackages();
    const ours = await openOurs(server.place);
    const boss = await openBoss(server.place);
    const is = (part: string) => values.only === undefined || values.only === part;
    if (is('throughput')) await benchThroughput(server.place, ours, boss, how);
    if (is('growth')) await benchGrowth(server.place, ours, how);
    if (is('deaths')) await benchDeaths(server.place, ours, boss);
    if (is('waiting')) await benchWaiting(ours, boss, Number(values.waiting));
    await Promise.all([ours.storage.stop(), boss.stop({ graceful: false })]);
  } finally {
    await server.stop();
  }
}

/** No-op renders, in turns with pg-boss. */
async function benchThroughput(place: string, ours: Ours, boss: PgBossInstance, how: How): Promise<void> {
  console.log(
    `${how.jobs} no-op renders of ${OWNERS} accounts, ${how.slots} slots per worker process, which has done`,
  );
  console.log(
    `${WARM_UP} before; medians of ${how.rounds} rounds. CPU: of Postgres, per job. Through: enqueued and ended.\n`,
  );
  console.log(row('', 'enqueue/s', 'CPU ms', ...WORKERS.map((n) => `end/s, ${n}`), 'CPU ms', 'through/s'));
  const enqueue = {
    ours: (owner: string) => ours.enqueue(owner),
    'pg-boss': (owner: string) => enqueueInBoss(boss, owner),
  };
  const kinds = ['ours', 'pg-boss'] as const;
  const figures = { ours: [] as number[][], 'pg-boss': [] as number[][] };
  for (let round = 0; round < how.rounds; round++) {
    for (const kind of kinds) {
      const of: number[] = [];
      const ended: number[] = [];
      for (const workers of WORKERS) {
        const queue = { place, enqueue: enqueue[kind] };
        const { filled, drained } = await filledAndDrained(kind, queue, { ...how, workers, renderMs: 0 });
        if (workers === 1) of.push(filled.perSecond, filled.cpuMs);
        ended.push(drained.perSecond);
        of.push(drained.perSecond);
        if (workers === WORKERS.at(-1)) of.push(drained.cpuMs);
      }
      const [enqueued = Number.NaN] = of;
      of.push(1 / (1 / enqueued + 1 / Math.max(...ended)));
      figures[kind].push(of);
    }
  }
  const medians = kinds.map((kind) => columns(figures[kind]).map(median));
  for (const [i, kind] of kinds.entries()) console.log(row(kind, ...(medians[i] ?? []).map(figure)));
  const ratios = columns(figures.ours).map((ours, column) =>
    median(ours.map((one, round) => one / (figures['pg-boss'][round]?.[column] ?? Number.NaN))),
  );
  console.log(`${row('ratio', ...ratios.map((ratio) => ratio.toFixed(2)))}\n`);
}

/** Renders that only take time: the workers are the limit until Postgres, or the processors, are. */
async function benchGrowth(place: string, ours: Ours, how: How): Promise<void> {
  console.log(
    'Renders that wait for some time. Share: of the ideal rate. Cores: those that Postgres keeps busy.\n',
  );
  console.log(row('render', 'workers', 'jobs/s', 'share', 'to linear', 'cores'));
  for (const renderMs of [500, 100]) {
    let first = Number.NaN;
    for (const workers of WORKERS) {
      const ideal = (workers * how.slots * 1000) / renderMs;
      const jobs = Math.round(Math.min(ideal * 8, 2 * how.jobs));
      const queue = { place, enqueue: (owner: string) => ours.enqueue(owner) };
      const { drained } = await filledAndDrained('ours', queue, {
        jobs,
        slots: how.slots,
        workers,
        renderMs,
      });
      const { perSecond, cores } = drained;
      if (workers === 1) first = perSecond;
      const [share, toLinear] = [perSecond / ideal, perSecond / (first * workers)];
      const cells = [workers, perSecond.toFixed(0), share.toFixed(2), toLinear.toFixed(2), cores.toFixed(2)];
      console.log(row(`${renderMs} ms`, ...cells.map(String)));
    }
  }
  console.log();
}

/** How long a job of a worker that was killed waits for another. */
async function benchDeaths(place: string, ours: Ours, boss: PgBossInstance): Promise<void> {
  console.log(
    'Seconds until a job of a killed worker is taken up; pg-boss: heartbeats and checks at their most frequent\n',
  );
  const seconds = async (kind: 'hold' | 'hold-pg-boss', takenUp: () => Promise<unknown>) => {
    const child = fork(WORKER, [kind, place], { execArgv: [] });
    await once(child, 'message');
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    const begunMs = performance.now();
    await takenUp();
    return ((performance.now() - begunMs) / 1000).toFixed(1);
  };
  await ours.enqueue('held');
  const own = await seconds('hold', async () => {
    for (let sweptMs = 0; ; await delay(100)) {
      if (performance.now() - sweptMs > SWEEP_MS) {
        sweptMs = performance.now();
        await ours.book.claims.putBackLapsed();
      }
      const [end] = await ours.queue.take(() => 1);
      if (end) return end();
    }
  });
  console.log(row('ours', own));
  await boss.stop({ graceful: false });
  const watching = await openBoss(place, MOST_FREQUENT_CHECKS);
  await watching.send(HELD, {});
  const theirs = await seconds('hold-pg-boss', async () => {
    for (;;) {
      const [job] = await watching.fetch(HELD, {});
      if (job) return watching.complete(HELD, job.id);
      await delay(100);
    }
  });
  console.log(`${row('pg-boss', theirs)}\n`);
  await watching.stop({ graceful: false });
  await boss.start();
}

/** Many waiting jobs of one account, and one of a small account from time to time. */
async function benchWaiting(ours: Ours, boss: PgBossInstance, waiting: number): Promise<void> {
  console.log(
    `${waiting} waiting jobs of one account. Before: its jobs claimed before one of another account, at most.`,
  );
  console.log(
    'Beside: the share of its jobs in 200 claims beside an account that always has one waiting; 0.5 is fair.\n',
  );
  console.log(row('', 'p50 ms', 'p99 ms', 'before', 'beside'));
  await fillOurs(ours, 'big', waiting);
  const own = async () => (await ours.queue.owners(1))[0] ?? '';
  console.log(row('ours', ...(await waitingFigures(own, () => ours.enqueue('small')))));
  await fillBoss(boss, 'big', waiting);
  const add = (priority: number) =>
    boss.send(RENDERS, { owner: 'small' }, { priority, group: { id: 'small' } });
  const fetch = async (options: object = {}) => {
    const [job] = await boss.fetch<{ owner: string }>(RENDERS, options);
    return job?.data.owner ?? '';
  };
  console.log(row('pg-boss, priority', ...(await waitingFigures(fetch, () => add(-1)))));
  const capped = () => fetch({ groupConcurrency: 4 });
  const times: number[] = [];
  for (let i = 0; i < ROUNDS_OF_SMALL; i++) {
    await add(-1_000_000);
    times.push(await timeOf(capped));
  }
  console.log(
    row('pg-boss, its group at a cap', ...[median(times), Math.max(...times)].map((ms) => ms.toFixed(1))),
  );
}

async function waitingFigures(
  claim: () => Promise<string>,
  addSmall: () => Promise<unknown>,
): Promise<string[]> {
  const times: number[] = [];
  for (let i = 0; i < CLAIMS; i++) times.push(await timeOf(claim));
  times.sort((a, b) => a - b);
  let before = 0;
  for (let round = 0; round < ROUNDS_OF_SMALL; round++) {
    await addSmall();
    let bigs = 0;
    while ((await claim()) !== 'small') bigs += 1;
    before = Math.max(before, bigs);
  }
  let beside = 0;
  await addSmall();
  for (let i = 0; i < 200; i++) {
    if ((await claim()) === 'small') await addSmall();
    else beside += 1;
  }
  const at = (share: number) => (times[Math.floor(share * times.length)] ?? Number.NaN).toFixed(1);
  return [at(0.5), at(0.99), String(before), (beside / 200).toFixed(2)];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

async function enqueueAll(jobs: number, enqueue: (owner: string) => Promise<unknown>): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < jobs) await enqueue(`owner-${next++ % OWNERS}`);
  };
  await Promise.all(Array.from({ length: ENQUEUED_AT_ONCE }, client));
}

interface Load {
  jobs: number;
  slots: number;
  workers: number;
  renderMs: number;
}

/** Measures the enqueue of jobs, and then how worker processes do them. */
async function filledAndDrained(
  kind: 'ours' | 'pg-boss',
  { place, enqueue }: { place: string; enqueue: (owner: string) => Promise<unknown> },
  { jobs, slots, workers, renderMs }: Load,
): Promise<{ filled: Measured; drained: Measured }> {
  const children: ChildProcess[] = [];
  for (let i = 0; i < workers; i++) {
    children.push(fork(WORKER, [kind, place, String(slots), String(renderMs)], { execArgv: [] }));
  }
  await Promise.all(children.map((child) => once(child, 'message')));
  const warmUp = renderMs > 0 ? 0 : WARM_UP * workers;
  await enqueueAll(warmUp, enqueue);
  await drainAll(children, warmUp);
  const filled = await measured(place, jobs, () => enqueueAll(jobs, enqueue));
  const drained = await measured(place, jobs, () => drainAll(children, jobs));
  await Promise.all(
    children.map((child) => {
      const exit = once(child, 'exit');
      child.disconnect();
      return exit;
    }),
  );
  return { filled, drained };
}

async function drainAll(children: ChildProcess[], jobs: number): Promise<void> {
  const answers = children.map((child) => once(child, 'message') as Promise<[number]>);
  for (const child of children) child.send('go');
  const done = (await Promise.all(answers)).reduce((sum, [count]) => sum + count, 0);
  if (done !== jobs) throw new Error(`${done} of ${jobs} jobs were done`);
}

interface Measured {
  perSecond: number;
  /** CPU time of Postgres per job. */
  cpuMs: number;
  /** Processor cores that Postgres kept busy. */
  cores: number;
}

async function measured(place: string, jobs: number, work: () => Promise<void>): Promise<Measured> {
  const before = cpuMsOf(place);
  const tookMs = await timeOf(work);
  const cpuMs = cpuMsOf(place) - before;
  return { perSecond: (1000 * jobs) / tookMs, cpuMs: cpuMs / jobs, cores: cpuMs / tookMs };
}

function columns(rows: number[][]): number[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? Number.NaN));
}

function median(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1] as number;
}

function figure(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

function row(...cells: string[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(28) : cell.padStart(11)))
    .join('')
    .trimEnd();
}
