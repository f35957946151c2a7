import t from 'tap';
import { SingleFlight } from '../../../lib/async/single-flight.ts';

t.test('overlapping calls share one run, and a later call begins another', async (t) => {
  const flight = new SingleFlight();
  await flight.ended;
  let runs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = () => {
    runs += 1;
    return promise;
  };
  const all = [flight.run(work), flight.run(work), flight.ended];
  t.ok(flight.isInProgress);
  resolve();
  await Promise.all(all);
  t.notOk(flight.isInProgress);
  await flight.run(work);
  t.equal(runs, 2);
});

t.test('an error rejects all overlapping calls, and the next run works', async (t) => {
  const flight = new SingleFlight();
  const failing = async () => {
    throw new Error('failed');
  };
  const all = [flight.run(failing), flight.run(failing), flight.ended];
  for (const each of all) void t.rejects(each, { message: 'failed' });
  await Promise.allSettled(all);
  await flight.run(async () => {});
});
