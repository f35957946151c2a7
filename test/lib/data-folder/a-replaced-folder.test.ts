import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, StoredLedger } from '../../../lib/index.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

/** An open folder with a job, which was replaced by another data folder. */
async function replaced(t: Test) {
  const parent = testFolder(t);
  const path = join(parent, 'data');
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  const insert = (jobId: string) =>
    folder.storage.transaction((tx) => folder.storage.insertJob(tx, jobRecord(jobId), '# code'));
  await insert('1');
  const moved = join(parent, 'moved');
  const other = new DataFolder(join(parent, 'other'));
  await other.start();
  // With a log of its own.
  await new StoredLedger({ store: other.ledgerStore }).grantPaid('b', 5);
  renameSync(path, moved);
  cpSync(other.path, path, { recursive: true });
  await other.stop();
  const contents = () =>
    Object.fromEntries(
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(path, name)).isFile())
        .map((name) => [name, readFileSync(join(path, name), 'latin1')]),
    );
  const artifact = join(parent, 'artifact');
  writeFileSync(artifact, 'video');
  return { folder, parent, path, moved, insert, contents, artifact };
}

t.test('a folder that was replaced can be read, but nothing is written', async (t) => {
  const { folder, parent, path, moved, insert, contents, artifact } = await replaced(t);
  const before = contents();
  const refusal = { code: 'storage_failed', message: /moved or replaced.*Nothing was written/ };
  t.match(await folder.storage.getJob('1'), { jobId: '1' });
  const account = { accountId: 'ada', email: 'ada@example.org', createdAtMs: 1 };
  const writes: [what: string, write: () => Promise<unknown>][] = [
    ['a transaction', () => insert('2')],
    ['a document', () => folder.accountStore.insertAccount(account)],
    ['an artifact', () => folder.assets.put('1-1/video.mp4', { path: artifact })],
    ['the removal of an artifact', () => folder.assets.delete('1-1/video.mp4')],
    ['a query in the background, which opens the file again', () => folder.structuralFault()],
    ['a checkpoint', () => folder.storage.purge()],
    ['a copy', () => folder.copyDatabase(parent)],
  ];
  for (const [what, write] of writes) await t.rejects(write(), refusal, what);
  t.same(contents(), before);

  rmSync(path, { recursive: true });
  renameSync(moved, path);
  for (const [, write] of writes) await write();
  t.match(await folder.storage.getJob('2'), { jobId: '2' });
});

t.test('a stop leaves the other folder as it is', async (t) => {
  const { folder, moved, contents } = await replaced(t);
  const before = contents();
  await folder.stop();
  t.same(contents(), before);
  const again = new DataFolder(moved);
  await again.start();
  t.teardown(() => again.stop());
  t.match(await again.storage.getJob('1'), { jobId: '1' });
});
