import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import type { AssetStore } from '../../../../lib/index.ts';
import { endOfAttempt, endOfFailure, resultOf } from '../../../../lib/jobs/end/attempt-end.ts';
import type { ClaimedJob } from '../../../../lib/jobs/run/job-claims.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import type { RenderResult, RenderUsage, StopReason } from '../../../../lib/model/render-task.ts';
import { SCENE_FAULTS } from '../../../../lib/model/renderer-protocol.ts';
import { failedReport } from '../../../fixtures/failed-report.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const MIB = 1024 * 1024;

function claimed(attempts = 1): ClaimedJob {
  const job = jobRecord('1', { phase: 'running', attempts, quality: 'medium' });
  return { job, claim: { jobId: '1', token: 7 } } as ClaimedJob;
}

/** The dependencies of an attempt. `put` fails with an error, which the store may be at fault for. */
function newWorld(failure?: Error, isAtFault = false) {
  const errors: object[] = [];
  const stored: string[] = [];
  const assets = {
    async put(assetKey: string) {
      if (failure) throw failure;
      stored.push(assetKey);
      return { sizeBytes: 9 };
    },
    async delete() {},
  };
  const faults: unknown[][] = [];
  const storeWatch = {
    isAtFault: async (...fault: unknown[]) => {
      faults.push(fault);
      return isAtFault;
    },
    noteStored: () => void stored.push('noted'),
  };
  const disk = { isShort: false, isFull: false };
  const spareSpace = {
    isShort: false,
    check: async () => {
      spareSpace.isShort = disk.isShort;
    },
  };
  const world = {
    assets: assets as unknown as AssetStore,
    storeWatch,
    pricing: new Pricing(),
    logger: { ...silentLogger, error: (details: object) => void errors.push(details) },
    spareSpace,
    isDiskFull: async () => disk.isFull,
  };
  return { world, errors, disk, stored, faults };
}

function rendered(t: Test): RenderResult & { kind: 'rendered' } {
  const folder = join(testFolder(t), 'output');
  mkdirSync(folder);
  const path = join(folder, 'video.mp4');
  writeFileSync(path, 'a video');
  const files = [{ name: 'video.mp4' as const, path }];
  return { kind: 'rendered', durationMs: 1_001, seconds: 1, frames: 30, files, plays: [], folder };
}

t.test('a render is stored, then its job completes with its cost', async (t) => {
  const { world, stored } = newWorld();
  const plays = [{ line: 5, shows: 'wait', startSeconds: 0, seconds: 1 }];
  const result = { ...rendered(t), plays };
  t.strictSame(await endOfAttempt(claimed(), result, world), {
    next: 'finish',
    outcome: {
      kind: 'completed',
      artifacts: [{ name: 'video.mp4', assetKey: '1-7/video.mp4', sizeBytes: 9 }],
      costCredits: 3,
    },
    options: { durationMs: 1_001, plays },
  });
  t.same(stored, ['1-7/video.mp4', 'noted']);
  t.notOk(existsSync(result.folder));
});

t.test('a scene that failed fails its job', async (t) => {
  const { finding } = failedReport('NameError');
  const { world } = newWorld();
  t.strictSame(
    await endOfAttempt(
      claimed(),
      { kind: 'failed', durationMs: 5, error: 'NameError', failedBy: 'scene', finding },
      world,
    ),
    {
      next: 'finish',
      outcome: { kind: 'failed', error: 'NameError', failedBy: 'scene', diagnosis: finding },
      options: { durationMs: 5, storedNothing: true },
    },
  );
});

t.test('what a scene failed by is what its job failed by', async (t) => {
  const { world } = newWorld();
  for (const failedBy of SCENE_FAULTS) {
    const failure = { durationMs: 5, error: 'no', failedBy };
    t.match(await endOfAttempt(claimed(), { kind: 'failed', ...failure }, world), { outcome: { failedBy } });
    t.match(await endOfAttempt(claimed(), { kind: 'killed', ...failure }, world), {
      next: 'count',
      failedBy,
    });
  }
});

