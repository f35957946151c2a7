import { getEventListeners } from 'node:events';
import t from 'tap';
import { DEFAULT_BUDGETS, Fairness } from '../../../../lib/jobs/fairness/fairness.ts';
import { scenesOf, scenesOfOwner } from '../../../../lib/jobs/run/scenes-of.ts';
import { ShortRuns } from '../../../../lib/jobs/run/short-runs.ts';
import type { ListResult } from '../../../../lib/model/render-task.ts';
import { ROLES } from '../../../../lib/model/roles.ts';
import type { Storage } from '../../../../lib/storage/storage.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const NO_FILES = { files: { list: async () => [] } as Partial<Storage['files']> as Storage['files'] };

const rendererOf = (result: ListResult | Promise<ListResult>) => {
  const listed: string[] = [];
  const listScenes = async (code: string) => {
    listed.push(code);
    return result;
  };
  return { listScenes, listed };
};

t.test('the scenes of a source are listed', async (t) => {
  const renderer = rendererOf({ kind: 'listed', scenes: ['A', 'B'], durationMs: 1 });
  t.same(await scenesOf(renderer, 'code'), ['A', 'B']);
  const { signal } = new AbortController();
  t.same(await scenesOf(renderer, 'other', { signal }), ['A', 'B']);
  t.same(renderer.listed, ['code', 'other']);
  t.same(getEventListeners(signal, 'abort'), []);
});

t.test('a service lists no scenes whose names no job can have', async (t) => {
  const renderer = rendererOf({ kind: 'listed', scenes: ['A', 'Größe'], durationMs: 1 });
  const budgets = { ...DEFAULT_BUDGETS, checkSecondsPerHour: 60 };
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const shortRuns = new ShortRuns(new Fairness({ storage: {} as Storage, clock, budgets }));
  shortRuns.onChange = () => shortRuns.begin(() => true);
  const parts = { renderer, shortRuns, roles: ROLES, tex: undefined, storage: NO_FILES };
  t.same(await scenesOfOwner(parts, 'code', {}), ['A']);
  t.same(await scenesOfOwner(parts, 'code', { owner: 'ada' }), ['A']);
  t.same(await scenesOf(renderer, 'code'), ['A', 'Größe']);
});

t.test('errors of the source and of the renderer are distinguished', async (t) => {
  const failed = rendererOf({ kind: 'failed', error: 'NameError', failedBy: 'scene', durationMs: 1 });
  await t.rejects(scenesOf(failed, 'code'), { code: 'invalid_request', message: 'NameError' });
  const died = rendererOf({ kind: 'died', message: 'killed' });
  await t.rejects(scenesOf(died, 'code'), { code: 'renderer_unavailable', message: /failed: killed/ });
  for (const code of ['', undefined, 1]) {
    const message = 'code is required';
    await t.rejects(scenesOf(failed, code as string), { code: 'invalid_request', message });
  }
  t.same(failed.listed, ['code']);
});

t.test('the wait can be aborted', async (t) => {
  const reason = new Error('enough');
  const aborted = rendererOf({ kind: 'listed', scenes: [], durationMs: 1 });
  await t.rejects(scenesOf(aborted, 'code', { signal: AbortSignal.abort(reason) }), reason);
  t.same(aborted.listed, [], 'before anything is asked');
  const controller = new AbortController();
  const listing = scenesOf(rendererOf(new Promise(() => {})), 'code', { signal: controller.signal });
  controller.abort(reason);
  await t.rejects(listing, reason);
  t.same(getEventListeners(controller.signal, 'abort'), []);
});

t.test('the time counts for the owner, whose budget must not be spent', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const budgets = { ...DEFAULT_BUDGETS, checkSecondsPerHour: 60 };
  const fairness = new Fairness({ storage: {} as Storage, clock, budgets });
  const listing = (result: ListResult, owner?: string) => {
    const renderer = rendererOf(result);
    const shortRuns = new ShortRuns(fairness);
    shortRuns.onChange = () => shortRuns.begin(() => true);
    const parts = { renderer, shortRuns, roles: ROLES, tex: undefined, storage: NO_FILES };
    return scenesOfOwner(parts, 'code', owner === undefined ? {} : { owner });
  };
  const slow: ListResult = { kind: 'listed', scenes: ['A'], durationMs: 30_000 };
  t.same(await listing(slow, 'ada'), ['A']);
  t.same(await listing(slow), ['A']);
  await t.rejects(listing({ kind: 'died', message: 'killed' }, 'ada'), { code: 'renderer_unavailable' });
  const failed: ListResult = {
    ...{ kind: 'failed', error: 'too long', failedBy: 'limit:time', durationMs: 30_000 },
  };
  await t.rejects(listing(failed, 'ada'), { code: 'invalid_request' });
  await t.rejects(listing(slow, 'ada'), { code: 'too_many_requests', retryAfterMs: 3_600_000 });
  t.same(await listing(slow, 'bob'), ['A']);
  clock.advance(3_600_000);
  t.same(await listing(slow, 'ada'), ['A']);
});

t.test('runs that wait are refused when others of their owner have used up the budget', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const budgets = { ...DEFAULT_BUDGETS, checkSecondsPerHour: 60 };
  const shortRuns = new ShortRuns(new Fairness({ storage: {} as Storage, clock, budgets }));
  const begun: string[] = [];
  const wait = (owner: string) =>
    shortRuns.run(
      async () => {
        begun.push(owner);
        return { kind: 'listed', scenes: [], durationMs: 30_000 };
      },
      { owner },
    );
  const waiting = Promise.allSettled(['ada', 'ada', 'ada', 'bob'].map(wait));
  while (shortRuns.waiting > 0) {
    shortRuns.begin(() => true);
    await new Promise(setImmediate);
  }
  const ends = (await waiting).map((end) => (end.status === 'fulfilled' ? 'ran' : end.reason.code));
  t.same(ends, ['ran', 'ran', 'too_many_requests', 'ran']);
  t.same(begun, ['ada', 'ada', 'bob']);
});

t.test('the owner with the fewest running ones is next', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const shortRuns = new ShortRuns(new Fairness({ storage: {} as Storage, clock, budgets: DEFAULT_BUDGETS }));
  const begun: string[] = [];
  const wait = (owner: string) => {
    const run = async () => {
      begun.push(owner);
      return new Promise<ListResult>(() => {});
    };
    void shortRuns.run(run, { owner });
  };
  for (const owner of ['ada', 'ada', 'ada', 'bob']) wait(owner);
  while (shortRuns.begin(() => true));
  t.same(begun, ['ada', 'bob', 'ada', 'ada']);
});
