import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { FileAssetStore, StoredLedger, sqlStorage } from 'scenepress';
import { fakeRenderService, sqlDatabaseSuite } from 'scenepress/testing';
import { SqliteDatabase } from './sqlite-database.mjs';

const folder = await mkdtemp(join(tmpdir(), 'database-'));
test.after(() => rm(folder, { recursive: true }));
let databases = 0;

async function open() {
  const subject = new SqliteDatabase(join(folder, `${databases++}.db`));
  await subject.start();
  return { subject, close: () => subject.stop() };
}

for (const { title, run } of sqlDatabaseSuite(open)) test(title, run);

test('jobs and credits are kept in the database', async () => {
  const database = new SqliteDatabase(join(folder, 'jobs.db'));
  const storage = sqlStorage(database);
  const ledger = new StoredLedger({ store: storage.ledgerStore });
  const assets = new FileAssetStore(join(folder, 'artifacts'));
  const service = fakeRenderService({ storage, ledger, assets, workFolder: join(folder, 'work') });
  await service.start();
  const { jobId } = await service.enqueue({ owner: 'me', className: 'Main', code: '…' });
  assert.equal((await service.wait(jobId)).status, 'completed');
  assert.equal((await database.all('SELECT job_id FROM jobs')).length, 1);
  await service.stop();
});