t.test('what the captions of a render say is kept with its end', async (t) => {
  const { world } = newWorld();
  const result = rendered(t);
  const path = join(result.folder, 'captions.vtt');
  writeFileSync(path, `WEBVTT\n\n00:00.000 --> 00:01.000\nA circle\n`);
  const files = [...result.files, { name: 'captions.vtt' as const, path }];
  t.match(await endOfAttempt(claimed(), { ...result, files }, world), { options: { captions: 'A circle' } });
});

t.test('what a scene used and printed is kept with its end', async (t) => {
  const { world } = newWorld();
  const failed = { kind: 'failed', durationMs: 5, error: 'NameError', failedBy: 'scene' } as const;
  const kept = async (details: { usage?: RenderUsage; output?: string }) => {
    const ends = [
      await endOfAttempt(claimed(), { ...rendered(t), ...details }, world),
      await endOfAttempt(claimed(), { ...failed, ...details }, world),
    ];
    return ends.map((end) => {
      const { durationMs: _, plays, storedNothing, ...rest } = { ...('options' in end && end.options) };
      return rest;
    });
  };
  const usage: RenderUsage = { stagesMs: { rendering: 5 }, peakMemoryBytes: 9, copiedFrames: 0 };
  t.strictSame(await kept({ usage, output: 'hello' }), [
    { usage, output: 'hello' },
    { usage, output: 'hello' },
  ]);
  t.strictSame(await kept({ usage }), [{ usage }, { usage }]);
  t.strictSame(await kept({ output: '' }), [{}, {}], 'nothing was printed');
});

const stops: [reason: StopReason, end: object][] = [
  [
    'funds',
    {
      next: 'finish',
      outcome: { kind: 'failed', error: /^The credits ran out/, failedBy: 'credits' },
      options: { durationMs: 5, storedNothing: true },
    },
  ],
  ['canceled', { next: 'nothing' }],
  ['claim_lost', { next: 'nothing' }],
  ['claim_expired', { next: 'wait', reason: 'its claim could not be renewed' }],
  ['shutdown', { next: 'leave' }],
];
for (const [reason, end] of stops) {
  t.test(`the end of a render that was stopped: ${reason}`, async (t) => {
    const { world } = newWorld();
    t.match(await endOfAttempt(claimed(), { kind: 'stopped', durationMs: 5, reason }, world), end);
  });
}

t.test('a renderer that died counts as an attempt, a thread that died does not', async (t) => {
  const { world, errors } = newWorld();
  const died = { kind: 'died', durationMs: 5, message: 'killed' } as const;
  t.match(await endOfAttempt(claimed(2), died, world), {
    next: 'count',
    error: /^The renderer failed 2 times/,
    durationMs: 5,
  });
  t.match(errors, [{ jobId: '1', reason: 'killed', attempt: 2 }]);
  const interrupted = { kind: 'interrupted', durationMs: 0, message: 'killed' } as const;
  t.strictSame(await endOfAttempt(claimed(), interrupted, world), {
    next: 'wait',
    interrupted: true,
    reason: 'killed',
  });
  t.match(errors[1], { jobId: '1', reason: 'killed' });
});

t.test('a scene that failed while the machine was short of something waits and does not count', async (t) => {
  const { world, errors } = newWorld();
  const result = { kind: 'interrupted', durationMs: 0, message: 'no processes', isShortage: true } as const;
  const end = { next: 'wait', interrupted: true, hold: 'shortage', reason: 'no processes' } as const;
  t.strictSame(await endOfAttempt(claimed(2), result, world), end);
  t.same(errors, []);
});

t.test('a render that could not start waits', async (t) => {
  const { world } = newWorld();
  for (const [isShortage, hold] of [
    [true, 'shortage'],
    [false, 'renderer'],
  ] as const) {
    const result = { kind: 'unavailable', durationMs: 0, message: 'no worker', isShortage } as const;
    t.strictSame(await endOfAttempt(claimed(), result, world), { next: 'wait', hold, reason: 'no worker' });
  }
});

