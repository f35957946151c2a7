// One of the servers that the service benchmark loads, in a process of its own. Says what it has to say to its parent;
// answers with its memory or CPU time when asked, or calls what its kind can do in the process, when told so.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Appliance } from '../../appliance/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { limitYoungGeneration } from '../../appliance/memory.ts';
import type { RenderService } from '../../lib/index.ts';
import { startHapi } from './ceiling.ts';
import { type LoadReport, measured } from './load.ts';
import { openPeer } from './peers.ts';
import { renderRequest } from './stored-jobs.ts';

/** What a server is asked for. */
export type Question = 'memory' | 'cpu' | { calls: { connections: number; seconds: number } };
/** Bytes, without what is garbage. */
export type Memory = number;
/** Milliseconds of processors since it began. */
export type Cpu = number;

const IDLE_PYTHON = join(import.meta.dirname, '../../test/appliance/idle-renderer/bin/python');

const [kind, place = '', owner = '', python] = process.argv.slice(2);
const begun = performance.now();
let call: (() => Promise<unknown>) | undefined;
let port: number;
let startMs: number;
let appliance: Appliance | undefined;
if (kind === 'appliance') {
  limitYoungGeneration(); // As `scenepress serve` does.
  const { hapi, service } = await startAppliance(place);
  startMs = performance.now() - begun;
  port = Number(hapi.info.port);
  call = enqueueing(service, owner);
  // The audit at the start is over in seconds; what is measured is the time after.
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
