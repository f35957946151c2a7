import assert from 'node:assert/strict';
import type { Job } from '../../lib/index.ts';
import { assetKeyOf } from '../../lib/model/job.ts';
import { jobJson } from '../../lib/model/job-json.ts';
import type { DeliveryAttempt } from '../../lib/storage/delivery.ts';
import type { SqlReader } from '../../lib/storage/sql.ts';
import type { Storage } from '../../lib/storage/storage.ts';
import type { DistantLedger } from '../fixtures/distant-ledger.ts';
import { ASSET_URL } from './simulated-life.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** The balance of a ledger elsewhere at first. */
export const DISTANT_CREDITS = 1_000_000;

interface Stores {
  storage: Storage;
  /** The database of the storage. */
  database: SqlReader;
  distant: DistantLedger | undefined;
  world: SimulatedWorld;
}

/** Each job has ended once: with one charge or none, the artifacts of its last claim, and one delivery. */
export async function assertJobsEnded(jobs: Job[], stores: Stores): Promise<void> {
  for (const job of jobs) {
    await assertArtifacts(job, stores);
    if (stores.distant) assertDistantBooks(job, stores.distant);
    else await assertBooks(job, stores);
    await assertDeliveries(job, stores);
  }
}

/** What is not a job's cost is available again. */
export function assertDistantLedger(ledger: DistantLedger, jobs: Job[]): void {
  const open = [...ledger.jobs].filter(([, { state }]) => state === 'open');
  assert.deepEqual(open, [], 'no reserve is left');
  const cost = jobs.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
  assert.equal(ledger.balanceCredits, DISTANT_CREDITS - cost, 'each render is charged once');
}

async function assertArtifacts({ jobId }: Job, { storage }: Stores): Promise<void> {
  const { token = 0, artifacts = [] } = (await storage.getJob(jobId)) ?? {};
  const foreign = artifacts.filter(({ name, assetKey }) => assetKey !== assetKeyOf({ jobId, token }, name));
  assert.deepEqual(foreign, [], `the artifacts of ${jobId} are those of its last claim`);
}

/** It is settled or voided once. */
async function assertBooks({ jobId, status, creditsCost }: Job, { database }: Stores): Promise<void> {
  const entries = await database.all<{ kind: string; charged_credits: number }>(
    'SELECT kind, charged_credits FROM ledger_entries WHERE job_id = ? ORDER BY kind',
    jobId,
  );
  const kinds = entries.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['reserve', status === 'completed' ? 'settle' : 'void'], `the books of ${jobId}`);
  assert.equal(entries[1]?.charged_credits, creditsCost);
}

function assertDistantBooks({ jobId, status, creditsCost }: Job, { jobs }: DistantLedger): void {
  const state = status === 'completed' ? 'settled' : 'voided';
  assert.deepEqual(jobs.get(jobId), { state, amount: creditsCost }, `the books of ${jobId}`);
}

/** Its outcome was sent no more often than attempts are recorded. */
async function assertDeliveries(job: Job, stores: Stores): Promise<void> {
  const {
    storage: { deliveries },
    world,
  } = stores;
  const { jobId, webhookUrl } = job;
  const all = await deliveries.list({ jobId, limit: 100_000 });
  const automatic = all.filter(({ repeats }) => repeats === null);
  assert.equal(automatic.length, webhookUrl === null ? 0 : 1, `deliveries of ${jobId}`);
  for (const { deliveryId, attempts, mostAttempts, dueAtMs, deliveredAtMs } of all) {
    assert(attempts.length <= mostAttempts && dueAtMs === null);
    for (const [index, attempt] of attempts.entries())
      await assertAnswered(deliveryId, index, attempt, stores);
    if (deliveredAtMs !== null) assert((world.received.get(jobId) ?? 0) > 0, `${deliveryId} arrived`);
    assert.equal(await deliveries.readBody(deliveryId), jobJson(job, ASSET_URL), 'the outcome is sent');
  }
  for (const [about, records] of Map.groupBy(all, ({ repeats }) => repeats ?? jobId)) {
    const requests = world.requests.get(about) ?? 0;
    const attempts = records.reduce((sum, record) => sum + record.attempts.length, 0);
    assert(requests <= attempts, `${requests} requests for ${about}, ${attempts} attempts`);
  }
}

/** The status of an attempt is that with which its own request ended. */
async function assertAnswered(
  deliveryId: string,
  index: number,
  { reason, status }: DeliveryAttempt,
  { storage: { deliveries }, world }: Stores,
): Promise<void> {
  if (reason === 'interrupted') return;
  const exchange = (await deliveries.readExchanges(deliveryId)).findLast(({ attempt }) => attempt === index);
  const statuses = world.answers.get(exchange?.signature ?? '');
  assert(statuses?.has(status), `attempt ${index} of ${deliveryId}: status ${status}, request ${statuses}`);
}
