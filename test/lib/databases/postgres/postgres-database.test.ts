import t, { type Test } from 'tap';
import { StoredLedger } from '../../../../lib/ledger/stored-ledger.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import { type PostgresOptions, type PostgresStorage, postgres } from '../../../../lib/postgres/index.ts';
import { POSTGRES_SCHEMA } from '../../../../lib/sql/postgres/schema.ts';
import type { SqlTransaction } from '../../../../lib/storage/sql.ts';
import type { Transaction } from '../../../../lib/storage/transaction.ts';
import { claimJob } from '../../../fixtures/claims.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { newSchema, openPostgres, run, serverUrl } from '../../../fixtures/postgres/database.ts';
import { CuttingProxy, panic } from '../../../fixtures/postgres/proxy.ts';
import { REFUSED_STATEMENTS } from '../../../fixtures/refused-statements.ts';
import { until } from '../../../fixtures/until.ts';

async function open(t: Test, options: PostgresOptions = {}) {
  const storage = await openPostgres(t, options);
  return {
    storage,
    ...helpersOf(storage),
    sql: <Row extends object>(text: string) => run<Row>(text, storage),
  };
}

function helpersOf(storage: PostgresStorage) {
  const insert = (job: JobRecord, source = 'x') =>
    storage.transaction((tx) => storage.insertJob(tx, job, source));
  const transaction = <T>(work: (tx: SqlTransaction & Transaction) => Promise<T>) =>
    storage.transaction((tx) => work(tx as SqlTransaction));
  return { insert, transaction };
}

