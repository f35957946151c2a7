import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compiled } from './compiled.ts';
import { startPeerServer } from './peers.ts';
import { cpuMsOf } from './postgres-cpu.ts';
import type { Cpu, Ready } from './waiting-server.ts';

/** At most 200 of one account are open at a server. */
const OPEN_OF_ACCOUNT = 175;
const SETTLE_MS = 5_000;
/** What the service may take of a core while nothing happens, in percent. */
const MOST = 10;
const SCENE = JSON.stringify({ code: 'from manim import *', className: 'Hello' });

type Kind = 'hapi' | 'sqlite' | 'postgres';
const NAMES: Record<Kind, string> = {
  hapi: 'hapi alone',
  sqlite: 'service, data folder',
  postgres: 'service, Postgres',
};

/**
 * Measures the CPU time of a server while many clients wait for jobs that do not end and follow events, then while a job
 * ends each second, beside hapi that holds as many requests with the same heartbeat. Clients repeat waits that are over.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      waits: { type: 'string', default: '500' },
      streams: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '60' },
      only: { type: 'string' },
    },
  });
  const [waits, streams, seconds] = [values.waits, values.streams, values.seconds].map(Number) as [
    number,
    number,
    number,
  ];
  console.log(`${waits} waits, ${streams} streams of events; CPU time in % of a core, over ${seconds} s\n`);
  console.log(row('', 'none open', 'all open', 'one ends/s', `at most ${MOST}`));
  for (const kind of ['hapi', 'sqlite', 'postgres'] as const)
    if (values.only === undefined || values.only === kind)
      await benchServer(kind, { waits, streams, seconds });
}

interface How {
  waits: number;
  streams: number;
  seconds: number;
}

async function benchServer(kind: Kind, how: How): Promise<void> {
  const postgres = kind === 'postgres' ? await startPeerServer('pg-boss') : undefined;
  if (typeof postgres === 'string') return console.log(row(NAMES[kind], postgres));
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  const accounts = String(Math.ceil((how.waits + how.streams) / OPEN_OF_ACCOUNT));
  const child = fork(compiled('waiting-server.ts'), [kind, postgres?.place ?? folder, accounts]);
  try {
    const [ready] = (await once(child, 'message')) as [Ready];
    const cpu = async (): Promise<number[]> => {
      child.send('cpu');
      const [ms] = (await once(child, 'message')) as [Cpu];
      return [ms, postgres ? cpuMsOf(postgres.place) : 0];
    };
    const share = async (): Promise<number[]> => {
      await delay(SETTLE_MS);
      const [before, begun] = [await cpu(), performance.now()];
      await delay(how.seconds * 1000);
      const after = await cpu();
      return after.map((ms, index) => (100 * (ms - (before[index] ?? 0))) / (performance.now() - begun));
    };
    const none = await share();
    const clients = new Clients(ready);
    await clients.open(how);
    const idle = await share();
    const ending = clients.endJobs();
    const busy = await share();
    ending.abort();
    clients.close();
    const figures = (index: number) => [none, idle, busy].map((shares) => (shares[index] ?? 0).toFixed(2));
    const verdict = (idle[0] ?? 0) > MOST ? 'too much' : '';
    console.log(row(NAMES[kind], ...figures(0), verdict));
    if (postgres) console.log(row('  Postgres itself', ...figures(1), ''));
  } finally {
    child.disconnect();
    await once(child, 'exit');
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Holds the waits and streams of some accounts open. */
class Clients {
  readonly #ready: Ready;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  /** The jobs that are waited for, oldest first, with their keys. */
  readonly #waitedFor = new Map<string, string>();
  #isClosed = false;
  #failure: unknown;

  constructor(ready: Ready) {
    this.#ready = ready;
  }

  async open({ waits, streams }: Pick<How, 'waits' | 'streams'>): Promise<void> {
    const keyOf = (number: number) => this.#ready.keys[number % this.#ready.keys.length] ?? '';
    for (let number = 0; number < waits; number += 1) await this.#waitForAnother(keyOf(number));
    for (let number = 0; number < streams; number += 1) {
      const key = keyOf(number);
      const isOfJob = Math.floor(number / this.#ready.keys.length) % 2 === 0;
      const path = isOfJob ? `/jobs/${await this.#add(key)}/events` : '/events';
      const response = await this.#send('GET', path, key);
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
      response.on('error', () => {}).resume();
    }
  }

  /** Ends the oldest job each second, and waits for a new one instead. */
  endJobs(): AbortController {
    const stop = new AbortController();
    void (async () => {
      while (!stop.signal.aborted) {
        const [oldest] = this.#waitedFor;
        if (oldest) {
          const [jobId, key] = oldest;
          await text(await this.#send('POST', `/jobs/${jobId}/cancel`, key));
          await this.#waitForAnother(key);
        }
        await delay(1_000);
      }
    })();
    return stop;
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
    if (this.#failure) throw this.#failure;
  }

  async #add(key: string): Promise<string> {
    const response = await this.#send('POST', '/jobs', key, SCENE);
    const { jobId } = JSON.parse(await text(response)) as { jobId?: string };
    if (jobId === undefined) throw new Error(`POST: ${response.statusCode}`);
    return jobId;
  }

  async #waitForAnother(key: string): Promise<void> {
    const jobId = await this.#add(key);
    this.#waitedFor.set(jobId, key);
    void this.#wait(jobId, key);
  }

  async #wait(jobId: string, key: string): Promise<void> {
    try {
      let status = 202;
      while (status === 202 && !this.#isClosed) {
        const response = await this.#send('GET', `/jobs/${jobId}/wait?seconds=60`, key);
        await text(response);
        status = response.statusCode ?? 0;
        if (status >= 400) throw new Error(`a wait was answered with ${status}`);
      }
    } catch (error) {
      if (!this.#isClosed) this.#failure = error;
    } finally {
      this.#waitedFor.delete(jobId);
    }
  }

  async #send(method: string, path: string, key: string, body?: string): Promise<IncomingMessage> {
    const sent = request({
      ...{ host: '127.0.0.1', port: this.#ready.port, method, path: `/api/tools/v1${path}` },
      agent: this.#agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }
}

function row(first: string, ...cells: string[]): string {
  return (first.padEnd(24) + cells.map((cell) => cell.padStart(12)).join('')).trimEnd();
}
