import t from 'tap';
import { InProgress } from '../../../lib/async/in-progress.ts';

t.test('promises are kept until they are fulfilled or rejected', async (t) => {
  const inProgress = new InProgress();
  await inProgress.settled();
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  t.equal(inProgress.add(first.promise), first.promise);
  const rejected = t.rejects(inProgress.add(second.promise), { message: 'no' });
  t.equal(inProgress.size, 2);
  let isSettled = false;
  const settled = inProgress.settled().then(() => {
    isSettled = true;
  });
  first.resolve(1);
  await first.promise;
  await new Promise(setImmediate);
  t.equal(inProgress.size, 1);
  t.notOk(isSettled);
  second.reject(new Error('no'));
  await Promise.all([rejected, settled]);
  t.equal(inProgress.size, 0);
});