const raise = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`;
const KILL = 'SELECT pg_terminate_backend(pg_backend_pid())';

for (const [what, statement] of Object.entries({
  'a serialization failure': raise('40001'),
  'a deadlock': raise('40P01'),
  'a killed connection': KILL,
})) {
  t.test(`a transaction is run again after ${what}`, async (t) => {
    const { storage, transaction } = await open(t);
    let runs = 0;
    await transaction(async (tx) => {
      runs += 1;
      await storage.insertJob(tx, jobRecord('1'), 'x');
      if (runs < 3) await tx.all(statement);
    });
    t.equal(runs, 3);
    t.equal((await storage.getJob('1'))?.jobId, '1');
  });
}

t.test('a conflict that does not end is reported', async (t) => {
  const { transaction } = await open(t);
  const failing = transaction((tx) => tx.all(raise('40001')));
  await t.rejects(failing, { code: 'storage_failed', message: /^Nothing was changed/ });
});

t.test('transactions that wait for each other’s rows both commit', async (t) => {
  const { storage, insert } = await open(t);
  await insert(jobRecord('1'));
  await insert(jobRecord('2'));
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = async (ids: string[], mine: PromiseWithResolvers<void>, other: PromiseWithResolvers<void>) =>
    storage.transaction(async (tx) => {
      for (const id of ids) {
        const job = (await storage.getJob(id, tx)) as JobRecord;
        await storage.updateJob(tx, { ...job, attempts: job.attempts + 1 });
        mine.resolve();
        await other.promise;
      }
    });
  await Promise.all([change(['1', '2'], first, second), change(['2', '1'], second, first)]);
  t.same([(await storage.getJob('1'))?.attempts, (await storage.getJob('2'))?.attempts], [2, 2]);
});

t.test('the server does not wait long for a process that takes no answers', async (t) => {
  const { transaction } = await open(t);
  const [row] = await transaction((tx) => tx.all('SHOW tcp_user_timeout'));
  t.same(row, { tcp_user_timeout: '20000' });
});

t.test('an urgent transaction does not wait until others return their connections', async (t) => {
  const { storage, insert } = await open(t);
  const hold = Promise.withResolvers<void>();
  const held = Array.from({ length: 20 }, () => storage.transaction(() => hold.promise));
  const urgent = (jobId: string) =>
    storage.transaction((tx) => storage.insertJob(tx, jobRecord(jobId), 'x'), { isUrgent: true });
  await Promise.all(['1', '2', '3'].map(urgent));
  t.equal(await storage.lead?.('task', 'me', 1_000), true);
  hold.resolve();
  await Promise.all(held);
  await Promise.all(['4', '5', '6'].map(urgent));
  await insert(jobRecord('7'));
  t.equal((await storage.listJobs({})).length, 7);
});

t.test('with the fewest connections, urgent transactions wait like others', async (t) => {
  const { storage } = await open(t, { maxConnections: 2 });
  await storage.transaction((tx) => storage.insertJob(tx, jobRecord('1'), 'x'), { isUrgent: true });
  t.equal((await storage.getJob('1'))?.jobId, '1');
});

t.test('a transaction knows the time of the server at its beginning', async (t) => {
  const { storage, transaction } = await open(t);
  const [row] = await transaction(async (tx) => {
    const nowMs = await storage.nowMs?.(tx);
    await tx.all('SELECT pg_sleep(0.01)');
    return tx.all<{ late: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ?::bigint AS late',
      nowMs as number,
    );
  });
  t.ok(row && row.late >= 9 && row.late < 10_000, `${row?.late} ms later`);
});

t.test('an error of the work is not repeated, whatever it looks like', async (t) => {
  const { storage } = await open(t);
  for (const code of ['40001', 'ECONNREFUSED']) {
    let runs = 0;
    const error = Object.assign(new Error('of another service'), { code });
    const failing = storage.transaction(async () => {
      runs += 1;
      throw error;
    });
    t.equal(await failing.catch((error: unknown) => error), error);
    t.equal(runs, 1);
  }
});

t.test('a transaction that ignores a failed statement fails', async (t) => {
  const { storage, transaction } = await open(t);
  const ignoring = transaction(async (tx) => {
    await storage.insertJob(tx, jobRecord('1'), 'x');
    await tx.run("UPDATE jobs SET phase = 'lost'").catch(() => {});
  });
  await t.rejects(ignoring, { code: '23514' });
  t.equal(await storage.getJob('1'), undefined);
});

t.test('statements of a transaction that are not awaited run in their order', async (t) => {
  const { storage, transaction } = await open(t);
  await transaction(async (tx) => {
    void storage.insertJob(tx, jobRecord('1'), 'x');
    const all = await Promise.all(['1', '1'].map((id) => storage.getJob(id, tx)));
    t.equal(all.length, 2);
    await storage.insertJob(tx, jobRecord('2'), 'y');
  });
  t.equal(await storage.readSource('2'), 'y');
});

t.test('reads continue on new connections', async (t) => {
  const { storage, insert } = await open(t, { applicationName: 'killed' });
  await insert(jobRecord('1'));
  const read = () => Promise.all(Array.from({ length: 5 }, () => storage.getJob('1')));
  await read();
  await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'killed'");
  t.equal((await read()).length, 5);
});

for (const [what, lastWords] of Object.entries({
  'is lost': undefined,
  'is an error of the disk': panic('58030'),
  'is a full disk': panic('53100'),
})) {
  t.test(`a commit whose answer ${what} counts, and is not repeated`, async (t) => {
    const { proxy, url } = await CuttingProxy.open(t, await serverUrl());
    const storage = postgres(url, { schema: newSchema() });
    await storage.start();
    t.teardown(() => storage.stop());
    const { insert } = helpersOf(storage);
    await insert(jobRecord('1'));
    proxy.lastWords = lastWords;
    proxy.cutAfterCompletionOf = 'COMMIT';
    let runs = 0;
    await storage.transaction(async (tx) => {
      runs += 1;
      await storage.insertJob(tx, jobRecord('2'), 'x');
    });
    t.equal(proxy.cutAfterCompletionOf, undefined, 'it was cut');
    t.equal(runs, 1);
    t.equal((await storage.getJob('2'))?.jobId, '2');
  });
}

t.test('a full disk is known until there is space again', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const { storage, insert, sql } = await open(t, { clock });
  t.notOk(storage.isFull);
  await sql(`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`);
  await sql('CREATE TRIGGER fill BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION fill()');
  await sql(`CREATE TRIGGER fill BEFORE INSERT ON confirmations FOR EACH ROW
    WHEN (length(NEW.nonce) > 100000) EXECUTE FUNCTION fill()`);
  await t.rejects(insert(jobRecord('1')), { code: 'storage_full', message: /disk of Postgres is full/ });
  t.ok(storage.isFull);
  clock.advance(5_000);
  await sql('DROP TRIGGER fill ON jobs');
  await insert(jobRecord('1'));
  t.ok(storage.isFull, 'small writes succeed on a full disk');
  await sql('DROP TRIGGER fill ON confirmations');
  await until(async () => {
    clock.advance(5_000);
    return !storage.isFull;
  });
  t.same(await sql("SELECT slot FROM confirmations WHERE slot LIKE 'trial%'"), []);
});

t.test('a commit that a lost connection prevents is repeated', async (t) => {
  const { storage, insert, sql } = await open(t);
  await sql('CREATE SEQUENCE commits');
  await sql(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN IF nextval('commits') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$`);
  await sql(`CREATE CONSTRAINT TRIGGER die AFTER INSERT ON jobs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION die()`);
  await insert(jobRecord('1'));
  t.equal((await storage.getJob('1'))?.jobId, '1');
  t.same(await sql('SELECT last_value::int AS commits FROM commits'), [{ commits: 2 }]);
});

