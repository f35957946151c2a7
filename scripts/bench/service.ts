import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compiled } from './compiled.ts';
import { type LoadReport, type LoadRequest, load } from './load.ts';
import { installPeerPackages } from './peer-packages.ts';
import { type PeerKind, startPeerServer } from './peers.ts';
import type { Cpu, Memory, Question } from './service-server.ts';
import { fill, renderRequest } from './stored-jobs.ts';

const PYTHON = join(import.meta.dirname, '../../.venv/bin/python');

interface How {
  connections: number;
  seconds: number;
  rounds: number;
}

const LOOK_MS = 250;
const MOST_LOOKS = 40;
/** CPU share above that of an idle server and below that of any work. */
const IDLE_SHARE = 0.05;

const FIGURES = ['per second', 'p50 ms', 'p99 ms', 'CPU µs'];

/** A report with the server's CPU time per request. */
type Report = LoadReport & { cpuUs?: number };

/**
 * Measures durable POSTs and GETs over HTTP with few and with many stored jobs, compared with the same framework and
 * schema doing nothing, and with well-known job queues. The CPU time per request is the most reliable figure on a
 * busy machine. The only renderer never starts, so the service has the CPU for itself.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '64' },
      jobs: { type: 'string', multiple: true, default: ['0', '10000', '100000'] },
      only: { type: 'string' },
    },
  });
  const how = {
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
  };
  console.log(
    `${how.connections} connections; figures and ratios are medians of ${how.rounds} rounds of ${how.seconds} s, interleaved.\n`,
  );
  if (values.only === undefined || values.only === 'stored') await benchStored(values.jobs.map(Number), how);
  if (values.only === undefined || values.only === 'peers') await benchPeers(how);
  if (values.only === undefined || values.only === 'renders') await benchBesideRenders(how);
}

/** Measures all servers interleaved, because other load on the machine changes within minutes. */
async function benchStored(counts: number[], how: How): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const begun = async (...args: string[]) => servers.adopt(await begin(...args), (server) => server.stop());
  const stores: Store[] = [];
  for (const jobs of counts) {
    const folder = servers.adopt(await newFolder(), removeFolder);
    const { key, jobIds, bytes } = await fill(folder, jobs);
    const server = await begun('appliance', folder);
    stores.push({ jobs, jobIds, bytes, key, server, rssBytes: await server.memory() });
  }
  const ceiling = await begun('ceiling');

  console.log(row('stored jobs', 'request', ...FIGURES, 'to ceiling', 'to fewest', 'its p99'));
  const kinds: [name: string, next: (store: Store) => LoadRequest][] = [
    ['GET a recent one', ({ jobIds, key }) => get(any(jobIds.slice(-500)), bearer(key))],
    ['GET any', ({ jobIds, key }) => get(any(jobIds), bearer(key))],
    ['POST', ({ key }) => post(bearer(key))],
  ];
  for (const [name, next] of kinds) {
    const asked = name === 'POST' ? stores : stores.filter(({ jobs }) => jobs > 0);
    const [first] = asked;
    if (!first) continue;
    const loads = asked.map((store) => [store.server, () => next(store)] as const);
    printCompared(name, asked, await inTurns(how, ...loads, [ceiling, () => next(first)]));
  }
  const filled = stores.filter(({ jobs }) => jobs > 0);
  const [fewest] = filled;
  if (fewest) {
    const mixes = filled.map((store) => [store.server, store] as const);
    const [gets, posts] = await inTurnsBoth(how, ...mixes, [ceiling, fewest]);
    printCompared('GET beside POSTs', filled, gets);
    printCompared('POST beside GETs', filled, posts);
  }
  for (const { jobs, bytes, server, rssBytes } of stores) {
    const after = await server.memory();
    const perJob = jobs > 0 ? `, ${Math.round(bytes / jobs)} bytes on disk per job` : '';
    console.log(
      `${String(jobs).padEnd(18)}start ${Math.round(server.startMs)} ms, ` +
        `memory ${mib(rssBytes)}, after the load ${mib(after)}${perJob}`,
    );
  }
}

