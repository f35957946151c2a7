// A store of artifacts that can't be written to: jobs wait for it, and none fails.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AssetStoreWatch } from '../../../lib/assets/asset-store-watch.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { type AssetStore, FileAssetStore, ScenepressError } from '../../../lib/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { smallDisk } from '../../fixtures/small-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const LONGEST_PAUSE_MS = 30_000;
const MIB = 1024 * 1024;

const SCENE = { owner: 'ada', className: 'A', code: 'class A(Scene):\n  pass\n' };
const isRoot = process.getuid?.() === 0;
const skip = isRoot ? false : 'only root may mount a disk';

/** Returns the folder of a store, and what breaks and repairs it. */
type Breakable = (t: Test) => { folder: string; breakIt: () => void; repair: () => void };

function file(t: Test): ReturnType<Breakable> {
  const parent = testFolder(t);
  const folder = join(parent, 'artifacts');
  return {
    folder,
    breakIt: () => {
      renameSync(folder, join(parent, 'away'));
      writeFileSync(folder, '');
    },
    repair: () => {
      rmSync(folder);
      renameSync(join(parent, 'away'), folder);
    },
  };
}

function readOnly(t: Test): ReturnType<Breakable> {
  const disk = smallDisk(t, 8) as string;
  const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, disk]);
  return { folder: join(disk, 'artifacts'), breakIt: () => remount('ro'), repair: () => remount('rw') };
}

