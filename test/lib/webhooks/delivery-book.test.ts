import { AssertionError } from 'node:assert/strict';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder } from '../../../lib/index.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { DeliveryBook, dueAt } from '../../../lib/webhooks/delivery-book.ts';
import type { ExchangeResult } from '../../../lib/webhooks/outbound.ts';
import { claimDeliveries } from '../../fixtures/claims.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-11-21T10:00:00Z');

async function openBook(t: Test, assetUrl?: () => string) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const book = new DeliveryBook({
    storage,
    clock,
    random: systemRandom,
    ...(assetUrl && { links: assetUrl }),
  });
  const end = (change: Partial<JobRecord> = {}) =>
    storage.transaction(async (tx) => {
      const job = jobRecord('j', { phase: 'failed', webhookUrl: 'https://a.test:8443/hook', ...change });
      await storage.insertJob(tx, job, '');
      await book.add(tx, job);
    });
  const claim = async () => (await claimDeliveries(storage, book))[0];
  const begin = async () => {
    const delivery = await claim();
    if (!delivery) throw new Error('none is due');
    return delivery;
  };
  const only = async () => (await storage.deliveries.list({}))[0] as DeliveryRecord;
  return { storage, clock, book, end, claim, begin, only };
}

const ok: ExchangeResult = { status: 200, reason: null, detail: null, answer: 'thanks', sent: true };
const refused: ExchangeResult = { status: 0, reason: 'refused', detail: 'no', answer: null, sent: false };

t.test('a job that ended with a webhook has one delivery, due immediately', async (t) => {
  const { storage, end, only, book } = await openBook(t, () => 'https://assets.test');
  t.equal((await book.duePeriod()) !== undefined, false);
  await end({ owner: 'ada', keyId: 'key_1', webhookSecretSealed: 'sealed', phase: 'completed' });
  const delivery = await only();
  t.match(delivery, {
    jobId: 'j',
    owner: 'ada',
    keyId: 'key_1',
    secretSealed: 'sealed',
    event: 'completed',
    url: 'https://a.test:8443/hook',
    host: 'a.test:8443',
    createdAtMs: START,
    repeats: null,
    mostAttempts: 4,
    token: 0,
    attempts: [],
    dueAtMs: START,
    deliveredAtMs: null,
  });
  t.match(JSON.parse((await storage.deliveries.readBody(delivery.deliveryId)) ?? ''), { jobId: 'j' });
  t.equal((await book.duePeriod()) !== undefined, true);
});

t.test('the links in a body begin with the base URL, or with the path', async (t) => {
  const artifacts = [{ name: 'video.mp4' as const, assetKey: 'k', sizeBytes: 1 }];
  for (const assetUrl of [() => 'https://assets.test', undefined]) {
    const { storage, end, only } = await openBook(t, assetUrl);
    await end({ phase: 'completed', artifacts });
    const body = await storage.deliveries.readBody((await only()).deliveryId);
    t.equal(JSON.parse(body ?? '').result.video, `${assetUrl?.() ?? ''}/artifacts/j/video.mp4`);
  }
});

t.test('a job without a webhook has none, and one that has not ended cannot have any', async (t) => {
  const { end, only } = await openBook(t);
  await end({ webhookUrl: null });
  t.equal(await only(), undefined);
  await t.rejects(end({ jobId: 'k', phase: 'running' }), AssertionError);
});

t.test('any 2xx that is complete ends the delivery, and nothing else does', async (t) => {
  for (const [result, isDelivered] of [
    [{ ...ok, status: 199 }, false],
    [ok, true],
    [{ ...ok, status: 299 }, true],
    [{ ...ok, status: 300 }, false],
    [{ ...ok, reason: 'timeout' }, false],
    [refused, false],
  ] as [ExchangeResult, boolean][]) {
    const { end, begin, book, clock } = await openBook(t);
    await end();
    const begun = await begin();
    t.match(begun.attempts, [{ startedAtMs: START, endedAtMs: null, status: 0, reason: null, detail: null }]);
    clock.advance(10);
    const { status, reason, detail } = result;
    t.match(await book.conclude(begun, result), {
      attempts: [{ startedAtMs: START, endedAtMs: START + 10, status, reason, detail }],
      deliveredAtMs: isDelivered ? START + 10 : null,
      dueAtMs: isDelivered ? null : START + 10 + 30_000,
    });
  }
});

