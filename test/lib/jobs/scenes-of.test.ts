import { getEventListeners } from 'node:events';
import t from 'tap';
import { scenesOf } from '../../../lib/jobs/scenes-of.ts';
import type { ListResult } from '../../../lib/render/run/render-task.ts';

const rendererOf = (result: ListResult | Promise<ListResult>) => {
  const listed: string[] = [];
  const listScenes = async (code: string) => {
    listed.push(code);
    return result;
  };
  return { listScenes, listed };
};

t.test('the scenes of a source are listed', async (t) => {
  const renderer = rendererOf({ kind: 'listed', scenes: ['A', 'B'] });
  t.same(await scenesOf(renderer, 'code'), ['A', 'B']);
  const { signal } = new AbortController();
  t.same(await scenesOf(renderer, 'other', signal), ['A', 'B']);
  t.same(renderer.listed, ['code', 'other']);
  t.same(getEventListeners(signal, 'abort'), []);
});

t.test('errors of the source and of the renderer are distinguished', async (t) => {
  const failed = rendererOf({ kind: 'failed', error: 'NameError' });
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
  const aborted = rendererOf({ kind: 'listed', scenes: [] });
  await t.rejects(scenesOf(aborted, 'code', AbortSignal.abort(reason)), reason);
  t.same(aborted.listed, [], 'before anything is asked');
  const controller = new AbortController();
  const listing = scenesOf(rendererOf(new Promise(() => {})), 'code', controller.signal);
  controller.abort(reason);
  await t.rejects(listing, reason);
  t.same(getEventListeners(controller.signal, 'abort'), []);
});
