import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ScheduledBackups } from '../../../lib/data-folder/scheduled-backups.ts';
import { DataFolder } from '../../../lib/index.ts';
import { backUp, restore } from '../../../lib/operations.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { fill, smallDisk } from '../../fixtures/small-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PROGRAM = join(import.meta.dirname, '../../fixtures/backup-program.ts');
const MIB = 1024 * 1024;

interface Options {
  from?: string;
  kept?: number;
  backups?: string;
}

/** A data folder with four jobs, and backups of it with a clock that stands still. */
async function openFolder(t: Test, { from = '2026-11-27T12:00:00Z', kept = 7, backups }: Options = {}) {
  const root = testFolder(t, { 'a-video': 'the video' });
  const source = new DataFolder(join(root, 'data'));
  await source.start();
  t.teardown(() => source.stop());
  for (const jobId of ['job1', 'job2', 'job3', 'job4']) {
    const assetKey = `${jobId}/video.mp4`;
    const { sizeBytes } = await source.assets.put(assetKey, { path: join(root, 'a-video') });
    const artifacts = [{ name: 'video.mp4' as const, assetKey, sizeBytes }];
    const job = jobRecord(jobId, { phase: 'completed', artifacts });
    await source.storage.transaction((tx) => source.storage.insertJob(tx, job, 'source'));
  }
  const folder = backups ?? join(root, 'backups');
  if (backups === undefined) mkdirSync(folder);
  const clock = new FakeClock(from);
  const lines: string[] = [];
  const log = (details: object, message: string) => void lines.push(`${message} ${JSON.stringify(details)}`);
  const logger = { debug: log, info: log, warn: log, error: log };
  const open = () => {
    const scheduled = new ScheduledBackups({
      source,
      folder,
      pattern: '30 2 * * *',
      kept,
      prepare: async () => {},
      clock,
      logger,
    });
    t.teardown(() => scheduled.stop());
    return scheduled;
  };
  const names = () => readdirSync(folder).sort();
  return {
    root,
    source,
    folder,
    clock,
    scheduled: open(),
    reopened: open,
    names,
    log: () => lines.join('\n'),
  };
}

/** Waits, so that it can see the end of a backup that the clock has begun. */
async function ends(scheduled: ScheduledBackups): Promise<void> {
  const before = scheduled.state();
  await until(() => {
    const { lastSuccessAtMs, lastFailure } = scheduled.state();
    return lastSuccessAtMs !== before.lastSuccessAtMs || lastFailure !== before.lastFailure;
  });
  await scheduled.stop();
}

t.test('a backup is made at its time, and restores the same data', async (t) => {
  const { scheduled, source, folder, clock, names, root } = await openFolder(t, {
    from: '2026-11-27T02:29:00Z',
  });
  scheduled.start();
  clock.advance(MINUTE_MS - 1);
  t.same(names(), []);
  clock.advance(1);
  await ends(scheduled);
  t.same(names(), ['scenepress-2026-11-27T023000Z']);
  t.match(scheduled.state(), { lastSuccessAtMs: Date.parse('2026-11-27T02:30:00Z'), warnings: [] });

  await restore(join(folder, 'scenepress-2026-11-27T023000Z'), join(root, 'restored'));
  const restored = new DataFolder(join(root, 'restored'));
  await restored.start();
  t.teardown(() => restored.stop());
  t.same(await restored.storage.listJobs({}), await source.storage.listJobs({}));
  t.equal(readFileSync(restored.assets.path('job3/video.mp4'), 'utf8'), 'the video');
});

t.test('the newest are kept, and what the service did not make is never removed', async (t) => {
  const { scheduled, folder, clock, names, log } = await openFolder(t, { kept: 2 });
  await scheduled.run();
  const [oldest = ''] = names();
  const foreign = [
    'scenepress-2026-11-30T110000Z',
    'scenepress-2026-01-02T023000Z',
    'scenepress-2026-01-03T023000Z.part',
    'scenepress-2026.part',
    'monday',
  ];
  mkdirSync(join(folder, 'scenepress-2026-11-30T110000Z')); // Without a manifest.
  symlinkSync('monday', join(folder, 'scenepress-2026-01-02T023000Z'));
  writeFileSync(join(folder, 'scenepress-2026-01-03T023000Z.part'), 'a file');
  mkdirSync(join(folder, 'scenepress-2026.part'));
  mkdirSync(join(folder, 'monday'));
  writeFileSync(join(folder, 'monday', 'backup.json'), '{}');
  for (let day = 0; day < 3; day++) {
    clock.advance(DAY_MS);
    await scheduled.run();
  }
  t.same(names(), [...foreign, 'scenepress-2026-11-29T120000Z', 'scenepress-2026-11-30T120000Z'].sort());
  t.equal(oldest, 'scenepress-2026-11-27T120000Z');

  writeFileSync(join(folder, 'scenepress-2026-11-29T120000Z', 'notes.txt'), 'by hand');
  clock.advance(DAY_MS);
  await scheduled.run();
  t.ok(existsSync(join(folder, 'scenepress-2026-11-29T120000Z', 'notes.txt')));
  t.match(log(), /contains other files.*scenepress-2026-11-29T120000Z/);
});

