import t, { type Test } from 'tap';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import type { ExchangeResult } from '../../../lib/webhooks/outbound.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { claimDeliveries } from '../../fixtures/claims.ts';
import { openPost, type Post, type PostOptions, senderOn } from '../../fixtures/deliveries.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { type Answer, webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const START = '2026-11-21T10:00:00.000Z';
const IN_TEN_YEARS = '2036-11-21T10:00:00.000Z';

async function open(t: Test, answer?: Answer, options: Partial<PostOptions> = {}) {
  const clock = new FakeClock(START);
  const receiver = await webhookReceiver(t, certificate, answer);
  const post = await openPost(t, { clock, outbound, ...options });
  return { ...post, clock, receiver, url: `https://127.0.0.1:${receiver.port}/hook` };
}

async function claimOne({ book, folder }: Pick<Post, 'book' | 'folder'>): Promise<DeliveryRecord> {
  const [claimed, ...more] = await claimDeliveries(folder.storage, book);
  t.same(more, []);
  return claimed as DeliveryRecord;
}

const DELIVERED: ExchangeResult = { status: 200, reason: null, detail: null, answer: 'late', sent: true };
const UNSENT: ExchangeResult = { status: 0, reason: 'stopped', detail: null, answer: null, sent: false };

t.test('a sender whose claim has lapsed can change nothing', async (t) => {
  const { endJob, url, book, clock, deliveries, folder } = await open(t);
  await endJob(url);
  const first = await claimOne({ book, folder });
  clock.advance(10_000 + 30_000);
  const second = await claimOne({ book, folder });
  t.match(second, {
    deliveryId: first.deliveryId,
    token: 2,
    attempts: [{ status: 0, reason: 'interrupted' }, { endedAtMs: null }],
  });
  t.equal(await book.conclude(first, DELIVERED), undefined);
  t.same(await folder.storage.deliveries.get(first.deliveryId), second);
  t.match(await deliveries.get(first.deliveryId), { status: 'sending', answer: null });
  t.match(await book.conclude(second, { ...DELIVERED, status: 503 }), { deliveredAtMs: null });
  t.equal(await book.conclude(second, DELIVERED), undefined, 'nor can one that already reported');
});

t.test('a sender whose attempt was taken back can change nothing', async (t) => {
  const { endJob, url, book, folder } = await open(t);
  await endJob(url);
  const first = await claimOne({ book, folder });
  t.match(await book.conclude(first, UNSENT), { attempts: [] });
  const second = await claimOne({ book, folder });
  t.equal(second.attempts.length, first.attempts.length);
  t.equal(await book.conclude(first, DELIVERED), undefined);
  t.same(await folder.storage.deliveries.get(first.deliveryId), second);
});

t.test('several senders on one store send each outcome once', async (t) => {
  const post = await open(t);
  const { endJob, url, receiver, deliveries, clock } = post;
  const senders = [
    post.sender,
    senderOn(t, post, { clock, outbound }),
    senderOn(t, post, { clock, outbound }),
  ];
  for (let i = 0; i < 60; i += 1) await endJob(url, null, `owner-${i % 20}`);
  for (const sender of senders) sender.start();
  await receiver.got(60);
  await Promise.all(senders.map((sender) => sender.stop({ graceMs: 5_000 })));
  t.equal(receiver.received.length, 60);
  t.equal(new Set(receiver.received.map(({ body }) => JSON.parse(String(body)).jobId)).size, 60);
  for (const { status, attempts } of await deliveries.list({ limit: 100 })) {
    t.match({ status, attempts }, { status: 'delivered', attempts: [{ status: 200 }] });
  }
});

t.test('a delivery is not sent long after its claim, which may have lapsed', async (t) => {
  let claims = 0;
  const secretOf = async () => {
    claims += 1;
    if (claims === 1) clock.advance(20_000);
    return 'secret';
  };
  const { clock, endJob, url, sender, receiver, deliveries } = await open(t, undefined, { secretOf });
  await endJob(url);
  sender.start();
  await receiver.got(1);
  await sender.stop({ graceMs: 5_000 });
  t.match(await deliveries.list(), [{ status: 'delivered', attempts: [{ status: 200 }] }]);
  t.equal(receiver.received.length, 1);
  t.equal(claims, 2);
});

t.test(
  'a delivery scheduled ten years ahead by a wrong clock is sent once the clock is corrected',
  async (t) => {
    const { endJob, url, sender, receiver, clock, deliveries, become } = await open(t, (response) => {
      response.writeHead(receiver.received.length === 1 ? 503 : 200).end();
    });
    clock.set(IN_TEN_YEARS);
    await endJob(url);
    sender.start();
    await receiver.got(1);
    await become('waiting', 1);
    await endJob(url);
    clock.set(START);
    t.equal(await deliveries.countDue(), 2);
    sender.wake();
    await receiver.got(3);
    await sender.stop({ graceMs: 5_000 });
    t.match(await deliveries.list(), [{ status: 'delivered' }, { status: 'delivered' }]);
  },
);

t.test('an attempt in progress is not repeated, whatever the clock says', async (t) => {
  let answer = () => {};
  const { endJob, url, sender, receiver, clock, become } = await open(t, (response) => {
    answer = () => response.end();
    if (receiver.received.length === 1) answer(); // A quick host gets several at a time.
  });
  clock.set(IN_TEN_YEARS);
  sender.start();
  await endJob(url);
  sender.wake();
  await receiver.got(1);
  await become('delivered', 1);
  await endJob(url);
  sender.wake();
  await receiver.got(2);
  clock.set(START);
  const jobId = await endJob('https://10.0.0.1/');
  sender.wake();
  t.match(await become('waiting', 1, { jobId }), { lastStatus: 0 });
  answer();
  await sender.stop({ graceMs: 5_000 });
  t.equal(receiver.received.length, 2);
});
