import { getEventListeners } from 'node:events';
import t from 'tap';
import { abortable } from '../../../lib/async/abortable.ts';

const never = new Promise<never>(() => {});
const given = new Error('given up');

t.test('without an abort, it settles as the promise does', async (t) => {
  const { signal } = new AbortController();
  t.equal(await abortable(Promise.resolve(1), signal), 1);
  t.equal(await abortable(Promise.resolve(2), undefined), 2);
  await t.rejects(abortable(Promise.reject(new Error('failed')), signal), { message: 'failed' });
});

t.test('an abort before or meanwhile rejects with its reason', async (t) => {
  const controller = new AbortController();
  const meanwhile = abortable(never, controller.signal);
  controller.abort(given);
  await t.rejects(meanwhile, given);
  await t.rejects(abortable(never, controller.signal), given);
  await t.rejects(abortable(Promise.resolve(1), controller.signal), given);
});

t.test('a promise that rejects after an abort is handled', async (t) => {
  const work = Promise.withResolvers<void>();
  await t.rejects(abortable(work.promise, AbortSignal.abort(given)), given);
  work.reject(new Error('too late'));
});

t.test('no listener is left on the signal', async (t) => {
  const { signal } = new AbortController();
  await abortable(Promise.resolve(), signal);
  await t.rejects(abortable(Promise.reject(new Error('failed')), signal));
  t.same(getEventListeners(signal, 'abort'), []);
});
