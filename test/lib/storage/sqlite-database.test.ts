import { fstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { OneAtATime } from '../../../lib/async/one-at-a-time.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import type { Connection } from '../../../lib/databases/sqlite/connection.ts';
import { openInBackground } from '../../../lib/databases/sqlite/connection.ts';
import type { Flush, SqliteDatabaseOptions } from '../../../lib/databases/sqlite/options.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { WriteAheadLog } from '../../../lib/databases/sqlite/write-ahead-log.ts';
import { StoredLedger } from '../../../lib/ledger/stored-ledger.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import { JOBS } from '../../../lib/sql/row-formats.ts';
import { SqlLedgerStore } from '../../../lib/sql/sql-ledger-store.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import { pagesOfJobs } from '../../../lib/storage/pages-of-jobs.ts';
import type { SqlValue } from '../../../lib/storage/sql.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { claimJob } from '../../fixtures/claims.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { REFUSED_STATEMENTS } from '../../fixtures/refused-statements.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

async function open(
  t: Test,
  options: Partial<SqliteDatabaseOptions> = {},
  path = join(testFolder(t), 'database.sqlite'),
) {
  const database = new SqliteDatabase(path, SQLITE_SCHEMA, { clock: systemClock, ...options });
  const storage = new SqlStorage(database, systemRandom);
  await storage.start();
  t.teardown(() => storage.stop());
  const insert = (job: JobRecord, source = 'x') =>
    storage.transaction((tx) => storage.insertJob(tx, job, source));
  return { database, storage, path, insert };
}

t.test('concurrent transactions share a flush', async (t) => {
  const flushes: Flush[] = [];
  const { insert, storage } = await open(t, { onFlush: (flush) => flushes.push(flush) });
  await Promise.all(Array.from({ length: 20 }, (_, i) => insert(jobRecord(`${i}`))));
  await storage.stop();
  t.same(
    flushes.map(({ commits }) => commits),
    [20],
  );
});

t.test('whether it may write is asked before each group of transactions', async (t) => {
  let asked = 0;
  let isRefused = false;
  const assertWritable = () => {
    asked += 1;
    if (isRefused) throw new Error('the folder was moved');
  };
  const { insert, storage } = await open(t, { assertWritable });
  const insertTwenty = (at: number) =>
    Promise.allSettled(Array.from({ length: 20 }, (_, i) => insert(jobRecord(`${at + i}`))));
  await insertTwenty(0);
  t.equal(asked, 1);
  isRefused = true;
  for (const { status } of await insertTwenty(20)) t.equal(status, 'rejected');
  isRefused = false;
  await insertTwenty(40);
  t.same(await storage.countJobs({ after: '' }), { queued: 40, running: 0, completed: 0, failed: 0 });
});

t.test('changes that are not durable are visible to later transactions only', async (t) => {
  let hold = Promise.resolve();
  const { insert, storage } = await open(t, { flushFile: () => hold });
  await insert(jobRecord('1'));
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  let isDurable = false;
  const inserting = insert(jobRecord('2')).then(() => {
    isDurable = true;
  });
  // The next transaction runs during the flush of the previous one.
  const seen = new Promise((seen) => {
    void storage.transaction(async (tx) => seen(await storage.getJob('2', tx)));
  });
  t.match(await seen, { jobId: '2' });
  t.equal(await storage.getJob('2'), undefined);
  t.same(
    (await storage.listJobs({})).map(({ jobId }) => jobId),
    ['1'],
  );
  t.notOk(isDurable);
  resolve();
  await inserting;
  t.match(await storage.getJob('2'), { jobId: '2' });
});

t.test('a change of a job becomes visible when it is durable, however often the job is read', async (t) => {
  const { insert, storage } = await open(t, { flushFile: () => new Promise(setImmediate) });
  const job = jobRecord('1', { attempts: 0 });
  await insert(job);
  let isOver = false;
  const reading = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) {
        await storage.getJob('1');
        await new Promise(setImmediate);
      }
    }),
  );
  for (let attempts = 1; attempts <= 200; attempts++) {
    const seen: unknown[] = [];
    const changing = storage.transaction(async (tx) => {
      await storage.updateJob(tx, { ...job, attempts });
      seen.push(storage.getJob('1'));
    });
    await changing;
    t.match(await storage.getJob('1'), { attempts });
    t.match(await Promise.all(seen), [{ attempts: attempts - 1 }]);
  }
  isOver = true;
  await reading;
});