/** `reports`: those of the stores, and of the ceiling. */
function printCompared(name: string, stores: Store[], reports: Report[][]): void {
  const limit = reports.at(-1) ?? [];
  for (const [i, { jobs }] of stores.entries()) {
    const [own, least] = [reports[i] ?? [], reports[0] ?? []];
    console.log(line(String(jobs), name, own, [rateTo(own, limit), rateTo(own, least), p99To(own, least)]));
  }
  console.log(`${line('the ceiling', name, limit, [])}\n`);
}

/** Enqueues the same jobs durably into common job queues, behind the same HTTP framework and without it. */
async function benchPeers(how: How): Promise<void> {
  console.log(`\n${row('durable', 'request', ...FIGURES, 'to ours', '', '')}`);
  for (const kind of ['bullmq', 'pg-boss'] satisfies PeerKind[]) {
    const peerServer = await startPeerServer(kind);
    if (typeof peerServer === 'string') {
      console.log(row(kind, peerServer));
      continue;
    }
    await using servers = new AsyncDisposableStack();
    servers.adopt(peerServer, (server) => server.stop());
    installPeerPackages();
    const folder = servers.adopt(await newFolder(), removeFolder);
    const { key, owner } = await fill(folder, 0);
    const begun = async (...args: string[]) => servers.adopt(await begin(...args), (server) => server.stop());
    const [ours, peer] = [await begun('appliance', folder, owner), await begun(kind, peerServer.place)];
    const next = () => post(bearer(key));
    const posts = await inTurns(how, [ours, next], [peer, next]);
    const calls: Report[][] = [[], []];
    for (let round = 0; round < how.rounds; round++) {
      calls[0]?.push(await ours.call(how));
      calls[1]?.push(await peer.call(how));
    }
    for (const [name, [mine = [], theirs = []]] of [
      ['POST', posts],
      ['in the process', calls],
    ] as const) {
      console.log(line('ours', name, mine, []));
      console.log(line(kind, name, theirs, [rateTo(theirs, mine)]));
    }
  }
}

/** Measures the API while four scenes are being rendered. */
async function benchBesideRenders(how: How): Promise<void> {
  if (!existsSync(PYTHON)) {
    console.log('\nbeside renders: skipped, because the renderer is not set up (node scripts/setup.mjs)');
    return;
  }
  console.log(`\n${row('four renders', 'request', ...FIGURES)}`);
  await using servers = new AsyncDisposableStack();
  const folder = servers.adopt(await newFolder(), removeFolder);
  const { key, owner, jobIds } = await fill(folder, 1000);
  const ours = servers.adopt(await begin('appliance', folder, owner, PYTHON), (server) => server.stop());
  const headers = bearer(key);
  const code =
    'from manim import *\nclass Long(Scene):\n    def construct(self):\n        self.play(Rotate(Square(), 9), run_time=600)\n';
  const body = JSON.stringify({ code, className: 'Long', quality: 'high' });
  for (let i = 0; i < 4; i++)
    await fetch(`http://127.0.0.1:${ours.port}/api/v2/render`, { method: 'POST', headers, body });
  await delay(5000); // Until all four render.
  for (const connections of [1, how.connections]) {
    const name = connections === 1 ? 'one at a time' : `${connections} at once`;
    for (const [kind, next] of [
      ['GET', () => get(any(jobIds), headers)],
      ['POST', () => post(headers)],
    ] as const) {
      console.log(line(name, kind, [await load(ours.port, { ...how, connections }, next)], []));
    }
  }
}

/**
 * The reports of each load by round. Each round starts with a different load, and each load after the previous server
 * has become idle: a snapshot in progress would slow down the next one.
 */
async function inTurns(how: How, ...loads: (readonly [Server, () => LoadRequest])[]): Promise<Report[][]> {
  const reports = loads.map((): Report[] => []);
  for (let round = 0; round < how.rounds; round++) {
    for (let turn = 0; turn < loads.length; turn++) {
      const place = (round + turn) % loads.length;
      const [server, next] = loads[place] as (typeof loads)[number];
      const before = await server.cpuMs();
      let sent = 0;
      const report = await load(server.port, how, () => {
        sent += 1;
        return next();
      });
      const cpuUs = (1000 * ((await cpuMsAtRest(server)) - before)) / sent;
      reports[place]?.push({ ...report, cpuUs });
    }
  }
  return reports;
}

/**
 * The reports of GETs of any job and of POSTs, by server and round, while half of the connections send each. Only the
 * times from request to response are comparable: those of the GETs show whether they wait for flushes.
 */
