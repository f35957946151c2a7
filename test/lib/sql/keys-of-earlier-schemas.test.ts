import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { PostgresSchema } from '../../../lib/databases/postgres/migrated-schema.ts';
import { PostgresDatabase } from '../../../lib/databases/postgres/postgres-database.ts';
import { Schema } from '../../../lib/databases/sqlite/migrated-schema.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { SQL_SCHEMAS } from '../../../lib/index.ts';
import { KEY_SCOPES } from '../../../lib/keys/key-scopes.ts';
import type { KeyRecord } from '../../../lib/keys/key-store.ts';
import { SqlKeyStore } from '../../../lib/sql/sql-key-store.ts';
import type { SqlDatabase } from '../../../lib/storage/sql.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { newSchema, openPostgres, serverUrl } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const HASH = createHash('sha256').update('key').digest('hex');
/** What the version before stored, with its checksum. */
const INSERT = `INSERT INTO api_keys (key_id, account_id, name, prefix, hash, webhook_url, webhook_secret_sealed,
  created_at_ms, revoked_at_ms, checksum) VALUES ('key_1', 'ada', '"n"', 'svc_live_1234567', '${HASH}', NULL, 'sealed',
  1000, NULL, 2597966133)`;
const KEY: KeyRecord = {
  keyId: 'key_1',
  accountId: 'ada',
  name: 'n',
  prefix: 'svc_live_1234567',
  hash: HASH,
  webhookUrl: null,
  webhookSecretSealed: 'sealed',
  createdAtMs: 1000,
  revokedAtMs: null,
  scopes: KEY_SCOPES,
  expiresAtMs: null,
};

async function assertMigrated(t: Test, database: SqlDatabase): Promise<void> {
  const store = new SqlKeyStore(database);
  t.same(await store.findKeyByHash(HASH), KEY);
  t.same(await store.listKeys({ liveAtMs: Date.now() }), [KEY]);
  const limited: KeyRecord = { ...KEY, scopes: ['check'], expiresAtMs: 5000 };
  await store.changeKey('key_1', () => limited);
  t.same(await store.getKey('key_1'), limited);
  t.same(await store.listKeys({ liveAtMs: 5000 }), []);
}

t.test('a key of SQLite from before keys had scopes is for everything, forever', async (t) => {
  const path = join(testFolder(t), 'keys.db');
  const open = async (texts: readonly string[]) => {
    const database = new SqliteDatabase(path, new Schema(texts), { clock: systemClock });
    t.teardown(() => database.stop());
    await database.start();
    return database;
  };
  const texts = SQL_SCHEMAS.sqlite;
  const before = await open(texts.slice(0, 5));
  await before.transaction((tx) => tx.run(INSERT));
  await before.stop();
  await assertMigrated(t, await open(texts));
});

t.test('a key of Postgres from before keys had scopes is for everything, forever', async (t) => {
  const schema = newSchema();
  const migrations = SQL_SCHEMAS.postgres.slice(0, 4).map((sql) => ({ sql, compatibleFrom: 1 }));
  const before = new PostgresDatabase(
    await serverUrl(),
    new PostgresSchema({ migrations, purgedTables: [] }),
    { schema, clock: systemClock, random: systemRandom },
  );
  t.teardown(() => before.stop());
  await before.start();
  await before.transaction((tx) => tx.run(INSERT));
  const { database } = await openPostgres(t, { schema });
  await assertMigrated(t, database);
  t.same(
    await before.all('SELECT key_id FROM api_keys WHERE expires_at_ms = ?', 5000),
    [{ key_id: 'key_1' }],
    'the earlier program still has its connection',
  );
});
