import t from 'tap';
import { ScenepressError } from '../../../lib/index.ts';
import { Cancellations, type CancellationsOptions } from '../../../lib/jobs/end/cancellations.ts';

function recovery(failures: Error[]) {
  const calls: unknown[] = [];
  const cancellations = new Cancellations({
    ending: {
      recover: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return { requeued: [], orphans: ['1/video.mp4'], stuck: ['2', '3'] };
      },
      complete: async (jobId: string) => void calls.push(['complete', jobId]),
    },
    discards: { add: (keys: string[]) => void calls.push(['discard', keys]) },
  } as unknown as CancellationsOptions);
  return { calls, done: () => cancellations.recover() };
}

const RESULT = [
  ['discard', ['1/video.mp4']],
  ['complete', '2'],
  ['complete', '3'],
];

t.test('artifacts of interrupted attempts are removed, and stuck jobs completed', async (t) => {
  const { calls, done } = recovery([]);
  await done();
  t.same(calls, RESULT);
});

t.test('it is repeated once when the disk is full', async (t) => {
  const full = () => new ScenepressError('storage_full', 'The disk is full.');
  const once = recovery([full()]);
  await once.done();
  t.same(once.calls, RESULT);
  await t.rejects(recovery([full(), full()]).done(), { code: 'storage_full' });
  await t.rejects(recovery([new Error('another')]).done(), { message: 'another' });
});
