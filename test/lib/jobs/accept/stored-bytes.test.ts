import t from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { StoredBytes } from '../../../../lib/jobs/accept/stored-bytes.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import type { Storage } from '../../../../lib/storage/storage.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { instantService } from '../../../fixtures/instant-service.ts';
import { settled } from '../../../simulator/settled.ts';

const MOST = 1_000;
const SECOND_MS = 1_000;

function open({ isShared = false, most = MOST } = {}) {
  const clock = new FakeClock('2026-11-27T10:00:00Z');
  const stored = new Map<string, number>();
  let reads = 0;
  const storage = {
    isShared,
    storedBytes: async (owner: string) => {
      reads += 1;
      return stored.get(owner) ?? 0;
    },
  } as Partial<Storage> as Storage;
  const bytes = new StoredBytes({ storage, clock, logger: silentLogger, most });
  return { clock, stored, bytes, reads: () => reads };
}

const job = (metadataJson: string | null, sizeBytes = 0) =>
  ({ owner: 'a', metadataJson, artifacts: sizeBytes ? [{ sizeBytes }] : [] }) as unknown as JobRecord;

t.test('an owner over the limit may add no job until something was removed', async (t) => {
  const { clock, stored, bytes, reads } = open();
  stored.set('a', 600);
  t.equal(await bytes.problemOf('a'), undefined, 'it is not known yet');
  await settled();
  bytes.added(job('"metadata"'), 'x'.repeat(90));
  bytes.ended(job(null, 299));
  t.equal(await bytes.problemOf('a'), undefined, '999 bytes');
  t.equal(reads(), 1);
  bytes.ended(job(null, 1));
  stored.set('a', 1000);
  clock.advance(6 * SECOND_MS);
  t.match(await bytes.problemOf('a'), { code: 'too_much_stored', message: /GiB.*Forget jobs/ });
  stored.set('a', 10);
  t.match(await bytes.problemOf('a'), { code: 'too_much_stored' }, 'it was read just now');
  t.equal(reads(), 2);
  clock.advance(6 * SECOND_MS);
  t.equal(await bytes.problemOf('a'), undefined);
});

t.test('what other processes store is noticed', async (t) => {
  const { clock, stored, bytes } = open({ isShared: true });
  await bytes.problemOf('a');
  await settled();
  stored.set('a', MOST);
  t.equal(await bytes.problemOf('a'), undefined);
  clock.advance(61 * SECOND_MS);
  t.equal(await bytes.problemOf('a'), undefined, 'it is read again');
  await settled();
  t.match(await bytes.problemOf('a'), { code: 'too_much_stored' });
});

t.test('use is shown, at most a minute old', async (t) => {
  const { clock, stored, bytes, reads } = open();
  stored.set('a', 5);
  t.equal(await bytes.of('a'), 5);
  bytes.added(job(null), 'xx');
  t.equal(await bytes.of('a'), 7);
  t.equal(reads(), 1);
  clock.advance(61 * SECOND_MS);
  t.equal(await bytes.of('a'), 5);
  t.equal(bytes.most, MOST);
});

t.test('there may be no limit', async (t) => {
  const { bytes, reads } = open({ most: 0 });
  t.equal(await bytes.problemOf('a'), undefined);
  t.equal(bytes.most, null);
  t.equal(reads(), 0);
});

t.test('a service refuses jobs of an owner who stores too much, until some are forgotten', async (t) => {
  const clock = new FakeClock('2026-11-27T10:00:00Z');
  const service = await instantService(t, { clock, budgets: { storedBytes: 40_000 } });
  const request = (owner: string, code = '') => ({
    owner,
    code: `class Main(Scene): pass\n${code}`,
    className: 'Main',
  });
  const large = await service.enqueue(request('a', `# ${noise()}`));
  t.match(await service.wait(large.jobId), { status: 'completed' });
  const { bytes } = await service.storedBytes('a');
  t.ok(bytes !== null && bytes > 40_000, `${bytes} bytes`);
  t.equal((await service.storedBytes('a')).mostBytes, 40_000);
  await t.rejects(service.enqueue(request('a')), { code: 'too_much_stored' });
  await service.enqueue(request('b'));
  await service.forget(large.jobId);
  clock.advance(6 * SECOND_MS);
  await service.enqueue(request('a'));
});

/** 60,000 characters that can't be compressed by much. */
function noise(): string {
  return Array.from({ length: 60_000 }, (_, i) => String.fromCharCode(33 + ((i * i * 7919) % 89))).join('');
}
