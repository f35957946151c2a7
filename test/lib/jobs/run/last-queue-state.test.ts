import t from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { LastQueueState } from '../../../../lib/jobs/run/last-queue-state.ts';
import { SortableIds } from '../../../../lib/model/ids.ts';
import type { Queue, QueueState } from '../../../../lib/storage/queue/queue.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const EMPTY: QueueState = { waiting: 0, running: 0, owners: 0, oldest: null };

/** A queue whose answers the test gives, in the order of the calls. */
function newQueue() {
  const calls: PromiseWithResolvers<QueueState>[] = [];
  const state = () => {
    const call = Promise.withResolvers<QueueState>();
    calls.push(call);
    return call.promise;
  };
  return { calls, queueState: new LastQueueState({ state } as unknown as Queue) };
}

t.test('the state is that of the last refresh', async (t) => {
  const { calls, queueState } = newQueue();
  t.equal(queueState.waiting, 0);
  t.equal(queueState.oldestMs, null);
  const refreshed = queueState.refresh();
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const id = new SortableIds(clock, systemRandom).next();
  calls[0]?.resolve({ ...EMPTY, waiting: 7, oldest: id });
  await refreshed;
  t.equal(queueState.waiting, 7);
  t.equal(queueState.oldestMs, clock.now());
  t.equal(calls.length, 1);
});

t.test('a refresh during another reads the state once more, however often it is called', async (t) => {
  const { calls, queueState } = newQueue();
  const refreshed = [queueState.refresh(), queueState.refresh(), queueState.refresh()];
  calls[0]?.resolve(EMPTY);
  // The first answer may be older than the other calls.
  const second = queueState.refresh();
  await turn();
  calls[1]?.resolve({ ...EMPTY, waiting: 2 });
  await Promise.all([...refreshed, second]);
  t.equal(calls.length, 2);
  t.equal(queueState.waiting, 2);
});

t.test('a refresh that failed can be repeated', async (t) => {
  const { calls, queueState } = newQueue();
  const refreshed = queueState.refresh();
  calls[0]?.reject(new Error('unavailable'));
  await t.rejects(refreshed, { message: 'unavailable' });
  const again = queueState.refresh();
  calls[1]?.resolve({ ...EMPTY, waiting: 1 });
  await again;
  t.equal(queueState.waiting, 1);
});