t.test('the answer is stored with the delivery', async (t) => {
  const { storage, end, begin, book } = await openBook(t);
  await end();
  const begun = await begin();
  await book.conclude(begun, ok, 't=1,v1=00');
  t.same(await storage.deliveries.readExchanges(begun.deliveryId), [
    { attempt: 0, signature: 't=1,v1=00', answer: 'thanks' },
  ]);
});

t.test('attempts follow 30 s, 5 min and 30 min after the end of the one before', async (t) => {
  const { end, begin, claim, book, clock } = await openBook(t);
  await end();
  for (const delayMs of [30_000, 5 * MINUTE_MS, 30 * MINUTE_MS]) {
    const begun = await begin();
    clock.advance(2_000);
    t.match(await book.conclude(begun, refused), { dueAtMs: clock.now() + delayMs });
    clock.advance(delayMs - 1);
    t.equal(await claim(), undefined);
    clock.advance(1);
  }
  const last = await begin();
  t.equal(last.attempts.length, 4);
  t.match(last.attempts[0], { endedAtMs: START + 2_000, reason: 'refused' });
  t.equal(last.dueAtMs, clock.now() + 30_000, 'it is given up when it never ends');
  t.match(await book.conclude(last, refused), { dueAtMs: null, deliveredAtMs: null });
  t.equal((await book.duePeriod()) !== undefined, false);
});

t.test('an attempt that never ends counts as one of ten seconds', async (t) => {
  const { end, begin, only, clock } = await openBook(t);
  await end();
  for (const delayMs of [30_000, 5 * MINUTE_MS, 30 * MINUTE_MS]) {
    t.equal((await begin()).dueAtMs, clock.now() + 10_000 + delayMs);
    clock.advance(10_000 + delayMs);
  }
  const { attempts } = await begin();
  t.match(attempts[0], {
    startedAtMs: START,
    endedAtMs: START + 10_000,
    reason: 'interrupted',
    detail: 'the service ended during the request',
  });
  t.equal(attempts.at(-1)?.endedAtMs, null);
  clock.advance(30_000);
  const ended = await begin();
  t.equal(ended.dueAtMs, null, 'the last one is not repeated');
  t.equal(ended.attempts.length, 4);
  t.equal(ended.attempts.at(-1)?.reason, 'interrupted');
  t.equal((await only()).dueAtMs, null);
});

t.test('an attempt that was stopped counts only when something was sent', async (t) => {
  const { end, begin, book, clock } = await openBook(t);
  await end();
  const stopped: ExchangeResult = { ...refused, reason: 'stopped' };
  clock.advance(5);
  const begun = await begin();
  const after = await book.conclude(begun, stopped);
  t.match(after, { dueAtMs: clock.now() });
  t.same(after?.attempts, []);
  t.equal(await book.conclude(begun, ok), undefined, 'it has ended');
  const { attempts } = (await book.conclude(await begin(), { ...stopped, sent: true })) ?? {};
  t.match(attempts, [{ reason: 'stopped' }]);
});

t.test('results of attempts that have ended, or were claimed again, have no effect', async (t) => {
  const { end, begin, book, only, clock } = await openBook(t);
  await end();
  const first = await begin();
  clock.advance(40_000);
  const second = await begin();
  t.equal(await book.conclude(first, ok), undefined);
  t.match(await book.conclude(second, refused), { deliveredAtMs: null });
  const before = await only();
  t.equal(await book.conclude(second, ok), undefined);
  t.same(await only(), before);
  t.equal(await book.conclude(deliveryRecord('unknown'), ok), undefined);
});