t.test('when a flush fails, transactions that wait for it fail', async (t) => {
  const fatal: Error[] = [];
  let fails = false;
  const { insert, storage } = await open(t, {
    flushFile: async () => {
      if (fails) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    },
    onFatal: (error) => fatal.push(error),
  });
  await insert(jobRecord('1'));
  fails = true;
  await t.rejects(insert(jobRecord('2')), { code: 'storage_failed', cause: { code: 'EIO' } });
  t.match(fatal, [{ message: /the on-disk state is unknown/ }]);
  t.equal(await storage.getJob('2'), undefined);
  fails = false;
});

t.test('a log left by an earlier process is rewritten before it is used', async (t) => {
  const path = join(testFolder(t, { 'database.sqlite-wal': 'commits' }), 'database.sqlite');
  const before = statSync(`${path}-wal`);
  await new WriteAheadLog(path).rewrite();
  const after = statSync(`${path}-wal`);
  t.not(after.ino, before.ino, 'it is a new file');
  t.equal(readFileSync(`${path}-wal`, 'utf8'), 'commits');
});

t.test('the log is overwritten while transactions commit, and truncated by a purge', async (t) => {
  const { insert, storage, path } = await open(t, { checkpointAfterBytes: 256 * 1024 });
  await storage.purge(); // Starts the checkpoint thread.
  const logBytes = () => statSync(`${path}-wal`).size;
  t.equal(logBytes(), 0);
  const jobs = 1000;
  for (let job = 0; job < jobs; job++) await insert(jobRecord(`${job}`), 'x'.repeat(10_000));
  t.ok(logBytes() > 256 * 1024 && logBytes() < jobs * 10_000 * 0.5, `${logBytes()} bytes`);
  await storage.purge();
  t.equal(logBytes(), 0);
  t.equal((await storage.listJobs({ limit: 10_000 })).length, jobs);
});

/** As a thread: one task at a time. Queries keep their snapshot until `end` is called. */
function heldQueries(path: string) {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const background = () => {
    const line = new OneAtATime();
    let connection: Connection | undefined;
    return {
      all: <Row extends object>(text: string, ...values: SqlValue[]) =>
        line.run(async () => {
          connection ??= openInBackground(path);
          if (!text.startsWith('SELECT')) return connection.all<Row>(text, values);
          const reader = new DatabaseSync(path, { readOnly: true });
          reader.exec('BEGIN');
          const rows = reader.prepare(text).all() as Row[];
          begun.resolve();
          await held.promise;
          reader.close();
          return rows;
        }),
      stop: async () => connection?.close(),
    };
  };
  return { background, begun: begun.promise, end: () => held.resolve() };
}

t.test('a purge beside a long query does not hold commits', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  const { background, begun, end } = heldQueries(path);
  const { database, storage, insert } = await open(t, { background }, path);
  await insert(jobRecord('1'));
  const query = database.queryInBackground('SELECT job_id FROM jobs');
  await begun;
  let isPurged = false;
  const purge = storage.purge().then(() => {
    isPurged = true;
  });
  const later = database.queryInBackground('SELECT job_id FROM jobs');
  await insert(jobRecord('2'));
  t.match(await storage.getJob('2'), { jobId: '2' });
  t.notOk(isPurged);
  end();
  t.match(await query, { length: 1 });
  await purge;
  t.equal(statSync(`${path}-wal`).size, 0);
  t.match(await later, { length: 2 });
});

t.test('a checkpoint that is due beside a long query does not hold commits', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  const { background, begun, end } = heldQueries(path);
  let onFlush = () => {};
  const flushFile = async () => onFlush();
  const options = { background, flushFile, checkpointAfterBytes: 64 * 1024 };
  const { database, insert } = await open(t, options, path);
  await insert(jobRecord('first'));
  const query = database.queryInBackground('SELECT job_id FROM jobs');
  await begun;
  for (let i = 0; i < 20; i++) await insert(jobRecord(`${i}`), 'x'.repeat(10_000));
  const { size } = statSync(`${path}-wal`);
  t.ok(size > 3 * 64 * 1024);
  // Without commits, only a checkpoint flushes the log.
  const emptied = new Promise<void>((resolve) => {
    onFlush = resolve;
  });
  end();
  await query;
  await emptied;
  await insert(jobRecord('last'), 'x'.repeat(10_000));
  t.equal(statSync(`${path}-wal`).size, size, 'the log is overwritten');
});

