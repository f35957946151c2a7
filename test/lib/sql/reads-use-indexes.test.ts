import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { StoredLedger } from '../../../lib/ledger/stored-ledger.ts';
import { SqlActStore } from '../../../lib/sql/sql-act-store.ts';
import { SqlKeyUseStore } from '../../../lib/sql/sql-key-use-store.ts';
import { SqlLedgerStore } from '../../../lib/sql/sql-ledger-store.ts';
import { SqlSessionStore } from '../../../lib/sql/sql-session-store.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { LIST_SCHEMA } from '../../../lib/sql/sqlite/list-schema.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import type { SqlTransaction, SqlValue } from '../../../lib/storage/sql.ts';
import { SqliteDatabase } from '../../../lib/storage/sqlite/sqlite-database.ts';
import type { Transaction } from '../../../lib/storage/storage.ts';

/** Subqueries that are computed by the query itself. */
const COMPUTED = / (page|of_pace|due)$/;

/** Records the texts of queries. */
class RecordingDatabase extends SqliteDatabase {
  readonly texts = new Set<string>();

  override all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    this.texts.add(text);
    return super.all<Row>(text, ...values);
  }

  override get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    this.texts.add(text);
    return super.get<Row>(text, ...values);
  }

  override inside(tx: Transaction): SqlTransaction {
    const inside = super.inside(tx);
    return {
      store: inside.store,
      all: (text, ...values) => this.#record(text, () => inside.all(text, ...values)),
      get: (text, ...values) => this.#record(text, () => inside.get(text, ...values)),
      run: (text, ...values) => this.#record(text, () => inside.run(text, ...values)),
      insert: (text, ...values) => this.#record(text, () => inside.insert(text, ...values)),
      allForUpdate: (text, ...values) => this.#record(text, () => inside.allForUpdate(text, ...values)),
      getForUpdate: (text, ...values) => this.#record(text, () => inside.getForUpdate(text, ...values)),
      getUnlocked: (text, ...values) => this.#record(text, () => inside.getUnlocked(text, ...values)),
      lock: (name) => inside.lock(name),
      lockAll: () => inside.lockAll(),
      afterCommit: (listener) => inside.afterCommit(listener),
    };
  }

  #record<T>(text: string, read: () => T): T {
    this.texts.add(text);
    return read();
  }
}

t.test('queries of the service use indexes and scan no table', async (t) => {
  const path = join(t.testdir(), 'database.sqlite');
  const database = new RecordingDatabase(path, SQLITE_SCHEMA);
  const storage = new SqlStorage(database);
  await storage.start();
  t.teardown(() => storage.stop());
  const store = new SqlLedgerStore(database, storage);
  const ledger = new StoredLedger({ store });
  for (const query of [{}, { owner: 'ada' }, { status: 'completed' as const }, { before: 'j' }]) {
    await storage.listJobs(query);
    await storage.listJobs({ ...query, owner: 'ada' });
  }
  for (const status of [undefined, 'failed', 'queued'] as const) {
    await storage.listJobs({ quality: 'high', before: 'k', after: 'a', ...(status && { status }) });
    await storage.listJobs({ quality: 'high', owner: 'ada', ...(status && { status }) });
  }
  await storage.unfinishedJobs();
  await storage.countJobs({ after: 'j' });
  await storage.countJobs({ after: 'j', owner: 'ada' });
  await storage.recentEnds({ after: 'j', limit: 10 });
  await storage.unfinishedJobs({ phases: ['running'] });
  for await (const job of storage.jobsWithArtifacts()) t.fail(job.jobId);
  await storage.readSource('j');
  const page = { reseal: (sealed: string) => sealed, limit: 10 };
  await storage.resealSecrets(page);
  await storage.deliveries.resealSecrets(page);
  for (const query of [{ owner: 'ada' }, { jobId: 'j' }, { before: 'd' }])
    await storage.deliveries.list(query);
  for (const state of ['pending', 'delivered', 'failed'] as const) {
    await storage.deliveries.list({ owner: 'ada', state, before: 'd' });
    await storage.deliveries.list({ keyId: 'k', state, after: 'd' });
    await storage.deliveries.list({ owner: 'ada', keyId: 'k', state });
    if (state !== 'delivered') await storage.deliveries.list({ state, before: 'd' });
  }
  await storage.deliveries.list({ keyId: 'k' });
  await storage.deliveries.listOpen();
  await storage.deliveries.countDue({ nowMs: 1, latestDueMs: 2, limit: 10 });
  await storage.queue.owners({ after: '', limit: 10 });
  await storage.transaction(async (tx) => {
    await storage.getIdempotentRequest('ada', 'key', tx);
    await storage.removeIdempotentRequests(tx, 1);
    await storage.queue.lapsed(tx, { nowMs: 1, most: 10, except: 'w' });
    await store.lastFreePeriod(tx, 'ada', '2026-11');
    await store.findGrant(tx, 'ada', 'g');
  });
  await store.getAccount('ada');
  await store.ownersNotIn('2026-11', 10);
  const acts = new SqlActStore(database);
  for (const query of [{}, { actor: 'ada' }, { before: 'a' }, { actor: 'ada', before: 'a' }])
    await acts.listActs({ ...query, limit: 10 });
  await acts.forgetAddressesOf('ada');
  await new SqlSessionStore(database).getSession('s');
  await new SqlKeyUseStore(database).lastKeyUses(['k']);
  await ledger.statement('ada', {});
  await ledger.charges('ada', { fromMs: 0, untilMs: 1 });

  const reader = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => reader.close());
  let artifacts = '';
  const used = new Set<string>();
  for (const text of database.texts) {
    const plan = reader.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
    const details = plan.map(({ detail }) => detail);
    const scans = details.filter((detail) => /^SCAN \w+$/.test(detail) && !COMPUTED.test(detail));
    t.same(scans, [], text.slice(-120));
    // Of the grants of an account, and of due deliveries, there are few.
    const sorts = details.filter(
      (detail, i) =>
        / B-TREE FOR /.test(detail) &&
        !COMPUTED.test(details[i - 1] ?? '') &&
        !/ FROM (?:grants|due_deliveries) /.test(text),
    );
    t.same(sorts, [], `sorts only computed pages: ${text.slice(-120)}`);
    for (const [, name = ''] of details.join().matchAll(/USING (?:COVERING )?INDEX (\w+)/g)) used.add(name);
    if (text.includes('artifacts_removed_at_ms IS NULL')) artifacts = details.join();
  }
  t.match(artifacts, 'USING INDEX jobs_with_artifacts');
  const ofLists = [...LIST_SCHEMA.matchAll(/CREATE INDEX (\w+)/g)].map(([, name]) => name ?? '');
  t.same(
    ofLists.filter((name) => !used.has(name)),
    [],
    'each index of the lists is used',
  );
});