t.test('after the clock was set back, the new backup is kept', async (t) => {
  const { scheduled, clock, names, reopened } = await openFolder(t, {
    kept: 1,
    from: '2031-01-01T00:00:00Z',
  });
  await scheduled.run();
  clock.set('2026-11-27T12:00:00Z');
  const later = reopened();
  t.equal((await later.info()).lastSuccessAtMs, null, 'the time is not that of a success');
  await later.run();
  t.same(names(), ['scenepress-2026-11-27T120000Z']);
});

t.test('old backups are removed only after the new one has been verified', async (t) => {
  const { scheduled, folder, clock, names } = await openFolder(t, { kept: 1 });
  await scheduled.run();
  const before = names();
  clock.advance(DAY_MS);
  // What was written is altered before it is verified, as by a faulty disk.
  const part = join(folder, 'scenepress-2026-11-28T120000Z.part');
  const look = setInterval(() => {
    if (existsSync(join(part, 'backup.json'))) appendFileSync(join(part, 'keys.json'), ' ');
  }, 0);
  t.teardown(() => clearInterval(look));
  await scheduled.run();
  t.same(names(), before, 'the old one is kept, and nothing of the new one');
  t.match(scheduled.state(), {
    lastSuccessAtMs: Date.parse('2026-11-27T12:00:00Z'),
    lastFailure: { message: /keys\.json is altered\. No backup was made/ },
    warnings: [/failed at 2026-11-28T12:00:00.000Z: .*damaged.*The last complete one is of 2026-11-27T12:00/],
  });
  clearInterval(look);
  clock.advance(DAY_MS);
  await scheduled.run();
  t.same(names(), ['scenepress-2026-11-29T120000Z']);
  t.match(scheduled.state(), { warnings: [], lastFailure: { atMs: Date.parse('2026-11-28T12:00:00Z') } });
});