t.test('a log that grew during a long query is truncated by the next checkpoint', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  const { background, begun, end } = heldQueries(path);
  const emptied = Promise.withResolvers<void>();
  const flushFile = async (descriptor: number) => {
    if (fstatSync(descriptor).size === 0) emptied.resolve();
  };
  const { database, insert } = await open(
    t,
    { background, flushFile, checkpointAfterBytes: 64 * 1024 },
    path,
  );
  await insert(jobRecord('first'));
  const query = database.queryInBackground('SELECT job_id FROM jobs');
  await begun;
  for (let i = 0; i < 10; i++) await insert(jobRecord(`${i}`), 'x'.repeat(7_000_000));
  end();
  await query;
  await emptied.promise;
});

t.test('keys of forgotten texts are removed from all files', async (t) => {
  const { database, insert, storage, path } = await open(t);
  const random = seededRandom(7);
  // Random ids and text sizes split pages and move rows.
  const ids = Array.from({ length: 1500 }, () => `job-${Math.floor(random() * 1e15)}`);
  const add = (id: string) =>
    insert(
      jobRecord(id, { phase: 'completed', metadataJson: 'm'.repeat(random() * 900) }),
      'code '.repeat(random() * 600),
    );
  const forget = (jobId: string) =>
    storage.transaction((tx) =>
      storage.forgetJob(tx, jobRecord(jobId, { phase: 'completed', className: '', forgottenAtMs: 1 })),
    );
  const forgotten = ids.filter((_, index) => index % 3 === 0);
  await Promise.all(ids.slice(0, 1000).map(add));
  const rows = await database.all<{ job_id: string; text_key: Uint8Array }>(
    `SELECT job_id, ${JOBS.textKey} FROM jobs`,
  );
  const keys = new Map(rows.map(({ job_id: id, text_key: key }) => [id, Buffer.from(key)]));
  const kept = ids.slice(0, 1000).find((id) => !forgotten.includes(id)) as string;
  const files = () => readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name)));
  const isThere = (id: string) => files().some((bytes) => bytes.includes(keys.get(id) as Buffer));
  t.ok(isThere(forgotten[0] as string));

  const [early, late] = [forgotten.slice(0, 150), forgotten.slice(150)];
  await Promise.all(early.map(forget));
  await Promise.all(ids.slice(1000).map(add));
  await Promise.all(late.map(forget));
  await storage.purge();
  const found = files();
  const left = forgotten.filter(
    (id) => keys.has(id) && found.some((bytes) => bytes.includes(keys.get(id) as Buffer)),
  );
  t.same(left, []);
  t.ok(isThere(kept));
  t.match(await storage.getJob(kept), { jobId: kept });
  t.match(await storage.getJob(early[0] as string), { className: '', forgottenAtMs: 1 });
});

t.test('a purge flushes the truncation of the log', async (t) => {
  const flushedSizes: number[] = [];
  const { insert, storage } = await open(t, {
    flushFile: async (descriptor) => void flushedSizes.push(fstatSync(descriptor).size),
  });
  await insert(jobRecord('1'));
  t.not(flushedSizes.at(-1), 0);
  await storage.purge();
  t.equal(flushedSizes.at(-1), 0);
});

t.test('a program that reads the database does not block commits, but makes a purge fail', async (t) => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
  const { insert, storage, path } = await open(t, { logger, checkpointAfterBytes: 64 * 1024 });
  await insert(jobRecord('first'));
  const other = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => other.close());
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM jobs').get();
  await insert(jobRecord('second'));
  await t.rejects(storage.purge(), { code: 'storage_locked' });
  let longestMs = 0;
  for (let i = 0; i < 40; i++) {
    const startedMs = performance.now();
    await insert(jobRecord(`${i}`), 'x'.repeat(10_000));
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  t.ok(longestMs < 5_000, `a commit took at most ${longestMs.toFixed(0)} ms`);
  t.ok(warnings.length > 0 && warnings.length < 20, `${warnings.length} warnings`);
  other.exec('COMMIT');
  await storage.purge();
  t.equal(statSync(`${path}-wal`).size, 0);
});

