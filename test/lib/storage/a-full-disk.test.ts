import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import type { SqliteDatabaseOptions } from '../../../lib/databases/sqlite/options.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { fill, smallDisk } from '../../fixtures/small-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';

const PAGE_BYTES = 4096;
const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = PAGE_BYTES + 24;
/** The number of log pages beyond which the log's index needs another 32 KiB. */
const FRAMES_OF_FIRST_INDEX = 4062;

function storageIn(t: Test, folder: string, options: Partial<SqliteDatabaseOptions> = {}) {
  const path = join(folder, 'database.sqlite');
  const onFatal = (error: Error) => void t.fail(`the process would have ended: ${error}`);
  const checkpointAfterBytes = Number.POSITIVE_INFINITY;
  const storage = new SqlStorage(
    new SqliteDatabase(path, SQLITE_SCHEMA, {
      clock: systemClock,
      onFatal,
      checkpointAfterBytes,
      ...options,
    }),
    systemRandom,
  );
  t.teardown(() => storage.stop());
  const insert = (jobId: string, source = 'x') =>
    storage.transaction((tx) => storage.insertJob(tx, jobRecord(jobId), source));
  const frames = () => (statSync(`${path}-wal`).size - LOG_HEADER_BYTES) / FRAME_BYTES;
  return { storage, path, insert, frames };
}

/** Copies the files that a process killed now would leave. */
function leaveAsKilled(from: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const suffix of ['', '-wal'])
    copyFileSync(`${from}${suffix}`, join(folder, `database.sqlite${suffix}`));
}

t.test('a commit that fails after it was written does not reappear after a restart', { skip }, async (t) => {
  const disk = smallDisk(t, 40) as string;
  const { storage, path, insert, frames } = storageIn(t, disk);
  await storage.start();
  await insert('large', 'x'.repeat(15 * 1024 * 1024));
  let inOne = 0;
  for (let n = 0; frames() + inOne <= FRAMES_OF_FIRST_INDEX; n++) {
    const before = frames();
    await insert(`small-${n}`);
    inOne = Math.max(inOne, frames() - before);
  }
  t.ok(frames() <= FRAMES_OF_FIRST_INDEX && inOne < 10, `${frames()} pages, ${inOne} in a commit`);

  const filler = fill(disk);
  // Has at least as many pages as the others, so that the index must grow.
  const source = 'x'.repeat(inOne * PAGE_BYTES);
  const pages = Math.ceil((2 * inOne * FRAME_BYTES) / PAGE_BYTES) + 1; // Enough for the commit, but not for the index.
  filler.leave(pages * PAGE_BYTES);
  await t.rejects(insert('late', source), { code: 'storage_full' });
  t.ok(frames() > FRAMES_OF_FIRST_INDEX, 'it was written');
  t.equal(await storage.getJob('late'), undefined);

  const killed = testFolder(t);
  leaveAsKilled(path, killed);
  const later = storageIn(t, killed);
  await later.storage.start();
  t.match(await later.storage.getJob('small-0'), { jobId: 'small-0' });
  t.equal(await later.storage.getJob('late'), undefined);

  filler.free();
  await insert('late', 'again');
  t.equal(await storage.readSource('late'), 'again');
});

t.test('data of a killed process can be opened on a full disk', { skip }, async (t) => {
  const first = storageIn(t, testFolder(t));
  await first.storage.start();
  await first.insert('1', 'x'.repeat(400_000));
  const disk = smallDisk(t, 4) as string;
  const folder = join(disk, 'data');
  leaveAsKilled(first.path, folder);
  const spare = join(disk, 'spare');
  writeFileSync(spare, Buffer.alloc(64 * 1024)); // Less than the size of the log.
  const onFullDisk = async () => rmSync(spare, { force: true });
  const { storage, insert } = storageIn(t, folder, { onFullDisk });
  const filler = fill(disk);

  await storage.start();
  t.match(await storage.readSource('1'), /^x{400000}$/);
  await insert('2');
  await t.rejects(insert('3', 'x'.repeat(100_000)), { code: 'storage_full' });
  await storage.stop();
  await storage.start();
  t.same((await storage.listJobs({})).map(({ jobId }) => jobId).sort(), ['1', '2']);
  filler.free();
  await insert('3', 'x'.repeat(100_000));
});

t.test('checkpoints do not use the space released for commits', { skip }, async (t) => {
  const disk = smallDisk(t, 4) as string;
  const spare = join(disk, 'spare');
  writeFileSync(spare, Buffer.alloc(256 * 1024));
  const onFullDisk = async () => rmSync(spare, { force: true });
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
  const checkpointAfterBytes = 300 * 1024;
  const { storage, insert } = storageIn(t, disk, { onFullDisk, logger, checkpointAfterBytes });
  await storage.start();
  await insert('1', 'x'.repeat(250_000));
  const filler = fill(disk);
  await t.rejects(insert('2', 'x'.repeat(100_000)), { code: 'storage_full' });
  for (const jobId of ['3', '4', '5', '6']) await insert(jobId, 'x'.repeat(20_000));
  await storage.stop();
  t.same(warnings, []);
  filler.free();
  await storage.start();
  t.equal((await storage.listJobs({})).length, 5);
});

t.test('a start without any free space fails with storage_full and can be repeated', { skip }, async (t) => {
  const disk = smallDisk(t, 2) as string;
  const { storage, insert } = storageIn(t, disk);
  const filler = fill(disk);
  await t.rejects(storage.start(), { code: 'storage_full' });
  filler.free();
  await storage.start();
  await insert('1');
});

t.test('a purge fails on a full disk, and can be repeated', { skip }, async (t) => {
  const disk = smallDisk(t, 40) as string;
  const { storage, insert } = storageIn(t, disk);
  await storage.start();
  await insert('large', 'x'.repeat(4 * 1024 * 1024)); // In the log only; a purge moves it into the database.
  const filler = fill(disk);
  filler.leave(0);
  await t.rejects(storage.purge(), { code: 'storage_full' });
  t.match(await storage.getJob('large'), { jobId: 'large' });
  filler.free();
  await storage.purge();
  t.equal((await storage.readSource('large'))?.length, 4 * 1024 * 1024);
});
