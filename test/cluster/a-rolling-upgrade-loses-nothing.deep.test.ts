// Two processes that accept jobs all the time and two that render, each replaced while the others work. In the middle, the
// first process of a newer version changes the tables in a way that the programs before understand.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type Role, StoredLedger } from '../../lib/index.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { Member, OWNERS } from '../fixtures/cluster.ts';
import { comesToRest, nothingIsLost, untilBegun } from '../fixtures/cluster-outcome.ts';
import { openPostgres, run, serverUrl } from '../fixtures/postgres/database.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const FRONT: Role[] = ['api', 'sender', 'upkeep'];
const WORKER: Role[] = ['worker'];
/** Accepted between two replacements. */
const JOBS_BETWEEN = 10;
const NEWER = `ALTER TABLE jobs ADD COLUMN added_later bigint;
  INSERT INTO migrations (version, compatible_from, checksum)
  SELECT max(version) + 1, max(version), 0 FROM migrations`;

t.test('members that are replaced one by one, some after a migration, lose and repeat no job', async (t) => {
  t.comment(`SEED=${SEED}`);
  const folder = testFolder(t);
  const authority = new TestAuthority(folder);
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const webhooks = { url: `https://127.0.0.1:${receiver.port}/`, ca: authority.ca };
  const storage = await openPostgres(t);
  const { schema } = storage;
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  for (const owner of OWNERS) await ledger.grantPaid(owner, 1_000_000);
  const url = await serverUrl();

  const accepted: string[] = [];
  const failures: string[] = [];
  const members: Member[] = [];
  const add = async (roles: Role[]): Promise<void> => {
    const name = `m${members.length}`;
    const orders = { url, schema, folder, roles, webhooks, name, seed: SEED + members.length };
    const member = new Member(orders, {
      onAccepted: (jobId) => accepted.push(jobId),
      onFailed: (error) => failures.push(error),
    });
    members.push(member);
    await member.started;
  };
  t.teardown(() => Promise.all(members.map((member) => member.end('SIGKILL'))));
  const roles = [FRONT, WORKER, FRONT, WORKER];
  await Promise.all(roles.map(add));
  const end = async (member: Member): Promise<void> => {
    member.ask('quiet');
    await member.quiet;
    await member.end('stop');
  };

  for (const [i, member] of [...members].entries()) {
    const before = accepted.length;
    while (accepted.length < before + JOBS_BETWEEN) await delay(20);
    if (i === roles.length / 2) await run(NEWER, { schema });
    await end(member);
    await add(member.roles);
  }
  const running = members.slice(roles.length);
  const before = accepted.length;
  while (accepted.length < before + JOBS_BETWEEN) await delay(20);
  for (const member of running) member.ask('quiet');
  await Promise.all(running.map(({ quiet }) => quiet));
  await comesToRest(storage);
  const deliveries = await untilBegun(storage);
  await Promise.all(running.map(end));

  t.same(failures, [], 'no enqueue fails');
  await nothingIsLost(t, { storage, ledger, folder, accepted, deliveries, received: receiver.received });
  const [again] = await run<{ jobs: string }>(
    'SELECT count(*) AS jobs FROM jobs WHERE attempts > 1 OR interruptions > 0',
    { schema },
  );
  t.equal(Number(again?.jobs), 0, 'interrupted renders do not count');
});
