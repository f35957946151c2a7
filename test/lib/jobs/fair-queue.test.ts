import t from 'tap';
import { FairQueue } from '../../../lib/jobs/fair-queue.ts';

function queueOf(...jobs: string[]): FairQueue {
  const queue = new FairQueue();
  for (const job of jobs) queue.add(job.charAt(0), job);
  return queue;
}

function drain(queue: FairQueue): string[] {
  const jobs: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) jobs.push(next.jobId);
  return jobs;
}

t.test('owners take turns, and each one’s jobs keep their order', async (t) => {
  t.same(drain(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2')), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

t.test('an owner who comes late waits one round, not the whole queue', async (t) => {
  const queue = queueOf('a1', 'a2', 'a3');
  t.same(queue.take(), { owner: 'a', jobId: 'a1' });
  queue.add('b', 'b1');
  t.same(drain(queue), ['a2', 'b1', 'a3']);
});

t.test('a job that had its turn already goes first', async (t) => {
  const queue = queueOf('a1', 'b1', 'b2');
  queue.addFirst('b', 'b0');
  t.equal(queue.size, 4);
  t.same(drain(queue), ['b0', 'a1', 'b1', 'b2']);
});

t.test('an owner who may not have a turn is passed over, and keeps its place', async (t) => {
  const queue = queueOf('a1', 'b1', 'a2');
  t.same(
    queue.take((owner) => owner !== 'a'),
    { owner: 'b', jobId: 'b1' },
  );
  t.equal(
    queue.take((owner) => owner !== 'a'),
    undefined,
  );
  t.equal(queue.sizeOf('a'), 2);
  t.same(drain(queue), ['a1', 'a2']);
});

t.test('a removed job is not taken', async (t) => {
  const queue = queueOf('a1', 'a2', 'b1');
  t.equal(queue.remove('a', 'a1'), true);
  t.equal(queue.remove('a', 'a1'), false);
  t.equal(queue.remove('x', 'x1'), false);
  t.equal(queue.remove('b', 'b1'), true);
  t.equal(queue.size, 1);
  t.same(drain(queue), ['a2']);
  t.equal(queue.size, 0);
});
