import t, { type Test } from 'tap';
import { DataFolder, Deliveries } from '../../../lib/index.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { deliveryOf } from '../../../lib/webhooks/deliveries.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const nowMs = Date.parse(NOW);

async function openList(t: Test) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const add = (deliveryId: string, change: Partial<DeliveryRecord> = {}) =>
    storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord(`job of ${deliveryId}`, { phase: 'failed' }), '');
      await storage.deliveries.insert(tx, deliveryRecord(deliveryId, change), `body of ${deliveryId}`);
    });
  const clock = new FakeClock(NOW);
  return { storage, add, clock, deliveries: new Deliveries({ storage, clock }) };
}

t.test('a delivery is waiting, sending, delivered or failed', async (t) => {
  const [open, ended] = [null, nowMs + 1000].map((endedAtMs) => ({
    startedAtMs: nowMs,
    endedAtMs,
    status: endedAtMs === null ? 0 : 503,
    reason: null,
    detail: null,
  })) as [DeliveryRecord['attempts'][number], DeliveryRecord['attempts'][number]];
  const of = (change: Partial<DeliveryRecord>) => deliveryOf(deliveryRecord('1', change));
  const dueAtMs = nowMs + 30_000;
  const nextAttemptAt = '2026-11-21T10:00:30.000Z';
  t.match(of({ dueAtMs }), { status: 'waiting', lastStatus: null, nextAttemptAt, attempts: [] });
  t.match(of({ dueAtMs, attempts: [open] }), { status: 'sending', lastStatus: null, nextAttemptAt: null });
  t.match(of({ dueAtMs, attempts: [ended] }), { status: 'waiting', lastStatus: 503, nextAttemptAt });
  t.match(of({ dueAtMs, attempts: [ended, open] }), { status: 'sending', lastStatus: 503 });
  t.match(of({ dueAtMs: null, attempts: [ended] }), { status: 'failed', nextAttemptAt: null });
  t.match(of({ dueAtMs: null, deliveredAtMs: nowMs, attempts: [ended] }), { status: 'delivered' });
  t.strictSame(of({ attempts: [ended, open] }).attempts, [
    { startedAt: NOW, endedAt: '2026-11-21T10:00:01.000Z', status: 503, reason: null, detail: null },
    { startedAt: NOW, endedAt: null, status: 0, reason: null, detail: null },
  ]);
});

t.test('a delivery is found by its id, and by its owner only', async (t) => {
  const { deliveries, add } = await openList(t);
  await add('1', { owner: 'ada' });
  t.match(await deliveries.get('1'), { deliveryId: '1', body: 'body of 1', answer: null });
  t.match(await deliveries.get('1', { owner: 'ada' }), { owner: 'ada' });
  const message = 'There is no delivery 1.';
  await t.rejects(deliveries.get('1', { owner: 'eve' }), { code: 'not_found', message });
  await t.rejects(deliveries.sendAgain('1', { owner: 'eve' }), { code: 'not_found', message });
  const long = 'x'.repeat(81);
  await t.rejects(deliveries.get(long), { message: `There is no delivery ${'x'.repeat(80)}.` });
});

t.test('the body of a delivery is empty after its job was forgotten', async (t) => {
  const { deliveries, add, storage } = await openList(t);
  await add('1');
  await storage.transaction((tx) => storage.deliveries.forget(tx, deliveryRecord('1')));
  t.equal((await deliveries.get('1')).body, '');
});

t.test('an attempt shows what was sent and received in its last exchange', async (t) => {
  const { deliveries, add, storage } = await openList(t);
  await add('1');
  const attempts = [1, 2].map((second) => ({
    startedAtMs: nowMs + 1000 * second,
    endedAtMs: null,
    status: 0,
    reason: null,
    detail: null,
  }));
  const record = { ...deliveryRecord('1'), attempts };
  for (const exchange of [
    { attempt: 0, signature: 'first', answer: null },
    { attempt: 1, signature: 'second', answer: 'wait' },
    { attempt: 1, signature: 'second', answer: 'ok' },
  ])
    await storage.transaction((tx) => storage.deliveries.update(tx, record, exchange));
  const { attempts: shown } = await deliveries.get('1');
  t.match(shown, [
    { startedAt: '2026-11-21T10:00:01.000Z', signature: 'first', answer: null },
    { startedAt: '2026-11-21T10:00:02.000Z', signature: 'second', answer: 'ok' },
  ]);
  await storage.transaction((tx) =>
    storage.deliveries.update(tx, { ...record, attempts: [...attempts, ...attempts.slice(1)] }),
  );
  t.match((await deliveries.get('1')).attempts[2], { signature: null, answer: null });
});