async function inTurnsBoth(
  how: How,
  ...servers: (readonly [Server, Store])[]
): Promise<[gets: Report[][], posts: Report[][]]> {
  const half = { ...how, connections: how.connections / 2 };
  const gets = servers.map((): Report[] => []);
  const posts = servers.map((): Report[] => []);
  for (let round = 0; round < how.rounds; round++) {
    for (let turn = 0; turn < servers.length; turn++) {
      const place = (round + turn) % servers.length;
      const [server, { jobIds, key }] = servers[place] as (typeof servers)[number];
      const [ofGets, ofPosts] = await Promise.all([
        load(server.port, half, () => get(any(jobIds), bearer(key))),
        load(server.port, half, () => post(bearer(key))),
      ]);
      gets[place]?.push(ofGets);
      posts[place]?.push(ofPosts);
      await cpuMsAtRest(server);
    }
  }
  return [gets, posts];
}

/** The CPU time of a server when it has become idle, or after a timeout. */
async function cpuMsAtRest(server: Server): Promise<number> {
  let now = await server.cpuMs();
  for (let look = 0; look < MOST_LOOKS; look++) {
    const before = now;
    await delay(LOOK_MS);
    now = await server.cpuMs();
    if (now - before < IDLE_SHARE * LOOK_MS) break;
  }
  return now;
}

/** Median ratio over the rounds: other load on the machine is similar within a round. */
function rateTo(reports: Report[], others: Report[]): string {
  return median(reports.map(({ perSecond }, i) => perSecond / (others[i]?.perSecond ?? Number.NaN))).toFixed(
    2,
  );
}

function p99To(reports: Report[], others: Report[]): string {
  return median(reports.map(({ p99Ms }, i) => p99Ms / (others[i]?.p99Ms ?? Number.NaN))).toFixed(2);
}

function median(figures: number[]): number {
  return figures.sort((a, b) => a - b)[figures.length >> 1] as number;
}

function get(jobId: string, headers: Record<string, string>): LoadRequest {
  return { method: 'GET', path: `/api/v2/render/${jobId}`, headers };
}

function post(headers: Record<string, string>): LoadRequest {
  const body = JSON.stringify(renderRequest());
  const described = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  return { method: 'POST', path: '/api/v2/render', headers: { ...headers, ...described }, body };
}

function any<T>(list: T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'scenepress-bench-'));
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** A service with stored jobs. */
interface Store {
  jobs: number;
  jobIds: string[];
  bytes: number;
  key: string;
  server: Server;
  rssBytes: number;
}

interface Server {
  port: number;
  startMs: number;
  memory: () => Promise<Memory>;
  cpuMs: () => Promise<Cpu>;
  /** Calls its operation in its own process, without HTTP. */
  call: (how: How) => Promise<LoadReport>;
  stop: () => Promise<void>;
}

async function begin(...args: string[]): Promise<Server> {
  const program = compiled('service-server.ts');
  const child: ChildProcess = fork(program, args, { execArgv: ['--expose-gc'] });
  const ask = async <T>(question?: Question): Promise<T> => {
    const answer = once(child, 'message');
    if (question !== undefined) child.send(question);
    return (await answer)[0] as T;
  };
  const { port, startMs } = await ask<{ port: number; startMs: number }>();
  return {
    port,
    startMs,
    memory: () => ask<Memory>('memory'),
    cpuMs: () => ask<Cpu>('cpu'),
    call: ({ connections, seconds }) => ask<LoadReport>({ calls: { connections, seconds } }),
    async stop() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

function line(first: string, name: string, reports: Report[], ratios: string[]): string {
  const of = (figure: keyof Report) => median(reports.map((report) => report[figure] ?? Number.NaN));
  const [perSecond, cpuUs] = [of('perSecond').toFixed(0), Math.round(of('cpuUs'))];
  const times = [of('p50Ms').toFixed(1), of('p99Ms').toFixed(1)];
  return row(first, name, perSecond, ...times, Number.isNaN(cpuUs) ? '' : String(cpuUs), ...ratios);
}

function row(...cells: string[]): string {
  return cells
    .map((cell, column) => (column < 2 ? cell.padEnd(18) : cell.padStart(11)))
    .join('')
    .trimEnd();
}
