import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Accounts, ApiKeys, DataFolder, loadMasterKey, StoredLedger } from '../../lib/index.ts';
import { jobRecord } from '../../lib/testing/job-record.ts';
import { type LoadReport, load } from './load.ts';

const CODE = `from manim import *\n\n\nclass Hello(Scene):\n    def construct(self):\n        ${'self.wait()\n        '.repeat(40)}`;
const BATCH = 1000;

/**
 * Accepted durable POSTs and GETs over HTTP with more and more jobs stored, next to the same framework and schema
 * doing nothing. One renderer that never begins keeps the CPU for the service.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '64' },
      jobs: { type: 'string', multiple: true, default: ['0', '10000', '100000'] },
    },
  });
  const how = { seconds: Number(values.seconds), connections: Number(values.connections) };
  console.log(
    `${how.connections} connections, ${how.seconds} s each. Ratios are to the ceiling beside each.\n`,
  );
  console.log(row('stored jobs', 'request', 'per second', 'ratio', 'p50 ms', 'p99 ms', 'ceiling'));
  for (const jobs of values.jobs.map(Number)) await benchWith(jobs, how);
}

async function benchWith(jobs: number, how: { seconds: number; connections: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  try {
    const { key, jobIds } = await fill(folder, jobs);
    const seededBytes = await sizeOf(folder);
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ code: CODE, className: 'Hello', quality: 'low', metadata: { lesson: 7 } });
    const post = () => ({
      method: 'POST' as const,
      path: '/api/v2/render',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      },
      body,
    });
    let turn = 0;
    const get = () => ({
      method: 'GET' as const,
      path: `/api/v2/render/${jobIds[turn++ % jobIds.length]}`,
      headers,
    });

    const [ours, ceiling] = [await begin('appliance', folder), await begin('ceiling')];
    try {
      const rssBytes = await ours.memory();
      for (const [name, next] of [
        ['GET', get],
        ['POST', post],
      ] as const) {
        const limit = await load(ceiling.port, how, next);
        const report = await load(ours.port, how, next);
        console.log(line(String(jobs), name, report, limit));
      }
      const perJob = jobs > 0 ? `, ${Math.round(seededBytes / jobs)} bytes on disk per job` : '';
      console.log(
        `${' '.repeat(13)}start ${Math.round(ours.startMs)} ms, ${Math.round(rssBytes / 2 ** 20)} MiB${perJob}`,
      );
    } finally {
      await ours.stop();
      await ceiling.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An account with credits and a key, and jobs that are over. */
async function fill(folder: string, jobs: number): Promise<{ key: string; jobIds: string[] }> {
  const data = new DataFolder(folder);
  await data.start();
  const { storage } = data;
  const { accountId } = await new Accounts({ storage, store: data.accountStore }).create('bench@example.org');
  const masterKey = await loadMasterKey(folder);
  const { key } = await new ApiKeys({ storage, store: data.keyStore, masterKey }).mint({
    accountId,
    name: 'bench',
  });
  await new StoredLedger({ store: data.ledgerStore }).grantPaid(accountId, 1_000_000_000);
  const jobIds: string[] = [];
  for (let first = 0; first < Math.max(1, jobs); first += BATCH) {
    await storage.transaction(async (tx) => {
      for (let number = first; number < Math.min(first + BATCH, Math.max(1, jobs)); number++) {
        const jobId = number.toString(16).padStart(48, '0');
        const artifacts = [{ name: 'video.mp4' as const, assetKey: `${jobId}/video.mp4`, sizeBytes: 12345 }];
        const over = {
          phase: 'completed' as const,
          creditsCost: 3,
          durationMs: 2500,
          completedAtMs: 1,
          artifacts,
        };
        await storage.insertJob(tx, jobRecord(jobId, { owner: accountId, reserveCredits: 0, ...over }), CODE);
        jobIds.push(jobId);
      }
    });
  }
  await data.stop();
  return { key, jobIds };
}

interface Server {
  port: number;
  startMs: number;
  memory: () => Promise<number>;
  stop: () => Promise<void>;
}

async function begin(...args: string[]): Promise<Server> {
  const program = join(import.meta.dirname, 'service-server.ts');
  const child: ChildProcess = fork(program, args, { execArgv: ['--expose-gc'] });
  const [{ port, startMs }] = (await once(child, 'message')) as [{ port: number; startMs: number }];
  return {
    port,
    startMs,
    async memory() {
      child.send('memory');
      const [{ rssBytes }] = (await once(child, 'message')) as [{ rssBytes: number }];
      return rssBytes;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    const status = await stat(join(folder, name));
    if (status.isFile()) bytes += status.size;
  }
  return bytes;
}

function line(jobs: string, name: string, report: LoadReport, limit: LoadReport): string {
  const ratio = (report.perSecond / limit.perSecond).toFixed(2);
  const [p50, p99] = [report.p50Ms.toFixed(1), report.p99Ms.toFixed(1)];
  return row(jobs, name, report.perSecond.toFixed(0), ratio, p50, p99, limit.perSecond.toFixed(0));
}

function row(...cells: string[]): string {
  return cells.map((cell, column) => (column < 2 ? cell.padEnd(13) : cell.padStart(10))).join('');
}
