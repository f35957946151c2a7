import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type LoadReport, type LoadRequest, load } from './load.ts';
import { type PeerKind, startPeerServer } from './peers.ts';
import type { Question, Usage } from './service-server.ts';
import { fill, renderRequest } from './stored-jobs.ts';

const PYTHON = join(import.meta.dirname, '../../.venv/bin/python');

interface How {
  connections: number;
  seconds: number;
  rounds: number;
}

/** A report with what a request costs the server's processor. */
type Report = LoadReport & { cpuUs?: number };

/**
 * Accepted durable POSTs, and GETs, over HTTP with few and with many jobs stored, next to the same framework and schema
 * doing nothing; then next to well-known job queues. A request's CPU time says most where the machine has other work. One renderer that never begins keeps the CPU for the service.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
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
    `${how.connections} connections; medians of ${how.rounds} rounds of ${how.seconds} s, in turns.\n`,
  );
  if (values.only === undefined || values.only === 'stored') await benchStored(values.jobs.map(Number), how);
  if (values.only === undefined || values.only === 'peers') await benchPeers(how);
  if (values.only === undefined || values.only === 'renders') await benchBesideRenders(how);
}

async function benchStored(counts: number[], how: How): Promise<void> {
  console.log(
    row(
      'stored jobs',
      'request',
      'per second',
      'ratio',
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'ceiling',
      'p99 ms',
      'CPU µs',
    ),
  );
  for (const jobs of counts) {
    await withFolder(async (folder) => {
      const { key, jobIds, bytes } = await fill(folder, jobs);
      const [ours, ceiling] = [await begin('appliance', folder), await begin('ceiling')];
      try {
        const { rssBytes } = await ours.usage();
        const recent = jobIds.slice(-500);
        const at = { headers: { authorization: `Bearer ${key}` } };
        const kinds: [name: string, next: () => LoadRequest][] = [
          ['GET a recent one', () => get(recent.length > 0 ? any(recent) : 'none', at.headers)],
          ['GET any', () => get(any(jobIds), at.headers)],
          ['POST', () => post(at.headers)],
        ];
        for (const [name, next] of kinds) {
          if (jobs === 0 && name !== 'POST') continue;
          const [report, limit] = await inTurns(how, [ours, next], [ceiling, next]);
          console.log(line(String(jobs), name, report, limit));
        }
        const after = (await ours.usage()).rssBytes;
        const perJob = jobs > 0 ? `${Math.round(bytes / jobs)} bytes on disk per job, ` : '';
        console.log(
          `${' '.repeat(14)}${perJob}start ${Math.round(ours.startMs)} ms, ` +
            `memory ${mib(rssBytes)}, after the load ${mib(after)}\n`,
        );
      } finally {
        await ours.stop();
        await ceiling.stop();
      }
    });
  }
}

/** The same jobs into queues that such services are often built on, durable too: behind the same HTTP, and without. */
async function benchPeers(how: How): Promise<void> {
  console.log(
    row('', 'durable', 'per second', 'ratio', 'p50 ms', 'p99 ms', 'CPU µs', 'ours', 'p99 ms', 'CPU µs'),
  );
  for (const kind of ['bullmq', 'pg-boss'] satisfies PeerKind[]) {
    const server = await startPeerServer(kind);
    if (typeof server === 'string') {
      console.log(row(kind, server));
      continue;
    }
    try {
      await withFolder(async (folder) => {
        const { key, owner } = await fill(folder, 0);
        const [ours, peer] = [await begin('appliance', folder, owner), await begin(kind, server.place)];
        try {
          const next = () => post({ authorization: `Bearer ${key}` });
          const [mine, theirs] = await inTurns(how, [ours, next], [peer, next]);
          console.log(line(kind, 'POST', theirs, mine));
          const calls: [LoadReport[], LoadReport[]] = [[], []];
          for (let round = 0; round < how.rounds; round++) {
            calls[0].push(await ours.call(how));
            calls[1].push(await peer.call(how));
          }
          console.log(line(kind, 'in the process', middle(calls[1]), middle(calls[0])));
        } finally {
          await ours.stop();
          await peer.stop();
        }
      });
    } finally {
      await server.stop();
    }
  }
}