t.test('a failing transaction does not affect others in its flush', async (t) => {
  const { insert, storage } = await open(t);
  const results = await Promise.allSettled([
    insert(jobRecord('1')),
    insert(jobRecord('1')),
    insert(jobRecord('2')),
  ]);
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.equal((await storage.listJobs({})).length, 2);
});

t.test('many queued transactions do not block the event loop', async (t) => {
  const { insert } = await open(t);
  const all = Promise.all(Array.from({ length: 2_000 }, (_, i) => insert(jobRecord(`${i}`))));
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 1);
  await all;
  clearInterval(timer);
  t.ok(longestMs > 0, 'timers ran meanwhile');
  t.comment(`blocked for at most ${longestMs.toFixed(1)} ms`);
});

t.test('a handle is valid in its own transaction only', async (t) => {
  const { storage } = await open(t);
  const other = await open(t, {}, join(t.testdirName, 'other.sqlite'));
  let kept: Parameters<Parameters<typeof storage.transaction>[0]>[0] | undefined;
  await storage.transaction(async (tx) => {
    kept = tx;
    await t.rejects(other.storage.insertJob(tx, jobRecord('1'), 'x'), 'in another database');
  });
  await t.rejects(
    storage.insertJob(kept as NonNullable<typeof kept>, jobRecord('1'), 'x'),
    'after the transaction',
  );
});

t.test('data of a newer version is rejected', async (t) => {
  const { storage, path } = await open(t);
  await storage.stop();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 1000; PRAGMA application_id = 1000');
  database.close();
  await t.rejects(storage.start(), { code: 'conflict', message: /another version .*schema 1000,/ });
});

t.test('a changed schema is rejected', async (t) => {
  const { storage, path } = await open(t);
  await storage.stop();
  const bytes = readFileSync(path, 'latin1');
  writeFileSync(path, bytes.replace('remaining_credits >= 0', 'remaining_credits >= 9'), 'latin1');
  await t.rejects(storage.start(), { code: 'storage_damaged', message: /its schema was changed/ });
  writeFileSync(path, bytes, 'latin1');
  await storage.start();
});

t.test('a damaged row is named, and others can be read', async (t) => {
  const { insert, storage, path } = await open(t);
  for (const id of ['1', '2', '3'])
    await insert(jobRecord(id, { owner: `owner-of-${id}` }), `source-of-${id}`);
  await storage.stop();
  const sealed = sealedSourceOf('2', path);
  const altered = Buffer.from(sealed);
  altered[20] = (altered[20] as number) ^ 1;
  const bytes = readFileSync(path);
  altered.copy(bytes, bytes.indexOf(sealed));
  writeFileSync(path, bytes.toString('latin1').replace('owner-of-3', 'owner-of-7'), 'latin1');
  await storage.start();
  await t.rejects(storage.readSource('2'), {
    code: 'storage_damaged',
    message: /row 2 of the table sources/,
  });
  await t.rejects(storage.getJob('3'), { code: 'storage_damaged', message: /row 3 of the table jobs/ });
  t.equal(await storage.readSource('1'), 'source-of-1');
  t.match(await storage.getJob('2'), { jobId: '2' });
});

t.test('a damaged page fails only queries that read it', async (t) => {
  const { database, insert, storage, path } = await open(t);
  const ids = Array.from({ length: 50 }, (_, index) => `${100 + index}`);
  for (const id of ids) await insert(jobRecord(id), `source of ${id}`.repeat(20));
  await storage.stop();
  damageLeafOf('sources', path);
  await storage.start();
  const sources = await Promise.allSettled(ids.map((id) => storage.readSource(id)));
  const lost = ids.filter((_, index) => sources[index]?.status === 'rejected');
  t.ok(lost.length > 0 && lost.length < ids.length, `${lost.length} of ${ids.length} can't be read`);
  const results = await Promise.allSettled([
    insert(jobRecord('before')),
    database.transaction((tx) => tx.get('SELECT texts FROM sources WHERE job_id = ?', lost[0] as string)),
    insert(jobRecord('after')),
  ]);
  t.match(results, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'storage_damaged' } },
    { status: 'fulfilled' },
  ]);
  t.match(await storage.getJob('before'), { jobId: 'before' });
  t.match(await storage.getJob('after'), { jobId: 'after' });
});

