import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { PostgresSchema } from '../../../lib/databases/postgres/migrated-schema.ts';
import { PostgresDatabase } from '../../../lib/databases/postgres/postgres-database.ts';
import { SQL_SCHEMAS } from '../../../lib/index.ts';
import { SqlAccountStore } from '../../../lib/sql/sql-account-store.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { newSchema, openPostgres, serverUrl } from '../../fixtures/postgres/database.ts';

/** What the version before identities stored, with its checksum. */
const INSERT = `INSERT INTO accounts (account_id, email, created_at_ms, role, checksum, address)
  VALUES ('acct_1', 'ada@example.org', 1000, 'admin', 1926535997, 'ada@example.org')`;
const ADA = { accountId: 'acct_1', email: 'ada@example.org', createdAtMs: 1000, role: 'admin' } as const;
const IDENTITY = { issuer: 'https://id.example.org', subject: 'ada' };

t.test('an account from before accounts had identities has none, and can get one', async (t) => {
  const schema = newSchema();
  const migrations = SQL_SCHEMAS.postgres.slice(0, 5).map((sql) => ({ sql, compatibleFrom: 1 }));
  const before = new PostgresDatabase(
    await serverUrl(),
    new PostgresSchema({ migrations, purgedTables: [] }),
    { schema, clock: systemClock, random: systemRandom },
  );
  t.teardown(() => before.stop());
  await before.start();
  await before.transaction((tx) => tx.run(INSERT));
  const { database } = await openPostgres(t, { schema });
  const store = new SqlAccountStore(database);
  t.same(await store.findAccountByEmail('ada@example.org'), ADA);
  t.equal(await store.findAccountByIdentity(IDENTITY), undefined);
  await store.changeAccount('acct_1', (account) => ({ ...account, ...IDENTITY }));
  t.same(await store.findAccountByIdentity(IDENTITY), { ...ADA, ...IDENTITY });
  await store.changeAccount('acct_1', () => ADA);
  t.same(await store.getAccount('acct_1'), ADA);
});