/** How the API answers while four scenes are rendered, for as long as it is asked. */
async function benchBesideRenders(how: How): Promise<void> {
  if (!existsSync(PYTHON)) {
    console.log('\nbeside renders: skipped, because the renderer is not set up (node scripts/setup.mjs)');
    return;
  }
  console.log(`\n${row('four renders', 'request', 'per second', '', 'p50 ms', 'p99 ms')}`);
  await withFolder(async (folder) => {
    const { key, owner, jobIds } = await fill(folder, 1000);
    const ours = await begin('appliance', folder, owner, PYTHON);
    const headers = { authorization: `Bearer ${key}` };
    try {
      const code =
        'from manim import *\nclass Long(Scene):\n    def construct(self):\n        self.play(Rotate(Square(), 9), run_time=600)\n';
      const body = JSON.stringify({ code, className: 'Long', quality: 'high' });
      for (let i = 0; i < 4; i++)
        await fetch(`http://127.0.0.1:${ours.port}/api/v2/render`, { method: 'POST', headers, body });
      await delay(5000); // All four draw.
      for (const connections of [1, how.connections]) {
        const name = connections === 1 ? 'one after the other' : `${connections} at once`;
        for (const [kind, next] of [
          ['GET', () => get(any(jobIds), headers)],
          ['POST', () => post(headers)],
        ] as const) {
          const { perSecond, p50Ms, p99Ms } = await load(ours.port, { ...how, connections }, next);
          console.log(row(name, kind, perSecond.toFixed(0), '', p50Ms.toFixed(1), p99Ms.toFixed(1)));
        }
      }
    } finally {
      await ours.stop();
    }
  });
}

async function inTurns(how: How, ...loads: [Server, () => LoadRequest][]): Promise<[Report, Report]> {
  const reports = loads.map((): Report[] => []);
  for (let round = 0; round < how.rounds; round++) {
    for (const [i, [server, next]] of loads.entries()) {
      const before = await server.usage();
      let sent = 0;
      const report = await load(server.port, how, () => {
        sent += 1;
        return next();
      });
      const cpuUs = (1000 * ((await server.usage()).cpuMs - before.cpuMs)) / sent;
      reports[i]?.push({ ...report, cpuUs });
    }
  }
  return reports.map(middle) as [Report, Report];
}

/** The median of each figure. */
function middle(reports: Report[]): Report {
  const of = (figure: keyof Report) => {
    const sorted = reports.map((report) => report[figure] ?? Number.NaN).sort((a, b) => a - b);
    return sorted[sorted.length >> 1] as number;
  };
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuUs: of('cpuUs') };
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

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Server {
  port: number;
  startMs: number;
  usage: () => Promise<Usage>;
  /** Calls what it does in its own process, without HTTP. */
  call: (how: How) => Promise<LoadReport>;
  stop: () => Promise<void>;
}

async function begin(...args: string[]): Promise<Server> {
  const program = join(import.meta.dirname, 'service-server.ts');
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
    usage: () => ask<Usage>('usage'),
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

function line(first: string, name: string, report: Report, beside: Report): string {
  const ratio = (report.perSecond / beside.perSecond).toFixed(2);
  const [p50, p99] = [report.p50Ms.toFixed(1), report.p99Ms.toFixed(1)];
  const cpu = ({ cpuUs }: Report) => (Number.isNaN(cpuUs) ? '' : Math.round(cpuUs ?? 0).toString());
  const theirs = [beside.perSecond.toFixed(0), beside.p99Ms.toFixed(1), cpu(beside)];
  return row(first, name, report.perSecond.toFixed(0), ratio, p50, p99, cpu(report), ...theirs);
}

function row(...cells: string[]): string {
  return cells.map((cell, column) => (column < 2 ? cell.padEnd(18) : cell.padStart(11))).join('');
}
