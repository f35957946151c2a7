// Three processes that accept jobs and three that render, on one Postgres with a replica, while they are killed and
// frozen for longer than a lease, connections are cut, those of one worker forward nothing for longer than a lease, Postgres
// restarts twice and fails over to the replica. `FAULTS_S`: seconds of it, default 36; `SEED` repeats the choices, which
// happen at other moments each time.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type Role, StoredLedger } from '../../lib/index.ts';
import { LEASE_MS } from '../../lib/jobs/run/job-claims.ts';
import { postgres } from '../../lib/postgres/index.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { Member, OWNERS } from '../fixtures/cluster.ts';
import { comesToRest, nothingIsLost, REST_MS, untilBegun } from '../fixtures/cluster-outcome.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { SwitchingProxy } from '../fixtures/postgres/switching-proxy.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const FAULTS_MS = Number(process.env['FAULTS_S'] ?? 36) * 1000;
const FROZEN_MS = LEASE_MS + 4_000;
const FRONT: Role[] = ['api', 'sender', 'upkeep'];
const WORKER: Role[] = ['worker'];

t.test('a cluster loses nothing under faults', { timeout: FAULTS_MS + 2 * REST_MS }, async (t) => {
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
  const distant = await SwitchingProxy.open(primary.port);
  t.teardown(() => distant.close());
  const urlOf = ({ port }: SwitchingProxy) => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const url = urlOf(proxy);

  const storage = postgres(url, { retryForMs: 30_000 });
  await storage.start();
  t.teardown(() => storage.stop());
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  for (const owner of OWNERS) await ledger.grantPaid(owner, 1_000_000);

  const accepted: string[] = [];
  const failures: string[] = [];
  const members: Member[] = [];
  let names = 0;
  const add = (roles: Role[], way = proxy): Member => {
    names += 1;
    const orders = { url: urlOf(way), folder, roles, webhooks, name: `m${names}`, seed: SEED + names };
    const member = new Member(orders, {
      onAccepted: (jobId) => accepted.push(jobId),
      onFailed: (error) => failures.push(error),
    });
    members.push(member);
    return member;
  };
  t.teardown(() => Promise.all(members.map((member) => member.end('SIGKILL'))));
  const cutOff = add(WORKER, distant);
  await Promise.all([
    cutOff.started,
    ...[FRONT, FRONT, FRONT, WORKER, WORKER].map((roles) => add(roles).started),
  ]);

  const killOne = async (roles: Role[]): Promise<void> => {
    const killed = any(members.filter((member) => member.roles === roles && !member.isDisturbed));
    members.splice(members.indexOf(killed), 1);
    await killed.end('SIGKILL');
    add(roles);
  };
  const freezeOne = async (roles: Role[]): Promise<void> => {
    const frozen = any(members.filter((member) => member.roles === roles && !member.isDisturbed));
    frozen.freeze();
    await delay(FROZEN_MS);
    frozen.thaw();
  };
  const stallOne = async (): Promise<void> => {
    cutOff.isDisturbed = true;
    distant.stall();
    await delay(FROZEN_MS);
    distant.resume();
    cutOff.isDisturbed = false;
  };
  const begunMs = performance.now();
  const faults: Promise<unknown>[] = [];
  const at = (share: number, fault: () => unknown) => void faults.push(delay(share * FAULTS_MS).then(fault));
  at(0.01, stallOne);
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
    distant.targetPort = replica.port;
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

  await comesToRest(storage);
  const deliveries = await untilBegun(storage);
  await Promise.all(members.map((member) => member.end('stop')));

  t.ok(accepted.length > 20, 'jobs were accepted');
  t.same(failures, [], 'a failed enqueue is one of the storage');
  await nothingIsLost(t, { storage, ledger, folder, accepted, deliveries, received: receiver.received });
});
