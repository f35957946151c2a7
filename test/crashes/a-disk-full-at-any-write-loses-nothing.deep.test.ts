/**
 * Runs a sequence of steps on a data folder while the disk gets full: before each part of the sequence a number of pages
 * is left free, a few in the first run and so many more in each later run. Steps that fail must leave nothing, and steps that
 * succeed must be stored, both for this process and for one that starts after a crash. Once there is space, the same
 * process repeats the failed steps.
 */
import { randomInt } from 'node:crypto';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { DataFolder } from '../../lib/data-folder/data-folder.ts';
import { isRelease } from '../fixtures/depth.ts';
import { ledgerOf, openedBy, reportsFullDisk, type Step, stepsOn } from '../fixtures/full-disk-steps.ts';
import { fill, smallDisk } from '../fixtures/small-disk.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';

const DISK_MIB = 6;
/** The unit in which files grow on the disk. */
const PAGE_BYTES = 4096;
/** Each run of the file tries another part of the numbers of pages. */
const STEP_PAGES = isRelease ? 2 : 6;
/** The files that a crash leaves. The log is copied first, because a checkpoint may be running. */
const LEFT = [/-wal$/, /\.sqlite$/, /\.json$/];

t.test(
  'a disk that is full at any write loses no acknowledged data and keeps nothing of failed steps',
  { skip },
  async (t) => {
    const disk = smallDisk(t, DISK_MIB) as string;
    const failures = new Map<string, number>();
    const hadEnoughSpace = new Set<number>();
    for (let [pages, hasFailed] = [randomInt(STEP_PAGES), true]; hasFailed; pages += STEP_PAGES) {
      const failed = await runWith(t, disk, pages, hadEnoughSpace);
      for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
      hasFailed = failed.length > 0;
      for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
    }
    t.comment(`runs in which each step failed: ${JSON.stringify(Object.fromEntries(failures))}`);
    // A purge may have found space in every run: it needs none if a checkpoint came before it.
    for (const name of ['the start', 'a backup', 'a setting', 'accounts 1', 'job 1'])
      t.ok(failures.has(name), `${name} failed on a full disk`);
  },
);

/** Runs the steps up to the last part that failed with fewer pages. Returns the names of the failed steps. */
async function runWith(t: Test, disk: string, pages: number, hadEnoughSpace: Set<number>): Promise<string[]> {
  const { folder, parts } = stepsOn(t, disk);
  const failed: Step[] = [];
  const done: Step[] = [];
  const last = parts.findLastIndex((_, index) => !hadEnoughSpace.has(index));
  for (const [index, part] of parts.slice(0, last + 1).entries()) {
    if (hadEnoughSpace.has(index)) {
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
      if (result.status === 'rejected' && !reportsFullDisk(result.reason))
        t.fail(`another error: ${when}`, { found: result.reason });
    }
    // Nothing can be read after a failed start.
    if (await isOpen(folder)) await expect(t, folder, { done, failed: failedNow }, when);
    await expectAfterCrash(t, folder, { done, failed: failedNow }, `${when}, after a crash`);

    filler.free();
    await Promise.all(failedNow.map((step) => step.run()));
    done.push(...failedNow);
    await expect(t, folder, { done, failed: [] }, `${when}, once there is space`);
    failed.push(...failedNow);
    if (failedNow.length === 0) hadEnoughSpace.add(index);
  }
  await expect(t, folder, { done, failed: [] }, `the end of a run with ${pages} free pages`);
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
    t.fail(`${step.name} ${isThere === true ? 'failed but is stored' : 'is lost'}: ${when}`, {
      found: isThere,
    });
  }
}

/** Checks what another process would find if this one crashed now. */
async function expectAfterCrash(
  t: Test,
  folder: DataFolder,
  steps: { done: Step[]; failed: Step[] },
  when: string,
): Promise<void> {
  const copy = testFolder(t);
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
