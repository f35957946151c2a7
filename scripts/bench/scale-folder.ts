// Measures operations that take longer with more jobs on the data folder `FOLDER/data`, and reports to its parent.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { limitYoungGeneration } from '../../appliance/young-generation.ts';
import {
  ApiKeys,
  backUp,
  DataFolder,
  RenderService,
  replaceMasterKey,
  StoredLedger,
} from '../../lib/index.ts';
import { renderRequest } from './stored-jobs.ts';

/** Times are per operation in milliseconds, unless the name says seconds. */
export interface ScaleReport {
  startMs: number;
  memoryMib: number;
  listingMs: number;
  forgetMs: number;
  backupSeconds: number;
  backupCommitMs: number;
  backupLoopMs: number;
  rotationSeconds: number;
  rotationCommitMs: number;
  auditSeconds: number;
  auditCommitMs: number;
  auditLoopMs: number;
  commitMs: number;
  bytesPerJob: number;
}

const RUNS = 50;
/** Number of clients that constantly wait for commits. */
const CLIENTS = 4;
/** Pause of a client between two jobs, which limits the number of added jobs. */
const PAUSE_MS = 10;
const QUIET_MS = 2_000;
const MEBIBYTE = 2 ** 20;

const [place = '', jobs = ''] = process.argv.slice(2);
limitYoungGeneration(); // Like `scenepress serve`.
const begun = performance.now();
const folder = new DataFolder(join(place, 'data'));
const service = new RenderService({
  dataFolder: folder,
  ledger: new StoredLedger({ store: folder.ledgerStore }),
  webhooks: { secretOf: async () => null },
  queue: { maxQueued: 1e9, maxQueuedPerOwner: 1e9 },
});
await service.startWithoutWorkers();
const startMs = performance.now() - begun;
globalThis.gc?.();
const memoryMib = process.memoryUsage().rss / MEBIBYTE;
const { size } = await stat(join(folder.path, 'database.sqlite'));
const bytesPerJob = size / Number(jobs);

const [newest] = await service.list({ limit: 1 });
if (!newest) throw new Error('There are no jobs.');
const { owner } = newest;
const ledger = new StoredLedger({ store: folder.ledgerStore });
const listingMs = Math.max(...(await listings()));
const forgetMs = await timeOfForgetting();
const commitMs = (await beside(() => delay(QUIET_MS))).commitMs;
const backup = await beside(() => backUp(folder, join(place, `backup-${jobs}`)));
const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys() });
const rotation = await beside(() =>
  replaceMasterKey(folder, { reseal: () => service.resealSecrets({ keys }) }),
);
const audit = await beside(() => folder.ledgerStore.audit());
process.send?.({
  startMs,
  memoryMib,
  listingMs,
  forgetMs,
  backupSeconds: backup.seconds,
  backupCommitMs: backup.commitMs,
  backupLoopMs: backup.loopMs,
  rotationSeconds: rotation.seconds,
  rotationCommitMs: rotation.commitMs,
  auditSeconds: audit.seconds,
  auditCommitMs: audit.commitMs,
  auditLoopMs: audit.loopMs,
  commitMs,
  bytesPerJob,
} satisfies ScaleReport);
await service.stop();
process.disconnect();

/** Median times of the first and a late page of each listing, in milliseconds. */
async function listings(): Promise<number[]> {
  const some = await service.list({ limit: 1000 });
  const deep = some.at(-1)?.jobId ?? '';
  const pages: (() => Promise<unknown>)[] = [
    () => service.list({ limit: 50 }),
    () => service.list({ limit: 50, before: deep }),
    () => service.list({ limit: 50, owner }),
    () => service.list({ limit: 50, owner, before: deep }),
    () => service.list({ limit: 50, owner, status: 'completed' }),
    () => service.list({ limit: 50, status: 'failed' }),
    () => service.list({ limit: 50, status: 'running' }),
    () => service.deliveries.list({ limit: 50 }),
    () => service.deliveries.list({ limit: 50, owner }),
    () => service.deliveries.list({ jobId: deep }),
    () => ledger.statement(owner, { limit: 50 }),
  ];
  const times: number[] = [];
  for (const page of pages) {
    const runs: number[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await timeOf(page));
    times.push(runs.sort((a, b) => a - b)[RUNS >> 1] as number);
  }
  return times;
}

async function timeOfForgetting(): Promise<number> {
  const jobs = await service.list({ limit: 10, before: newest?.jobId as string });
  const times: number[] = [];
  for (const { jobId } of jobs) times.push(await timeOf(() => service.forget(jobId)));
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return performance.now() - startedMs;
}

/** Measures an operation while clients enqueue and cancel jobs, and the latency of these clients. */
async function beside(
  act: () => Promise<unknown>,
): Promise<{ seconds: number; commitMs: number; loopMs: number }> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let busy = true;
  const commits: number[] = [];
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (busy) {
      const startedMs = performance.now();
      const { jobId } = await service.enqueue({ owner, ...renderRequest() });
      commits.push(performance.now() - startedMs);
      await service.cancel(jobId);
      await delay(PAUSE_MS);
    }
  });
  const ms = await timeOf(act);
  busy = false;
  await Promise.all(clients);
  loop.disable();
  const commitMs = commits.sort((a, b) => a - b)[Math.floor(commits.length * 0.99)] as number;
  return { seconds: ms / 1000, commitMs, loopMs: loop.max / 1e6 };
}