t.test('a job that another transaction is forgetting can be read', async (t) => {
  const { storage, insert } = await open(t);
  const job = jobRecord('1', { phase: 'completed', metadataJson: '"secret"' });
  await insert(job);
  const forgotten = { ...job, metadataJson: null, forgottenAtMs: 5 };
  let reading: Promise<JobRecord | undefined> | undefined;
  await storage.transaction(async (tx) => {
    await storage.forgetJob(tx, forgotten);
    reading = storage.transaction((tx) => storage.getJob('1', tx));
    await isWaiting(storage.schema);
  });
  t.same(await reading, forgotten);
});

t.test('a text with a NUL, which Postgres does not store, is refused', async (t) => {
  const { storage } = await open(t);
  await t.rejects(storage.getJob('a\0b'), { code: 'invalid_request', message: /NUL/ });
  await t.rejects(storage.accountStore.findAccountByEmail('\0@example.org'), { code: 'invalid_request' });
});

/** Resolves when a statement waits for a lock. */
async function isWaiting(schema: string): Promise<void> {
  for (;;) {
    const waiting = await run(
      `SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
       WHERE NOT l.granted AND a.application_name = 'scenepress' AND a.query LIKE '%jobs%'`,
      { schema },
    );
    if (waiting.length > 0) return;
  }
}

t.test('processes that start at the same time migrate one after the other', async (t) => {
  const schema = newSchema();
  const [one, other] = await Promise.all([openPostgres(t, { schema }), openPostgres(t, { schema })]);
  const applied = await run('SELECT version::int FROM migrations ORDER BY version', { schema });
  t.same(
    applied,
    Array.from({ length: POSTGRES_SCHEMA.version }, (_, index) => ({ version: index + 1 })),
  );
  await helpersOf(one).insert(jobRecord('1'));
  t.equal((await other.getJob('1'))?.jobId, '1');
});

t.test('data of a newer version is rejected', async (t) => {
  const { storage, sql } = await open(t);
  await storage.stop();
  await sql('INSERT INTO migrations (version, compatible_from, checksum) VALUES (99, 99, 7)');
  await t.rejects(storage.start(), { code: 'conflict', message: /another version .*schema 99,/ });
  await t.rejects(storage.getJob('1'), { code: 'not_running' });
});

t.test('a role that may not create tables uses those that exist', async (t) => {
  const { storage, insert, sql } = await open(t);
  await insert(jobRecord('1'));
  const { schema } = storage;
  await sql(`CREATE ROLE ${schema} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${schema};
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`);
  const reader = postgres((await serverUrl()).replace('postgres@', `${schema}@`), { schema });
  await reader.start();
  t.teardown(() => reader.stop());
  t.equal((await reader.getJob('1'))?.jobId, '1');
  await t.rejects(helpersOf(reader).insert(jobRecord('2')), {
    code: 'storage_failed',
    message: /permission denied/,
  });
});