t.test(
  'a full disk during the render does not count, and the job waits for space with all others',
  async (t) => {
    const { world, disk, errors } = newWorld();
    const result = { kind: 'disk_full', durationMs: 5, message: 'ENOSPC' } as const;
    disk.isShort = true;
    const end = { next: 'wait', reason: 'the disk is full' };
    t.strictSame(await endOfAttempt(claimed(2), result, world), end);
    t.match(errors, [{ jobId: '1', attempt: 2 }]);
    disk.isFull = true;
    const others = { ...world, spareSpace: undefined };
    t.strictSame(await endOfAttempt(claimed(), result, others), { ...end, hold: 'shortage' });
  },
);

t.test('a job whose files do not fit waits alone while the disk has room for others', async (t) => {
  const { world, errors } = newWorld();
  const end = { next: 'wait', interrupted: true };
  const result = { kind: 'disk_full', durationMs: 5 } as const;
  t.strictSame(await endOfAttempt(claimed(2), result, world), { ...end, reason: 'the disk is full' });
  t.equal(errors.length, 1);
  const full = newWorld(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  t.strictSame(await endOfAttempt(claimed(2), rendered(t), full.world), { ...end, reason: 'full' });
  t.match(full.errors, [{ err: { message: 'full' }, jobId: '1' }]);
});

t.test('artifacts that the store does not take count as an attempt', async (t) => {
  const { world, errors } = newWorld(new Error('refused'));
  t.match(await endOfAttempt(claimed(), rendered(t), world), {
    next: 'count',
    error: /this service could not store it/,
    durationMs: 1_001,
  });
  t.match(errors, [{ err: { message: 'refused' }, jobId: '1' }]);
});

t.test('an attempt whose artifacts a failing store did not take waits and does not count', async (t) => {
  const failure = Object.assign(new Error('full'), { code: 'ENOSPC' });
  const { world, faults } = newWorld(failure, true);
  const end = { next: 'wait', reason: 'full' };
  t.strictSame(await endOfAttempt(claimed(2), rendered(t), world), end);
  const vanished = { ...rendered(t), files: [{ name: 'video.mp4' as const, path: '/no/such/file' }] };
  t.strictSame(await endOfAttempt(claimed(2), vanished, world), end);
  t.same(
    faults,
    [
      [failure, 'a video'.length],
      [failure, 4 * MIB],
    ],
    'with the size of the artifacts, or that of a short video when it is unknown',
  );
});

t.test('an attempt that lacked a resource waits and does not count', async (t) => {
  const shortage = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  const { world, errors } = newWorld(shortage);
  const end = { next: 'wait', hold: 'shortage', reason: 'too many open files' };
  t.strictSame(await endOfAttempt(claimed(), rendered(t), world), end);
  t.strictSame(endOfFailure(claimed().job, shortage, world.logger), end);
  t.same(errors, []);
});

t.test('an error of the service itself counts as an attempt', async (t) => {
  const { world, errors } = newWorld();
  t.match(endOfFailure(claimed(2).job, new Error('a fault'), world.logger), {
    next: 'count',
    error: /^The renderer failed/,
    durationMs: 0,
  });
  t.match(errors, [{ err: { message: 'a fault' }, jobId: '1', reason: 'a fault', attempt: 2 }]);
});

t.test('a render that was being stopped counts as stopped unless it has a result', async (t) => {
  const durationMs = 5;
  for (const kind of ['died', 'disk_full', 'unavailable', 'interrupted'] as const) {
    const result = { kind, durationMs, message: 'x', isShortage: false } as RenderResult;
    t.strictSame(resultOf(result, 'canceled'), { kind: 'stopped', durationMs, reason: 'canceled' }, kind);
    t.equal(resultOf(result, undefined), result);
  }
  const failed: RenderResult = { kind: 'failed', durationMs, error: 'NameError', failedBy: 'scene' };
  t.equal(resultOf(failed, 'canceled'), failed);
});
