// Three processes that accept jobs and three that render, on one Postgres with a replica, while they are killed and
// frozen for longer than a lease, connections are cut, Postgres restarts twice and fails over to the replica. `FAULTS_S`:
// seconds of it, default 36; `SEED` repeats the choices, which happen at other moments each time.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type JobRecord, type Role, StoredLedger } from '../../lib/index.ts';
import { LEASE_MS } from '../../lib/jobs/job-claims.ts';
import { type PostgresStorage, postgres } from '../../lib/postgres/index.ts';
import type { DeliveryRecord } from '../../lib/webhooks/delivery.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { Member, OWNERS } from '../fixtures/cluster.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { SwitchingProxy } from '../fixtures/postgres/switching-proxy.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const FAULTS_MS = Number(process.env['FAULTS_S'] ?? 36) * 1000;
const FROZEN_MS = LEASE_MS + 4_000;
/** On a machine with other work. */
const DRAIN_MS = 240_000;
const FRONT: Role[] = ['api', 'sender', 'upkeep'];
const WORKER: Role[] = ['worker'];

t.test('a cluster loses nothing under faults', { timeout: FAULTS_MS + 2 * DRAIN_MS }, async (t) => {
  t.comment(`SEED=${SEED}`);
  const random = seededRandom(SEED);
  const any = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
  const folder = testFolder(t);
  const authority = new TestAuthority(folder);
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const webhooks = { url: `https://127.0.0.1:${receiver.port}/`, ca: authority.ca };
  const primary = await PostgresServer.start();
  t.teardown(() => primary.remove());
  const replica = await primary.replica();
  t.teardown(() => replica.remove());
  const proxy = await SwitchingProxy.open(primary.port);
  t.teardown(() => proxy.close());
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;

  const storage = postgres(url, { retryForMs: 30_000 });
  await storage.start();
  t.teardown(() => storage.stop());
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  for (const owner of OWNERS) await ledger.grantPaid(owner, 1_000_000);

  const accepted: string[] = [];
  const failures: string[] = [];
  const members: Member[] = [];
  let names = 0;
  const add = (roles: Role[]): Member => {
    names += 1;
    const orders = { url, folder, roles, webhooks, name: `m${names}`, seed: SEED + names };
    const member = new Member(orders, {
      onAccepted: (jobId) => accepted.push(jobId),
      onFailed: (error) => failures.push(error),
    });
    members.push(member);
    return member;
  };
  t.teardown(() => Promise.all(members.map((member) => member.end('SIGKILL'))));
  await Promise.all([FRONT, FRONT, FRONT, WORKER, WORKER, WORKER].map((roles) => add(roles).started));

  const killOne = async (roles: Role[]): Promise<void> => {
    const killed = any(members.filter((member) => member.roles === roles && !member.isFrozen));
    members.splice(members.indexOf(killed), 1);
    await killed.end('SIGKILL');
    add(roles);
  };
  const freezeOne = async (roles: Role[]): Promise<void> => {
    const frozen = any(members.filter((member) => member.roles === roles && !member.isFrozen));
    frozen.freeze();
    await delay(FROZEN_MS);
    frozen.thaw();
  };
  const begunMs = performance.now();
  const faults: Promise<unknown>[] = [];
  const at = (share: number, fault: () => unknown) => void faults.push(delay(share * FAULTS_MS).then(fault));
  at(0.02, () => freezeOne(WORKER));
  at(0.04, () => freezeOne(FRONT));
  at(0.1, () => killOne(WORKER));
  at(0.2, async () => {
    await primary.stop('SIGINT');
    await primary.start();
  });
  at(0.35, () => killOne(FRONT));
  at(0.4, async () => {
    await primary.stop('SIGQUIT');
    await primary.start();
  });
  at(0.6, async () => {
    await primary.stop('SIGQUIT');
    await replica.promote();
    proxy.targetPort = replica.port;
    proxy.cut();
  });
  for (let share = 0.05; share < 1; share += 3_000 / FAULTS_MS) {
    at(share, () => proxy.cut(() => random() < 0.3));
    if (share * FAULTS_MS > 36_000) at(share, () => killOne(any([FRONT, WORKER])));
  }
  await Promise.all(faults);
  for (const member of members) member.ask('quiet');
  await Promise.all(members.filter(({ roles }) => roles === FRONT).map(({ quiet }) => quiet));
  t.comment(`${accepted.length} jobs accepted in ${Math.round((performance.now() - begunMs) / 1000)} s`);

  await until(async () => {
    const { waiting, running } = await storage.queue.state();
    return waiting + running === 0;
  });
  await until(async () => (await storage.unfinishedJobs()).length === 0);
  const deliveries = await untilBegun(storage);
  await Promise.all(members.map((member) => member.end('stop')));

  t.ok(accepted.length > 20, 'jobs were accepted');
  t.same(failures, [], 'a failed enqueue is one of the storage');
  t.equal(new Set(accepted).size, accepted.length);
  const jobs = await allJobs(storage);
  const byId = new Map(jobs.map((job) => [job.jobId, job]));
  t.same(
    accepted.filter((jobId) => !byId.has(jobId)),
    [],
    'each accepted job exists',
  );
  t.same(
    jobs.filter(({ phase }) => phase !== 'completed' && phase !== 'failed'),
    [],
    'all have ended',
  );
  t.same(
    jobs.filter(({ failedBy }) => failedBy === 'service'),
    [],
    'no job fails because of a fault',
  );
  t.same((await ledger.audit()).problems, []);
  let spent = 0;
  for (const owner of OWNERS)
    spent += (await ledger.charges(owner, { fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER })).chargedCredits;
  t.equal(
    spent,
    jobs.reduce((sum, { creditsCost }) => sum + creditsCost, 0),
    'each render is charged once',
  );

  const artifacts = jobs.flatMap((job) => job.artifacts.map(({ assetKey }) => assetKey));
  t.same(
    filesBelow(join(folder, 'artifacts')).sort(),
    artifacts.sort(),
    'artifacts are those of completed jobs',
  );

  const withWebhook = jobs.filter(({ webhookUrl }) => webhookUrl !== null);
  t.same(
    deliveries.map(({ jobId }) => jobId).sort(),
    withWebhook.map(({ jobId }) => jobId).sort(),
    'each outcome has one delivery',
  );
  const requests = Map.groupBy(
    receiver.received,
    ({ body }) => (JSON.parse(`${body}`) as { jobId: string }).jobId,
  );
  const bounds = deliveries.map(({ jobId, attempts }) => [requests.get(jobId)?.length ?? 0, attempts.length]);
  t.same(
    bounds.filter(([sent = 0, attempts = 0]) => sent > attempts || attempts < 1 || attempts > 4),
    [],
    'each delivery has one to four attempts, and no request without one',
  );
  t.ok(receiver.received.length > 0, 'webhooks were sent');
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + DRAIN_MS;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error('the cluster does not come to rest');
    await delay(200);
  }
}

/** All deliveries, once each has been begun. */
async function untilBegun(storage: PostgresStorage): Promise<DeliveryRecord[]> {
  const all: DeliveryRecord[] = [];
  await until(async () => {
    all.splice(0);
    for (let before: string | undefined; ; before = all.at(-1)?.deliveryId) {
      const page = await storage.deliveries.list({ limit: 100, ...(before !== undefined && { before }) });
      all.push(...page);
      if (page.length < 100) break;
    }
    return all.every(({ attempts }) => attempts.length > 0);
  });
  return all;
}

async function allJobs(storage: PostgresStorage): Promise<JobRecord[]> {
  const all: JobRecord[] = [];
  for (;;) {
    const before = all.at(-1)?.jobId;
    const page = await storage.listJobs({ limit: 100, ...(before !== undefined && { before }) });
    all.push(...page);
    if (page.length < 100) return all;
  }
}

/** Paths below a folder, relative to it. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
