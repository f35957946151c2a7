/**
 * Lets the disk be full at each write of a short life of a data folder: before each of its parts so many pages are left
 * free, in the first life none, in the next one more. What then fails must not be there, for this process and for one
 * that starts after a crash, and what was acknowledged must be; with room, the same process makes up for what failed.
 */
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { DataFolder } from '../../lib/data-folder/data-folder.ts';
import { blamesTheDisk, ledgerOf, lifeOn, openedBy, type Step } from '../fixtures/full-disk-life.ts';
import { fill, smallDisk } from '../fixtures/small-disk.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';

const DISK_MIB = 6;
/** What files grow by on the disk. */
const PAGE_BYTES = 4096;
/** What a crash leaves: the log is copied first, since a checkpoint goes on perhaps. */
const LEFT = [/-wal$/, /\.sqlite$/, /\.json$/];

t.test(
  'a disk that is full at any write loses nothing, and keeps nothing that failed',
  { skip },
  async (t) => {
    const disk = smallDisk(t, DISK_MIB) as string;
    const failures = new Map<string, number>();
    const hadEnough = new Set<number>();
    for (let [pages, hasFailed] = [0, true]; hasFailed; pages++) {
      const failed = await liveWith(t, disk, pages, hadEnough);
      for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
      hasFailed = failed.length > 0;
      for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
    }
    t.comment(`so many free pages were too few: ${JSON.stringify(Object.fromEntries(failures))}`);
    for (const name of ['the start', 'a purge', 'a backup', 'a setting', 'accounts 1', 'job 1'])
      t.ok(failures.has(name), `${name} has found the disk full`);
  },
);

/** One life, up to the last part that did not have enough with fewer pages; the names of the steps that failed. */
async function liveWith(t: Test, disk: string, pages: number, hadEnough: Set<number>): Promise<string[]> {
  const { folder, parts } = lifeOn(t, disk);
  const failed: Step[] = [];
  const done: Step[] = [];
  const last = parts.findLastIndex((_, index) => !hadEnough.has(index));
  for (const [index, part] of parts.slice(0, last + 1).entries()) {
    if (hadEnough.has(index)) {
      await Promise.all(part.map((step) => step.run()));
      done.push(...part);
      continue;
    }
    const filler = fill(disk);
    filler.leave(pages * PAGE_BYTES);
    const results = await Promise.allSettled(part.map((step) => step.run()));
    const failedNow = part.filter((_, index) => results[index]?.status === 'rejected');
    done.push(...part.filter((step) => !failedNow.includes(step)));
    const when = `${part.map(({ name }) => name).join(', ')} with ${pages} free pages`;
    for (const result of results) {
      if (result.status === 'rejected' && !blamesTheDisk(result.reason))
        t.fail(`another error: ${when}`, { found: result.reason });
    }
    // A start that failed leaves nothing to look at.
    if (await isOpen(folder)) await expect(t, folder, { done, failed: failedNow }, when);
    await expectAfterCrash(t, folder, { done, failed: failedNow }, `${when}, after a crash`);

    filler.free();
    await Promise.all(failedNow.map((step) => step.run()));
    done.push(...failedNow);
    await expect(t, folder, { done, failed: [] }, `${when}, once there is room`);
    failed.push(...failedNow);
    if (failedNow.length === 0) hadEnough.add(index);
  }
  await expect(t, folder, { done, failed: [] }, `the end of a life with ${pages} free pages`);
  const { problems } = await ledgerOf(folder).audit();
  if (problems.length > 0) t.same(problems, [], `with ${pages} free pages`);
  await folder.stop();
  return failed.map(({ name }) => name);
}

function isOpen(folder: DataFolder): Promise<boolean> {
  return folder.storage.listJobs({}).then(
    () => true,
    () => false,
  );
}

async function expect(
  t: Test,
  folder: DataFolder,
  steps: { done: Step[]; failed: Step[] },
  when: string,
): Promise<void> {
  for (const step of [...steps.done, ...steps.failed]) {
    const isThere = await step.isIn(folder).catch((error: Error) => error);
    if (isThere === undefined || isThere === steps.done.includes(step)) continue;
    t.fail(`${step.name} ${isThere === true ? 'failed and is there' : 'is lost'}: ${when}`, {
      found: isThere,
    });
  }
}

/** What another process would find if this one ended now. */
async function expectAfterCrash(
  t: Test,
  folder: DataFolder,
  steps: { done: Step[]; failed: Step[] },
  when: string,
): Promise<void> {
  const copy = t.testdir();
  const names = readdirSync(folder.path);
  for (const pattern of LEFT) {
    for (const name of names.filter((name) => pattern.test(name)))
      copyFileSync(join(folder.path, name), join(copy, name));
  }
  const crashed = openedBy(copy, (error) =>
    t.fail(`the process would have ended: ${when}`, { found: error }),
  );
  await crashed.start();
  await expect(t, crashed, steps, when);
  await crashed.stop();
}
