import t from 'tap';
import { instantService } from '../../fixtures/instant-service.ts';

t.test('usage is summed by day and key', async (t) => {
  const service = await instantService(t);
  const scene = { owner: 'ada', className: 'A', code: 'x' };
  const ended = async (changes: object) =>
    service.wait((await service.enqueue({ ...scene, ...changes })).jobId);
  const [first, second] = [await ended({ keyId: 'k' }), await ended({ keyId: 'k' })];
  const failed = await ended({ keyId: 'k', code: 'fail: oh' });
  await ended({});
  await ended({ owner: 'bob' });
  const day = new Date().toISOString().slice(0, 10);
  const seconds = (Number(first.durationMs) + Number(second.durationMs) + Number(failed.durationMs)) / 1000;
  t.match(await service.usage({ owner: 'ada' }), [
    { day, keyId: 'k', completed: 2, failures: { scene: 1 }, seconds, credits: 0 },
    { day, keyId: null, completed: 1, failures: {} },
  ]);
  t.same(await service.usage({ owner: 'ada', sinceMs: Date.now() + 60_000 }), []);
  t.same(await service.usage({ owner: 'nobody' }), []);
});
