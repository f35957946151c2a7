import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder, recover } from '../../../lib/index.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { DUE_SCHEMA } from '../../../lib/sql/sqlite/due-schema.ts';
import { MAIN_SCHEMA } from '../../../lib/sql/sqlite/main-schema.ts';
import { QUEUE_SCHEMA } from '../../../lib/sql/sqlite/queue-schema.ts';
import { Schema } from '../../../lib/storage/sqlite/schema.ts';
import { SqliteDatabase } from '../../../lib/storage/sqlite/sqlite-database.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const FIRST = new Schema([MAIN_SCHEMA + QUEUE_SCHEMA + DUE_SCHEMA]);

t.test('data of the first version of the schema is read, recovered and migrated', async (t) => {
  const path = join(testFolder(t), 'data');
  const made = new DataFolder(path);
  await made.start();
  await made.stop();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(path, `database.sqlite${suffix}`), { force: true });
  const database = new SqliteDatabase(join(path, 'database.sqlite'), FIRST);
  const storage = new SqlStorage(database);
  await storage.start();
  await storage.transaction((tx) => storage.insertJob(tx, jobRecord('1'), 'source'));
  await storage.stop();

  t.match(await recover(path), { faults: [], lost: [] }, 'nothing is lost before the migration');

  const folder = new DataFolder(path);
  await folder.start();
  t.equal(await folder.storage.readSource('1'), 'source');
  t.same((await folder.storage.readTrace('1')).plays, []);
  const session = { tokenHash: 'a'.repeat(64), accountId: 'ada', createdAtMs: 1000, expiresAtMs: 2000 };
  await folder.sessionStore.insertSession(session);
  t.same(await folder.sessionStore.getSession(session.tokenHash), session);
  await folder.stop();
  t.match(await recover(path), { faults: [], lost: [] });
});