function noInodes(t: Test): ReturnType<Breakable> {
  const disk = mkdtempSync(join(tmpdir(), 'scenepress-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,nr_inodes=20', 'tmpfs', disk]);
  t.teardown(() => {
    execFileSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });
  const fillers = join(disk, 'fillers');
  return {
    folder: join(disk, 'artifacts'),
    breakIt: () => {
      mkdirSync(fillers);
      try {
        for (let i = 0; ; i++) writeFileSync(join(fillers, String(i)), '');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    repair: () => rmSync(fillers, { recursive: true }),
  };
}

const cases: [what: string, set: Breakable, needsRoot: boolean][] = [
  ['a file is in the place of its folder', file, false],
  ['its disk is read-only', readOnly, true],
  ['its disk has no inodes', noInodes, true],
];
for (const [what, set, needsRoot] of cases) {
  t.test(`while ${what}, jobs wait; then they complete`, { skip: needsRoot && skip }, async (t) => {
    const { folder, breakIt, repair } = set(t);
    const logged: string[] = [];
    const note = (_: object, message: string) => void logged.push(message);
    const service = fakeRenderService({
      folder: testFolder(t),
      assets: new FileAssetStore(folder),
      logger: { ...silentLogger, error: note, info: note },
    });
    await service.start();
    t.teardown(() => service.stop());
    breakIt();
    let starts = 0;
    service.on('job', ({ status }) => void (status === 'running' && starts++));
    const { jobId } = await service.enqueue(SCENE);
    await until(() => !service.status().ready);
    t.match(service.status().problems, [
      { part: 'artifacts', message: /can't be written to.*log has the cause/s },
    ]);
    // A trial fails meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    t.match(await service.get(jobId), { status: 'queued', attempts: 0, error: null });
    t.equal(starts, 1, 'nothing is rendered meanwhile');
    repair();
    t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
    t.match(service.status(), { ready: true, problems: [] });
    t.equal(starts, 2);
    t.same(
      readdirSync(folder).filter((name) => name.startsWith('probe')),
      [],
      'no trial leaves a file',
    );
    t.same(
      logged.filter((message) => message.startsWith('The store of artifacts')),
      [
        "The store of artifacts can't be written to: no render starts until it can.",
        'The store of artifacts can be used again.',
      ],
      'it is logged once',
    );
  });
}

/** A watch of a store whose `put`, and reads of its claim, fail with `failure()`. */
function watched(t: Test, failure: () => unknown, { stores = true } = {}) {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const put: string[] = [];
  const sizes: number[] = [];
  let isTrying = false;
  const random = {
    bytes(sizeBytes: number) {
      if (sizeBytes > 1) isTrying = true; // The name of a trial's file.
      return Buffer.alloc(sizeBytes, 7);
    },
  };
  const assets = {
    async put(key: string, { path }: { path: string }) {
      put.push(key);
      sizes.push(statSync(path).size);
      const error = failure();
      if (error) throw error;
      return { sizeBytes: 1 };
    },
    async delete() {
      isTrying = false;
    },
    async readClaim() {
      put.push('(read)');
      const error = failure();
      if (error) throw error;
    },
  } as unknown as AssetStore;
  const watch = new AssetStoreWatch({
    assets,
    folder: stores ? join(testFolder(t), 'work') : undefined,
    spareSpace: undefined,
    clock,
    random,
    logger: silentLogger,
  });
  t.teardown(() => watch.stop());
  /** Waits until trials that have begun are over. */
  const settle = async () => {
    do await setImmediate();
    while (isTrying);
    await setImmediate();
  };
  /** Lets time pass second by second, and each trial end. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      await settle();
    }
  };
  return { clock, watch, put, sizes, pass, settle };
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: 'open' });
}

t.test('whose fault an error of a store is', async (t) => {
  const refused = new Error('refused');
  const ofStore = [
    ...['EROFS', 'EACCES', 'ENOTDIR', 'EIO', 'ESTALE', 'ECONNREFUSED'].map(systemError),
    new Error('as a cause', { cause: systemError('EROFS') }),
    new ScenepressError('storage_failed', '403', { retryAfterMs: 5000 }),
  ];
  for (const error of ofStore) {
    const { watch, put } = watched(t, () => undefined);
    t.ok(await watch.isAtFault(error, 9), error.message);
    t.ok(watch.isUnusable);
    t.same(put, [], 'no trial is needed');
  }
  for (const error of [...['EFBIG', 'ENOENT', 'ENOSPC', 'EDQUOT'].map(systemError), refused]) {
    const { watch, put } = watched(t, () => undefined);
    t.notOk(await watch.isAtFault(error, 9), `${error.message} of a store that takes another file`);
    t.notOk(watch.isUnusable);
    t.match(put, [/^probe-[0-9a-f]{32}\/probe\.txt$/]);
  }
  const { watch } = watched(t, () => refused);
  t.ok(await watch.isAtFault(refused, 9), 'of a store that takes no other file either');
  t.ok(watch.isUnusable);
});

t.test('an unusable store is tried at growing intervals, until it works', async (t) => {
  let failure: Error | undefined = systemError('EROFS');
  const { clock, watch, put } = watched(t, () => failure);
  let available = 0;
  watch.on('available', () => available++);
  await watch.isAtFault(failure, 9);
  const triedAt: number[] = [];
  for (let ms = 0; ms <= 120_000; ms += 500) {
    const before = put.length;
    clock.advance(500);
    // During a trial, only its time-out is set.
    await until(() => Number(clock.nextInMs) <= LONGEST_PAUSE_MS);
    if (put.length > before) triedAt.push(ms + 500);
  }
  t.equal(triedAt[0], 1_000);
  t.ok(triedAt.length >= 6 && triedAt.length <= 9, `tried ${triedAt.length} times in two minutes`);
  t.ok(watch.isUnusable);
  failure = undefined;
  watch.tryNow();
  await until(() => !watch.isUnusable);
  t.equal(available, 1);
  await watch.isAtFault(systemError('EROFS'), 9);
  const failed = put.length;
  clock.advance(29_000);
  t.equal(put.length, failed, 'what can be tried but not stored is tried rarely');
  watch.tryNow();
  await until(() => !watch.isUnusable);
  watch.noteStored();
  await watch.isAtFault(systemError('EROFS'), 9);
  const before = put.length;
  clock.advance(1_000);
  await until(() => put.length > before);
  t.pass('after artifacts were stored, it begins again');
});

t.test('a store without space is tried with a file of that size, of 4 MiB at most', async (t) => {
  let failure: Error | undefined = systemError('ENOSPC');
  const { watch, sizes } = watched(t, () => failure);
  t.ok(await watch.isAtFault(failure, 5_000));
  failure = undefined;
  watch.tryNow();
  await until(() => !watch.isUnusable);
  t.same(sizes, [5_000, 5_000]);
  t.notOk(await watch.isAtFault(systemError('ENOSPC'), 100 * MIB), 'others fit');
  t.equal(sizes.at(-1), 4 * MIB);
  await watch.isAtFault(systemError('EROFS'), 5_000);
  watch.tryNow();
  await until(() => !watch.isUnusable);
  t.equal(sizes.at(-1), 1);
});

for (const stores of [true, false]) {
  const what = stores ? 'stores' : 'only reads';
  t.test(`an idle process that ${what} artifacts notices a failing store, and its recovery`, async (t) => {
    let failure: Error | undefined;
    const { watch, put, pass } = watched(t, () => failure, { stores });
    let available = 0;
    watch.on('available', () => available++);
    await pass(60);
    t.same(put, [], 'not before it is started');
    watch.start();
    await pass(120);
    t.equal(put.length, 2, 'once a minute');
    t.match(put[0], stores ? /^probe-/ : /^\(read\)$/);
    t.notOk(watch.isUnusable);
    failure = systemError('ECONNREFUSED');
    await pass(60);
    t.ok(watch.isUnusable);
    failure = undefined;
    await pass(30);
    t.notOk(watch.isUnusable);
    t.equal(available, 1);
    const before = put.length;
    await watch.stop();
    await pass(120);
    t.equal(put.length, before, 'not after it is stopped');
  });
}

t.test('a store that artifacts were stored in is not tried meanwhile', async (t) => {
  const { watch, put, pass } = watched(t, () => undefined);
  watch.start();
  for (let i = 0; i < 12; i++) {
    watch.noteStored();
    await pass(10);
  }
  t.same(put, []);
});

t.test('a store that fails once, or whose answer waited for a pause of the service, is usable', async (t) => {
  let failures = 1;
  const { clock, watch, put, pass, settle } = watched(t, () =>
    failures-- > 0 ? systemError('ECONNRESET') : undefined,
  );
  watch.start();
  await pass(60);
  t.equal(put.length, 2);
  t.notOk(watch.isUnusable);
  clock.advance(9 * 60_000);
  await settle();
  t.ok(put.length > 2);
  t.notOk(watch.isUnusable);
});

t.test('who renders is not ready without a store, who does not gets a warning', async (t) => {
  for (const roles of [['api', 'worker'], ['api']] as const) {
    const clock = new FakeClock('2026-11-26T10:00:00Z');
    const folder = join(testFolder(t), roles.join('-'));
    const artifacts = join(folder, 'artifacts');
    const assets = new FileAssetStore(artifacts);
    const service = fakeRenderService({ folder: join(folder, 'data'), assets, roles, clock });
    await service.start();
    t.teardown(() => service.stop());
    t.match(service.status(), { ready: true, problems: [], warnings: [] });
    rmSync(artifacts, { recursive: true });
    writeFileSync(artifacts, '');
    clock.advance(60_000);
    const isWorker = roles.length > 1;
    await until(() => service.status().problems.length + service.status().warnings.length > 0);
    const { ready, problems, warnings } = service.status();
    t.equal(ready, !isWorker);
    if (isWorker) t.match([problems, warnings], [[{ part: 'artifacts', message: /can't be written/ }], []]);
    else t.match([problems, warnings], [[], [/can't be read: videos can't be downloaded/]]);
  }
});

t.test('a data folder that was replaced is not tried, and nothing is written to the other', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const parent = testFolder(t);
  const folder = join(parent, 'data');
  const service = fakeRenderService({ folder, clock });
  await service.start();
  t.teardown(() => service.stop());
  renameSync(folder, join(parent, 'moved'));
  mkdirSync(folder);
  for (let minute = 0; minute < 3; minute++) {
    clock.advance(60_000);
    await delay(50); // Until trials that have begun are over.
  }
  t.match(service.status().problems, [{ part: 'storage', message: /moved or replaced/ }]);
  t.equal(service.status().problems.length, 1);
  t.same(readdirSync(folder, { recursive: true }), []);
  rmSync(folder, { recursive: true });
  renameSync(join(parent, 'moved'), folder);
  clock.advance(60_000);
  await until(() => service.status().problems.length === 0);
});