function sealedSourceOf(jobId: string, path: string): Buffer {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('SELECT texts FROM sources WHERE job_id = ?').get(jobId);
  database.close();
  return Buffer.from(row?.['texts'] as Uint8Array);
}

function damageLeafOf(table: string, path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const { pageno } = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 1")
    .get(table) as { pageno: number };
  database.close();
  const bytes = readFileSync(path);
  bytes[(pageno - 1) * 4096] = 0xff;
  writeFileSync(path, bytes);
}

/** SQLITE_CONSTRAINT, without the extended bits. */
const CONSTRAINT = 19;

t.test('constraints reject statements that break invariants', async (t) => {
  const { database, storage, insert } = await open(t);
  const store = new SqlLedgerStore(database, storage);
  const ledger = new StoredLedger({ store });
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
  for (const [what, statement] of Object.entries(REFUSED_STATEMENTS)) {
    const doing = database.transaction((tx) => tx.run(statement));
    const error: { errcode?: number } = await doing.then(
      () => ({}),
      (error) => error,
    );
    t.equal((error.errcode ?? 0) & 0xff, CONSTRAINT, what);
  }
  t.same((await ledger.audit()).problems, []);
});

t.test('an integrity check finds rows hidden by a damaged index', async (t) => {
  const { insert, storage, path } = await open(t);
  for (const id of ['1', '2', '3']) await insert(jobRecord(id));
  t.same(await storage.check(), []);
  await storage.stop();
  const plain = new DatabaseSync(path);
  const { rootpage } = plain
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs_in_phase'")
    .get() as { rootpage: number };
  plain.close();
  const bytes = readFileSync(path);
  const entry = bytes.indexOf('queued3', (rootpage - 1) * 4096);
  bytes[entry + 5] = (bytes[entry + 5] as number) ^ 1;
  writeFileSync(path, bytes);
  await storage.start();
  t.same((await storage.unfinishedJobs()).length, 2, 'a job is hidden');
  t.match(await storage.check(), [/missing from index jobs_in_phase/]);
});

t.test('a page in use that is listed as free stops the start', async (t) => {
  const { insert, storage, path } = await open(t);
  for (const id of ['1', '2', '3']) await insert(jobRecord(id, { phase: 'completed' }), 'x'.repeat(50_000));
  await storage.transaction((tx) =>
    storage.forgetJob(tx, jobRecord('1', { phase: 'completed', className: '', forgottenAtMs: 1 })),
  );
  await storage.stop();
  const bytes = readFileSync(path);
  const listAt = (bytes.readUInt32BE(32) - 1) * 4096;
  const leaves = bytes.readUInt32BE(listAt + 4);
  t.ok(leaves > 5, `${leaves} pages are free`);
  for (let bit = 0; bit < 8; bit++) {
    const flipped = Buffer.from(bytes);
    const at = listAt + 8 + 4 * (bit % leaves) + 3;
    flipped[at] = (flipped[at] as number) ^ (1 << bit);
    writeFileSync(path, flipped);
    await t.rejects(storage.start(), { code: 'storage_damaged', message: /free/i });
  }
  writeFileSync(path, bytes);
  await storage.start();
  t.equal((await storage.readSource('2'))?.length, 50_000);
});

t.test('a listing without metadata has that of few jobs in memory', async (t) => {
  const { database, storage, insert } = await open(t);
  await Promise.all(
    Array.from({ length: 250 }, (_, i) => insert(jobRecord(String(1000 + i), { metadataJson: '"m"' }))),
  );
  const reads: number[] = [];
  const all = database.all.bind(database);
  database.all = async <Row extends object>(...query: Parameters<typeof all>) => {
    const rows = (await all(...query)) as Row[];
    reads.push(rows.length);
    return rows;
  };
  const jobs = await storage.listJobs({ metadata: false, limit: 10_000 });
  t.equal(jobs.length, 250);
  t.ok(Math.max(...reads) <= 100);
  reads.length = 0;
  for await (const page of pagesOfJobs(storage, { limit: 100 })) {
    t.ok(page.every(({ metadataJson }) => metadataJson === null));
  }
  t.ok(Math.max(...reads) <= 100);
});
