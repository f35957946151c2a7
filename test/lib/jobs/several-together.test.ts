import t from 'tap';
import type { EnqueueRequest } from '../../../lib/index.ts';
import { instantService } from '../../fixtures/instant-service.ts';

const code = 'invalid_request';

function requests(count: number, changes: Partial<EnqueueRequest> = {}): EnqueueRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ owner: 'ada', className: `A${index}`, code: `# ${index}`, ...changes },
  }));
}

t.test('several requests become jobs in their order, each of which renders', async (t) => {
  const service = await instantService(t);
  const jobs = await service.enqueueMany(requests(5));
  t.same(
    jobs.map(({ className }) => className),
    ['A0', 'A1', 'A2', 'A3', 'A4'],
  );
  for (const { jobId } of jobs) t.match(await service.wait(jobId), { status: 'completed' });
});

t.test('a repeated request returns the same jobs', async (t) => {
  const service = await instantService(t);
  const idempotency = { key: 'k' };
  const jobs = await service.enqueueMany(requests(3), { idempotency });
  const again = await service.enqueueMany(requests(3), { idempotency });
  t.same(
    again.map(({ jobId }) => jobId),
    jobs.map(({ jobId }) => jobId),
  );
  await t.rejects(service.enqueueMany(requests(4), { idempotency }), { code: 'conflict' });
  await t.rejects(service.enqueueMany(requests(2), { idempotency }), { code: 'conflict' });
  t.equal((await service.list()).length, 3);
});

t.test('a wrong request is named, and no job is added', async (t) => {
  const service = await instantService(t, { queue: { maxQueued: 3 } });
  await service.pauseQueue();
  const wrong = [...requests(2), { ...requests(1)[0], fps: 0 } as EnqueueRequest];
  await t.rejects(service.enqueueMany(wrong), { code, message: 'jobs[2]: fps must be a positive integer' });
  await t.rejects(service.enqueueMany([]), { code });
  await t.rejects(service.enqueueMany(requests(101)), { code });
  await t.rejects(service.enqueueMany([...requests(1), ...requests(1, { owner: 'bob' })]), { code });
  await t.rejects(service.enqueueMany(requests(1, { idempotency: { key: 'k' } })), { code });
  await t.rejects(service.enqueueMany(requests(1), { idempotency: { key: '' } }), { code });
  await t.rejects(service.enqueueMany(requests(4)), { code: 'queue_full' });
  t.same(await service.list(), []);
  t.equal((await service.enqueueMany(requests(3))).length, 3);
});