t.test('constraints reject statements that break invariants', async (t) => {
  const { storage, insert, sql } = await open(t);
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  await ledger.grantPaid('a', 100);
  await ledger.reserve({ jobId: '1', owner: 'a', amountCredits: 10 });
  await ledger.settle({ jobId: '1', owner: 'a', amountCredits: 10 });
  await insert(jobRecord('1', { phase: 'completed', reserveCredits: 10, creditsCost: 10 }));
  await insert(jobRecord('2', { reserveCredits: 0 }));
  await insert(jobRecord('3', { reserveCredits: 0 }));
  const precedence = { yields: false, inGoodStanding: true };
  for (const jobId of ['2', '3'])
    await storage.transaction((tx) => storage.queue.admit(tx, { jobId, owner: 'a', precedence }));
  t.match(await claimJob(storage, '3'), { claim: { token: 1 } });
  await storage.accountStore.insertAccount({ accountId: 'a', email: 'a@example.org', createdAtMs: 1 });
  await storage.actStore.appendAct({
    actId: '1',
    atMs: 1,
    actor: 'a',
    action: 'x',
    subject: null,
    address: null,
  });
  const refused = {
    ...REFUSED_STATEMENTS,
    'a second account with an address':
      "INSERT INTO accounts SELECT 'b', 'A@example.org', created_at_ms, NULL, NULL, NULL, NULL, NULL, checksum, address FROM accounts",
    'an account removed': 'DELETE FROM accounts',
    'an act changed': "UPDATE acts SET action = 'y'",
    'an act removed': 'DELETE FROM acts',
    'a text key replaced': "UPDATE text_keys SET content = decode(repeat('01', 32), 'hex')",
    'an owner with jobs removed from the turns': 'DELETE FROM turns',
    'all entries removed': 'TRUNCATE ledger_entries CASCADE',
    'all jobs removed': 'TRUNCATE jobs CASCADE',
    'the queue emptied': 'TRUNCATE queue CASCADE',
  };
  for (const [what, statement] of Object.entries(refused)) {
    const error = await sql(statement).then(
      () => ({ code: 'none' }),
      (error: { code: string }) => error,
    );
    t.match(error.code, /^23/, what);
  }
  t.same((await ledger.audit()).problems, []);
});

t.test('a stop waits for transactions and tasks', async (t) => {
  const { storage } = await open(t);
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inserting = storage.transaction(async (tx) => {
    begun.resolve();
    await gate.promise;
    await storage.insertJob(tx, jobRecord('1'), 'x');
  });
  const task = storage.alone('task', () => gate.promise.then(() => 'done'));
  await begun.promise;
  const stopping = storage.stop();
  await t.rejects(storage.getJob('1'), { code: 'not_running' });
  gate.resolve();
  await Promise.all([inserting, stopping]);
  t.equal(await task, 'done');
  await storage.start();
  t.equal((await storage.getJob('1'))?.jobId, '1');
});

t.test('a pool that stays full is reported', async (t) => {
  const { storage, insert } = await open(t, { maxConnections: 2, connectTimeoutMs: 1_000, retryForMs: 0 });
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holding = storage.transaction(async () => {
    begun.resolve();
    await gate.promise;
  });
  await begun.promise;
  await t.rejects(insert(jobRecord('1')), { code: 'storage_failed', message: /timeout/ });
  const waiting = insert(jobRecord('2'));
  gate.resolve();
  await Promise.all([holding, waiting]);
});

t.test('transactions that use all connections can read outside of them', async (t) => {
  const { storage, insert } = await open(t, { maxConnections: 3 });
  await insert(jobRecord('1'));
  const reading = () => storage.transaction(() => storage.getJob('1'));
  t.equal((await Promise.all(Array.from({ length: 10 }, reading))).length, 10);
});

t.test('a statement that takes too long is ended, except in the background', async (t) => {
  const { storage, transaction } = await open(t, { statementTimeoutMs: 100 });
  const sleeping = transaction((tx) => tx.all('SELECT pg_sleep(10)'));
  await t.rejects(sleeping, { code: 'storage_failed', message: /^Nothing was changed.*statement timeout/ });
  const report = await storage.ledgerStore.audit();
  t.same(report.problems, []);
});

t.test('commits are durable, whatever the database’s default is', async (t) => {
  const url = `${await serverUrl()}?options=-c%20synchronous_commit%3Doff%20-c%20search_path%3Dpublic`;
  const storage = postgres(url, { schema: newSchema() });
  await storage.start();
  t.teardown(() => storage.stop());
  const show = (tx: Transaction) => (tx as SqlTransaction).get('SHOW synchronous_commit');
  t.same(await storage.transaction(show), { synchronous_commit: 'on' });
});

t.test('a server that cannot be reached is reported, without the password', async (t) => {
  const storage = postgres('postgres://ada:secret@127.0.0.1:1/none', { retryForMs: 0 });
  const error = await storage.start().catch((error: Error) => error);
  t.match(error, {
    code: 'storage_failed',
    message: /^Nothing was changed: the connection to Postgres failed/,
  });
  t.notMatch(JSON.stringify(error), /secret/);
  t.throws(() => postgres('https://ada:secret@example.org'), {
    message: 'a URL that starts with postgres://',
  });
});