t.test('deliveries are listed newest first, and due ones are counted', async (t) => {
  const { deliveries, add, clock } = await openList(t);
  await add('1', { dueAtMs: nowMs });
  await add('2', { dueAtMs: nowMs + 1 });
  await add('3', { dueAtMs: null });
  const idsOf = (list: { deliveryId: string }[]) => list.map(({ deliveryId }) => deliveryId);
  t.same(idsOf(await deliveries.list()), ['3', '2', '1']);
  t.same(idsOf(await deliveries.list({ limit: 1 })), ['3']);
  t.equal(await deliveries.countDue(), 1);
  clock.advance(1);
  t.equal(await deliveries.countDue(), 2);
  t.equal(await deliveries.countDue({ limit: 1 }), 1);
});

t.test('deliveries are listed by their state', async (t) => {
  const { deliveries, add } = await openList(t);
  await add('1', { dueAtMs: nowMs });
  await add('2', { dueAtMs: null, deliveredAtMs: nowMs });
  await add('3', { dueAtMs: null });
  for (const [state, deliveryId] of [
    ['pending', '1'],
    ['delivered', '2'],
    ['failed', '3'],
  ] as const) {
    const list = await deliveries.list({ state });
    t.same(
      list.map((delivery) => delivery.deliveryId),
      [deliveryId],
      state,
    );
  }
});

t.test('an invalid query is rejected, and the error names the invalid part', async (t) => {
  const { deliveries } = await openList(t);
  const refused = (name: string) => ({ code: 'invalid_request', message: new RegExp(`^${name} must be`) });
  for (const name of ['owner', 'jobId', 'keyId', 'before', 'after'])
    await t.rejects(deliveries.list({ [name]: 'a\0' }), refused(name), name);
  await t.rejects(deliveries.list({ state: 'sending' as never }), refused('state'));
  await t.rejects(deliveries.list({ limit: 0 }), refused('limit'));
  await t.rejects(deliveries.countDue({ limit: 0 }), refused('limit'));
  const sinceMs = nowMs;
  await t.rejects(deliveries.sendFailedAgain({ sinceMs: 0.5 }), refused('sinceMs'));
  await t.rejects(deliveries.sendFailedAgain({ sinceMs, limit: 0 }), refused('limit'));
  await t.rejects(deliveries.sendFailedAgain({ sinceMs, owner: 'a\0' }), refused('owner'));
});

t.test('a delivery that is sent again is new, has one attempt, and names the first one', async (t) => {
  const { deliveries, add, storage, clock } = await openList(t);
  await add('1', { owner: 'ada', dueAtMs: null, deliveredAtMs: nowMs, token: 3 });
  clock.advance(5_000);
  const again = await deliveries.sendAgain('1');
  const at = '2026-11-21T10:00:05.000Z';
  t.match(again, { status: 'waiting', repeats: '1', createdAt: at, nextAttemptAt: at, attempts: [] });
  t.match(await storage.deliveries.get(again.deliveryId), { mostAttempts: 1, token: 0, owner: 'ada' });
  t.equal((await deliveries.get(again.deliveryId)).body, 'body of 1');
  t.match(await deliveries.sendAgain(again.deliveryId), { repeats: '1' }, 'the first, not the second');
});

t.test('test events are protected as deliveries are', async (t) => {
  const { deliveries } = await openList(t);
  const request = { owner: 'ada', url: 'https://127.0.0.1:1/', secret: 'whsec_1' };
  const { status, reason, body } = await deliveries.sendTest(request);
  t.match({ status, reason }, { status: 0, reason: 'blocked' });
  const { jobId, result } = JSON.parse(body);
  t.same(
    result,
    {
      video: `/artifacts/${jobId}/video.mp4`,
      thumbnail: `/artifacts/${jobId}/thumbnail.jpg`,
      captions: `/artifacts/${jobId}/captions.vtt`,
    },
    'the members of a completed job',
  );
});