t.test('a killed backup leaves the old ones, and the next removes what it left', async (t) => {
  const { scheduled, folder, names, source, root } = await openFolder(t);
  await scheduled.run();
  const [complete = ''] = names();
  await source.stop();
  const child = spawn(process.execPath, [PROGRAM, join(root, 'data'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const [, part = ''] = names();
  t.match(names(), [complete, /^scenepress-.*Z\.part$/]);
  t.ok(existsSync(join(folder, part, 'database.sqlite')), 'it was killed in the middle');

  // A removal that was interrupted, too.
  renameSync(join(folder, complete), join(folder, 'scenepress-2026-11-20T120000Z'));
  mkdirSync(join(folder, 'scenepress-2026-11-19T120000Z.removed'));
  await source.start();
  t.equal((await scheduled.info()).lastSuccessAtMs, Date.parse('2026-11-20T12:00:00Z'));
  await scheduled.run();
  t.same(names(), ['scenepress-2026-11-20T120000Z', complete]);
});

t.test('a full disk keeps the old backups, and is said', async (t) => {
  const backups = smallDisk(t, 400);
  if (backups === undefined) {
    t.pass('needs the right to mount', { skip: true });
    return;
  }
  const { scheduled, clock, names, source, log } = await openFolder(t, { backups, kept: 1 });
  await scheduled.run();
  const before = names();
  t.equal(before.length, 1, 'there was enough space');
  const warnings = [
    /: the disk of the backup folder is too full\. Free some space there, keep fewer backups \(SCENEPRESS_BACKUPS_KEPT\)/,
  ];

  clock.advance(DAY_MS);
  const filler = fill(backups);
  filler.leave(200 * MIB);
  await scheduled.run();
  t.same(
    names().filter((name) => name !== 'filler'),
    before,
  );
  const message = /it needs 25\d MiB of disk space, of which 256 MiB stay free, and \S+ has 200 MiB/;
  t.match(scheduled.state(), { warnings, lastFailure: { message } });
  t.notMatch(scheduled.state().warnings.join(), backups, 'the warning is public');
  t.match(log(), /The scheduled backup failed: the disk of the backup folder is too full/);

  // It fills up during the copy.
  filler.free();
  clock.advance(DAY_MS);
  const { path } = source.assets;
  let isFull = false;
  source.assets.path = (assetKey) => {
    if (!isFull) fill(backups);
    isFull = true;
    return path.call(source.assets, assetKey);
  };
  await scheduled.run();
  t.ok(isFull);
  t.same(
    names().filter((name) => name !== 'filler'),
    before,
    'the incomplete copy is removed',
  );
  t.match(scheduled.state(), { warnings, lastFailure: { atMs: Date.parse('2026-11-29T12:00:00Z') } });
});

t.test('a backup folder that is missing or read-only is said at the start', async (t) => {
  const { scheduled, folder, reopened, log } = await openFolder(t);
  rmSync(folder, { recursive: true });
  scheduled.start();
  await until(() => scheduled.state().lastFailure !== null);
  t.match(scheduled.state(), {
    warnings: [
      /the backup folder can't be read or written \(ENOENT\)\. It must exist, on a disk that is mounted/,
    ],
  });
  t.notMatch(scheduled.state().warnings.join(), folder);
  await scheduled.run();
  t.notOk(existsSync(folder), 'it may be where a disk is to be mounted');
  t.match(log(), /The scheduled backup failed: .*ENOENT/);
  mkdirSync(folder);
  if (process.getuid?.() === 0) return;
  chmodSync(folder, 0o500);
  const later = reopened();
  await later.run();
  t.match(later.state().warnings, [/\(EACCES\)/]);
});

t.test('a time that passed while no service ran is made up for after the start', async (t) => {
  const { scheduled, clock, names, reopened, log } = await openFolder(t, { from: '2026-11-27T02:40:00Z' });
  scheduled.start();
  clock.advance(5 * MINUTE_MS);
  await ends(scheduled);
  t.same(names(), ['scenepress-2026-11-27T024500Z']);

  const again = reopened();
  again.start();
  await until(() => again.state().lastSuccessAtMs !== null);
  t.equal(again.state().lastSuccessAtMs, Date.parse('2026-11-27T02:45:00Z'), 'known after a restart');
  clock.advance(10 * MINUTE_MS);
  await again.stop();
  t.equal(names().length, 1, 'none was missed');
  t.notMatch(log(), /was ended/, 'and none was begun');

  clock.set('2026-11-28T09:00:00Z');
  const third = reopened();
  third.start();
  await until(() => third.state().lastSuccessAtMs !== null);
  clock.advance(5 * MINUTE_MS);
  await ends(third);
  t.same(names(), ['scenepress-2026-11-27T024500Z', 'scenepress-2026-11-28T090500Z']);
});

t.test('a success that is older than twice the interval is a warning', async (t) => {
  const { scheduled, clock, source } = await openFolder(t, { from: '2026-11-27T02:30:00Z' });
  await scheduled.run();
  scheduled.start();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  t.teardown(() => release());
  void source.alone(() => held); // The next one hangs.
  clock.advance(2 * DAY_MS - MINUTE_MS);
  t.same(scheduled.state().warnings, []);
  clock.advance(MINUTE_MS);
  t.match(scheduled.state().warnings, [
    /^No scheduled backup was completed in twice its interval\. The last complete one is of 2026-11-27T02:30/,
  ]);
  release();
  await until(() => scheduled.state().warnings.length === 0);
});

t.test('one is made at a time, beside one by command', async (t) => {
  const { scheduled, source, root, names, log } = await openFolder(t);
  const [report] = await Promise.all([
    backUp(source, join(root, 'by-command')),
    scheduled.run(),
    scheduled.run(),
  ]);
  t.equal(report.jobs, 4);
  t.equal(names().length, 1);
  t.match(log(), /No scheduled backup was begun, because the one before is not complete/);
});

t.test('a service that stops ends its backup, which leaves nothing and is no failure', async (t) => {
  const { scheduled, source, names, log } = await openFolder(t);
  const { path } = source.assets;
  let stopped: Promise<void> | undefined;
  source.assets.path = (assetKey) => {
    stopped ??= scheduled.stop();
    return path.call(source.assets, assetKey);
  };
  await scheduled.run();
  await stopped;
  t.ok(stopped);
  t.same(names(), []);
  t.match(scheduled.state(), { lastFailure: null, warnings: [] });
  t.match(log(), /ended, because the service stops/);
});
