// A server of the service benchmark, in its own process. On requests of its parent, it reports its memory or CPU
// time, or calls its operation in the process.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Appliance } from '../../appliance/app/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import type { RenderService } from '../../lib/index.ts';
import { startHapi } from './ceiling.ts';
import { type LoadReport, measured } from './load.ts';
import { openPeer } from './peers.ts';
import { renderRequest } from './stored-jobs.ts';

/** A request of the parent process. */
export type Question = 'memory' | 'cpu' | { calls: { connections: number; seconds: number } };
/** Bytes, after garbage collection. */
export type Memory = number;
/** CPU time since the start in milliseconds. */
export type Cpu = number;

const IDLE_PYTHON = join(import.meta.dirname, '../../test/appliance/idle-renderer/bin/python');

const [kind, place = '', owner = '', python] = process.argv.slice(2);
const begun = performance.now();
let call: (() => Promise<unknown>) | undefined;
let port: number;
let startMs: number;
let appliance: Appliance | undefined;
if (kind === 'appliance') {
  const { hapi, service } = await startAppliance(place);
  startMs = performance.now() - begun;
  port = Number(hapi.info.port);
  call = enqueueing(service, owner);
  // Wait for the audit at the start, which takes seconds, before measurements.
  while (service.status().bookProblems === null) await delay(20);
} else {
  const add = kind === 'ceiling' ? async () => {} : await openPeer(kind as 'bullmq' | 'pg-boss', place);
  call = () => add(renderRequest());
  port = await startHapi(add);
  startMs = performance.now() - begun;
}
process.send?.({ port, startMs });
process.on('disconnect', async () => {
  await appliance?.stop();
  process.exit();
});
process.on('message', async (question: Question) => {
  if (question === 'memory') {
    globalThis.gc?.();
    process.send?.(process.memoryUsage().rss satisfies Memory);
  } else if (question === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.(((user + system) / 1000) satisfies Cpu);
  } else process.send?.(await loadCalls(question.calls));
});

async function startAppliance(dataDir: string) {
  const flags = {
    port: 0,
    dataDir,
    ...(python === undefined
      ? { workers: 1, python: IDLE_PYTHON, insecureNoSandbox: true }
      : { workers: 4, python }),
    maxQueued: 1e9,
    maxQueuedPerAccount: 1e9,
    maxJobsPerSecondPerAccount: 0,
    drainSeconds: 0,
  };
  appliance = new Appliance(loadConfig({ flags, env: {} }), pino({ level: 'silent' }));
  return appliance.start();
}

function enqueueing(service: RenderService, owner: string): () => Promise<unknown> {
  return () => service.enqueue({ owner, ...renderRequest() });
}

function loadCalls({ connections, seconds }: { connections: number; seconds: number }): Promise<LoadReport> {
  const from = performance.now() + 1000;
  const times = { connections, from, until: from + seconds * 1000 };
  return measured(times, async () => ({ call: call as () => Promise<unknown>, close: () => {} }));
}
