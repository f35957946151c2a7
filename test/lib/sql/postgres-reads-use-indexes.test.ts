import pg from 'pg';
import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { PostgresDatabase } from '../../../lib/databases/postgres/postgres-database.ts';
import { POSTGRES_SCHEMA } from '../../../lib/sql/postgres/schema.ts';
import { SqlAccountStore } from '../../../lib/sql/sql-account-store.ts';
import { SqlKeyStore } from '../../../lib/sql/sql-key-store.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { recording, runQueries } from '../../fixtures/all-queries.ts';
import { newSchema, serverUrl } from '../../fixtures/postgres/database.ts';

/** The sums over all owners with jobs, which are few. */
const TOTALS = / AS owners FROM turns$/;

t.test('queries of the service use indexes and scan no table', async (t) => {
  const [url, schema] = [await serverUrl(), newSchema()];
  const { database, texts } = recording(
    new PostgresDatabase(url, POSTGRES_SCHEMA, { schema, clock: systemClock, random: systemRandom }),
  );
  const storage = new SqlStorage(database, systemRandom);
  await storage.start();
  t.teardown(() => storage.stop());
  await runQueries(database, storage);
  const precedenceOf = () => ({ yields: false, inGoodStanding: true });
  const claim = {
    lease: { nowMs: 1, lapsesAtMs: 2 },
    wanted: () => ({ most: 1, mostOfOthers: 1 }),
    maxRunningPerOwner: 1,
    maySuspect: true,
    precedenceOf,
    changed: ['a'],
  };
  await storage.transaction(async (tx) => {
    await storage.queue.assertCapacity(tx, 'a', { maxQueued: 1, maxQueuedPerOwner: 1 });
    await storage.queue.claim(tx, 'w', claim);
    await storage.deliveries.getUnlocked('d', tx);
  });
  await storage.queue.state();
  const keys = new SqlKeyStore(database);
  await keys.listKeys();
  await keys.listKeys({ accountId: 'a', liveAtMs: 1 });
  await keys.findKeyByHash('h');
  const accounts = new SqlAccountStore(database);
  await accounts.listAccounts();
  await accounts.listAccounts({ text: 'a' });
  await accounts.findAccountByEmail('a');
  await accounts.findAccountByIdentity({ issuer: 'https://id.example.org', subject: 'a' });

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  // The tables are empty: then a scan is the best plan, unless it is ruled out where there is another.
  await client.query(
    `SET search_path TO ${schema}; SET enable_seqscan TO off; SET plan_cache_mode TO force_generic_plan`,
  );
  let count = 0;
  for (const text of texts) {
    let parameters = 0;
    const numbered = text.replaceAll('?', () => `$${++parameters}`);
    await client.query(`PREPARE q${++count} AS ${numbered}`);
    const values = Array.from({ length: parameters }, () => 'NULL');
    const execute = `EXPLAIN EXECUTE q${count}${parameters > 0 ? `(${values})` : ''}`;
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(execute);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const scans = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table = '']) => table);
    t.same(scans, TOTALS.test(text) ? ['turns'] : [], `${text.slice(-120)}\n${plan}`);
    if (text.includes('AND artifacts_removed_at_ms IS NULL')) t.match(plan, 'using jobs_with_artifacts');
    if (/FROM deliveries WHERE .*due_at_ms IS NOT NULL/.test(text) && !text.includes('RECURSIVE'))
      t.notMatch(plan, /Sort/);
    if (text.includes('RECURSIVE'))
      t.match(plan, /Limit.*\n.*Index Only Scan using (unfinished_by_host|pending_of_owner)/);
  }
  t.ok(count > 50);
});