t.test('the latest valid due time is one exchange and the longest retry delay ahead', async (t) => {
  t.same(dueAt(1_000), { nowMs: 1_000, latestDueMs: 1_000 + 10_000 + 30 * MINUTE_MS });
});

t.test('a delivery is sent again with the secret that is stored by then', async (t) => {
  const { end, only, book, storage, clock } = await openBook(t);
  await end({ webhookSecretSealed: 'sealed' });
  const first = await only();
  await storage.deliveries.resealSecrets({ reseal: () => 'sealed again', from: undefined, limit: 10 });
  clock.advance(7);
  const again = await book.redeliver(first);
  t.match(await storage.deliveries.get(again.deliveryId), {
    secretSealed: 'sealed again',
    repeats: first.deliveryId,
    mostAttempts: 1,
    createdAtMs: START + 7,
    dueAtMs: START + 7,
  });
  t.same(again.attempts, []);
});

t.test('a delivery that is sent again has one attempt', async (t) => {
  const { end, only, begin, book, clock } = await openBook(t);
  await end();
  await book.conclude(await begin(), ok);
  clock.advance(1);
  await book.redeliver(await only());
  t.match(await book.conclude(await begin(), refused), { dueAtMs: null, deliveredAtMs: null });
});

t.test('several deliveries are sent again unless their jobs have newer ones', async (t) => {
  const { end, only, book, storage, clock } = await openBook(t);
  await end();
  const first = await only();
  clock.advance(1);
  const added = await book.redeliverAll([first]);
  t.match(added, [{ repeats: first.deliveryId, mostAttempts: 1, dueAtMs: START + 1 }]);
  t.same(added, [await only()]);
  t.same(await book.redeliverAll([first]), []);
  t.equal((await storage.deliveries.list({})).length, 2);
});

t.test('a delivery whose body was removed is not sent again', async (t) => {
  const { end, only, book, storage } = await openBook(t);
  const removed = { code: 'not_found', message: /has been removed/ };
  await end();
  const delivery = await only();
  await t.rejects(book.redeliver({ ...delivery, deliveryId: 'unknown' }), removed);
  // Removed after the body was read.
  await storage.transaction(async (tx) => {
    const job = (await storage.getJob('j', tx)) as JobRecord;
    await storage.forgetJob(tx, { ...job, forgottenAtMs: START });
  });
  await t.rejects(book.redeliver(delivery), removed);
  t.equal((await storage.deliveries.list({})).length, 1);
});

t.test('a waiting delivery is sent before its delay has passed, as one of its attempts', async (t) => {
  const { book, end, begin, claim, only } = await openBook(t);
  await end();
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const begun = await begin();
    await t.rejects(book.hasten(begun.deliveryId), { code: 'conflict' }, 'not while it is being sent');
    await t.rejects(book.giveUp(begun.deliveryId), { code: 'conflict' });
    await book.conclude(begun, refused);
    t.equal(await claim(), undefined);
    if (attempt < 4) t.match(await book.hasten(begun.deliveryId), { dueAtMs: START });
  }
  const { deliveryId, attempts, dueAtMs } = await only();
  t.match([attempts.length, dueAtMs], [4, null]);
  await t.rejects(book.hasten(deliveryId), { code: 'conflict' }, 'not once it has ended');
  await t.rejects(book.hasten('none'), { code: 'conflict' });
});

t.test('a waiting delivery that is given up has failed, and is not due again', async (t) => {
  const { book, clock, end, begin, claim } = await openBook(t);
  await end();
  const begun = await begin();
  await book.conclude(begun, refused);
  const given = await book.giveUp(begun.deliveryId);
  t.match(given, { dueAtMs: null, deliveredAtMs: null, attempts: [{ reason: 'refused' }] });
  clock.advance(60 * MINUTE_MS);
  t.equal(await claim(), undefined);
  t.equal((await book.duePeriod()) !== undefined, false);
  await t.rejects(book.giveUp(begun.deliveryId), { code: 'conflict' });
});
