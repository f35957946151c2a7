import { AssertionError } from 'node:assert/strict';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder, type Delivery, LocalSignals } from '../../../lib/index.ts';
import { systemClock, turn } from '../../../lib/time/clock.ts';
import type { ExchangeResult, OutboundRequest } from '../../../lib/webhooks/outbound.ts';
import type { WebhookOptions } from '../../../lib/webhooks/webhook-secrets.ts';
import { Webhooks } from '../../../lib/webhooks/webhooks.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const nowMs = Date.parse(NOW);
const OK: ExchangeResult = { status: 200, reason: null, detail: null, answer: 'ok', sent: true };

async function setUp(
  t: Test,
  options: WebhookOptions = {},
  assetUrl?: string | (() => string),
  withFolder = true,
) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock(NOW);
  const signals = new LocalSignals();
  const calls: string[] = [];
  const posts: OutboundRequest[] = [];
  let isStalled = false;
  let jobs = 0;
  const webhooks = new Webhooks({
    options: { secretOf: () => 'whsec_1', ...options },
    storage,
    signals,
    dataFolder: withFolder ? folder : undefined,
    assetUrl,
    outbound: {
      start: () => void calls.push('start'),
      stop: async () => void calls.push('stop'),
      post: async (request, signal) => {
        posts.push(request);
        if (isStalled) await once(signal, 'abort');
        return OK;
      },
    },
    clock,
    random: systemRandom,
    logger: silentLogger,
  });
  t.teardown(() => webhooks.stop({ graceMs: 0 }));
  const add = (deliveryId: string, host = 'a.test', owner = 'a') =>
    storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord(`job of ${deliveryId}`, { phase: 'failed' }), '');
      const delivery = deliveryRecord(deliveryId, { dueAtMs: nowMs, host, owner });
      await storage.deliveries.insert(tx, delivery, 'a body');
    });
  /** Lets the sender's next transactions commit. */
  const settle = async () => {
    for (let times = 0; times < 5; times++) {
      await storage.transaction((tx) => storage.insertJob(tx, jobRecord(`other${jobs++}`), ''));
      await turn();
    }
  };
  const stall = () => {
    isStalled = true;
  };
  return { webhooks, folder, storage, clock, signals, calls, posts, add, stall, settle };
}

t.test('due deliveries are sent from the start to the stop, and each attempt is reported', async (t) => {
  const { webhooks, posts, calls, add, clock } = await setUp(t);
  const reported: Delivery[] = [];
  webhooks.on('delivery', (delivery) => reported.push(delivery));
  await add('1');
  webhooks.start();
  t.throws(() => webhooks.start(), AssertionError);
  await until(() => reported.length === 1);
  t.match(reported, [{ deliveryId: '1', status: 'delivered' }]);
  t.equal(posts.length, 1);
  await webhooks.stop({ graceMs: 0 });
  await webhooks.stop({ graceMs: 0 });
  t.same(calls, ['start', 'stop']);
  t.equal(clock.nextInMs, undefined);
  await add('2');
  webhooks.start();
  await until(() => posts.length === 2);
  t.same(calls, ['start', 'stop', 'start']);
});

t.test('a signal that a delivery is due wakes the sender', async (t) => {
  const { webhooks, posts, add, signals, settle } = await setUp(t);
  webhooks.notifyDue();
  webhooks.start();
  await settle();
  await add('1');
  signals.publish({ kind: 'waiting' });
  await settle();
  t.equal(posts.length, 0, 'other signals do not');
  webhooks.notifyDue();
  await until(() => posts.length === 1);
});

t.test('a stopped service no longer listens for signals', async (t) => {
  const { webhooks, signals } = await setUp(t);
  let listeners = 0;
  const subscribe = signals.subscribe.bind(signals);
  signals.subscribe = (listener) => {
    const unsubscribe = subscribe(listener);
    listeners += 1;
    return () => {
      listeners -= 1;
      unsubscribe();
    };
  };
  webhooks.start();
  t.equal(listeners, 1);
  await webhooks.stop({ graceMs: 0 });
  t.equal(listeners, 0);
});

t.test(
  'of several processes only the one that leads sends, and it begins when it comes to lead',
  async (t) => {
    let leads = false;
    const { webhooks, storage, posts, add, clock, settle } = await setUp(t);
    storage.lead = async () => leads;
    await add('1');
    webhooks.start();
    await settle();
    t.equal(posts.length, 0);
    leads = true;
    clock.advance(3_000);
    await until(() => posts.length === 1);
  },
);

t.test('a service can stop while it comes to lead', async (t) => {
  const { promise, resolve: comeToLead } = Promise.withResolvers<boolean>();
  const { webhooks, storage, posts, add, settle } = await setUp(t);
  storage.lead = (_task, _holder, forMs) => (forMs > 0 ? promise : Promise.resolve(false));
  await add('1');
  webhooks.start();
  const stopped = webhooks.stop({ graceMs: 0 });
  await settle();
  comeToLead(true);
  await stopped;
  t.equal(posts.length, 0);
});

t.test('nothing is sent while the disk is full, and the sender is woken when there is room', async (t) => {
  const { webhooks, posts, add, folder, settle } = await setUp(t);
  let isShort = true;
  Object.defineProperty(folder.spareSpace, 'isShort', { get: () => isShort });
  await add('1');
  webhooks.start();
  await settle();
  t.equal(posts.length, 0);
  isShort = false;
  folder.spareSpace.emit('available');
  await until(() => posts.length === 1);
  await webhooks.stop({ graceMs: 0 });
  t.equal(folder.spareSpace.listenerCount('available'), 0);
});

t.test('by default 16 hosts are called at once for an owner', async (t) => {
  const { webhooks, posts, add, stall, settle } = await setUp(t);
  stall();
  for (let number = 0; number < 20; number++) await add(`${number}`, `${number}.test`);
  webhooks.start();
  await until(() => posts.length === 16);
  await settle();
  t.equal(posts.length, 16);
});

t.test('the limits of concurrency can be set', async (t) => {
  for (const [options, count] of [
    [{ concurrencyUnproven: 3 }, 3],
    [{ concurrency: 4 }, 2],
  ] as const) {
    const { webhooks, posts, add, stall, settle } = await setUp(t, options);
    stall();
    for (let number = 0; number < 9; number++) await add(`${number}`, `${number}.test`);
    webhooks.start();
    await until(() => posts.length === count);
    await settle();
    t.equal(posts.length, count);
  }
});

t.test('by default eight requests go to a quick host at once', async (t) => {
  const { webhooks, posts, add, stall, settle } = await setUp(t);
  webhooks.on('delivery', stall);
  for (let number = 0; number < 12; number++) await add(`${number}`);
  webhooks.start();
  await until(() => posts.length === 9);
  await settle();
  t.equal(posts.length, 9, 'one, and then eight');
});

t.test('a stop waits for requests during the grace period', async (t) => {
  const { webhooks, posts, add, stall, clock, settle } = await setUp(t);
  stall();
  await add('1');
  webhooks.start();
  await until(() => posts.length === 1);
  let hasStopped = false;
  const stopped = webhooks.stop({ graceMs: 5_000 }).then(() => {
    hasStopped = true;
  });
  await settle();
  t.notOk(hasStopped);
  clock.advance(5_000);
  await stopped;
});

t.test('webhooks work without a data folder', async (t) => {
  const { webhooks, posts, add } = await setUp(t, {}, undefined, false);
  await add('1');
  webhooks.start();
  await until(() => posts.length === 1);
  await webhooks.stop({ graceMs: 0 });
  webhooks.notifyDue();
});

t.test('bodies have links that begin with the asset URL, which may change', async (t) => {
  const artifacts = [{ name: 'video.mp4' as const, assetKey: 'k', sizeBytes: 1 }];
  for (const assetUrl of ['https://assets.test', () => 'https://assets.test', undefined]) {
    const { webhooks, storage } = await setUp(t, {}, assetUrl);
    await storage.transaction(async (tx) => {
      const job = jobRecord('j', { phase: 'completed', artifacts, webhookUrl: 'https://a.test/' });
      await storage.insertJob(tx, job, '');
      await webhooks.book.add(tx, job);
    });
    const [delivery] = await storage.deliveries.list({});
    const body = JSON.parse((await storage.deliveries.readBody(delivery?.deliveryId ?? '')) ?? '');
    t.equal(body.result.video, `${assetUrl ? 'https://assets.test' : ''}/artifacts/j/video.mp4`);
  }
});

t.test('what is missing or invalid is reported', async (t) => {
  const { webhooks } = await setUp(t);
  webhooks.assertOptions();
  await t.rejects(webhooks.prepare('mine'), { code: 'invalid_request', message: /given no `assetUrl`/ });
  const invalid = await setUp(t, { allowNetworks: ['x'] }, 'https://assets.test');
  t.throws(() => invalid.webhooks.assertOptions(), { code: 'invalid_request' });
  await invalid.webhooks.prepare('mine');
});

t.test('requests are posted by the thread of a started service, and by its own process before', async (t) => {
  const { webhooks, posts } = await setUp(t);
  const { signal } = new AbortController();
  const request = { url: 'https://127.0.0.1:1/', headers: {}, body: Buffer.from('') };
  t.match(await webhooks.post(request, signal), { reason: 'blocked', sent: false });
  t.same(posts, []);
  webhooks.start();
  t.equal(await webhooks.post(request, signal), OK);
  t.same(posts, [request]);
});

t.test('the thread of a service has its options', async (t) => {
  const { storage, signals, folder } = await setUp(t);
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return [];
  };
  const webhooks = new Webhooks({
    options: { resolve },
    storage,
    signals,
    dataFolder: folder,
    assetUrl: undefined,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  webhooks.start();
  t.teardown(() => webhooks.stop({ graceMs: 0 }));
  const request = { url: 'https://receiver.test/', headers: {}, body: Buffer.from('') };
  t.match(await webhooks.post(request, new AbortController().signal), { reason: 'dns', sent: false });
  t.same(asked, ['receiver.test']);
});

t.test('secrets of jobs are encrypted, and not again while the master key is the same', async (t) => {
  const { webhooks, storage } = await setUp(t, {}, 'https://assets.test');
  await webhooks.prepare('mine');
  const webhookSecretSealed = webhooks.secrets.seal('mine');
  t.notMatch(webhookSecretSealed, 'mine');
  t.equal(await webhooks.secrets.decrypt(webhookSecretSealed), 'mine');
  await storage.transaction((tx) => storage.insertJob(tx, jobRecord('j', { webhookSecretSealed }), ''));
  t.match(await webhooks.secrets.resealAll(storage, undefined), { jobs: 0, keys: 0 });
});

t.test('links can be made by a function instead', async (t) => {
  const { storage, signals, folder } = await setUp(t);
  const webhooks = new Webhooks({
    options: { secretOf: () => 'whsec_1' },
    storage,
    signals,
    dataFolder: folder,
    assetUrl: undefined,
    artifactUrl: ({ name }) => `https://cdn.test/${name}`,
    clock: new FakeClock(NOW),
    random: systemRandom,
    logger: silentLogger,
  });
  await webhooks.prepare(undefined);
  await storage.transaction(async (tx) => {
    const artifacts = [{ name: 'video.mp4' as const, assetKey: 'k', sizeBytes: 1 }];
    const job = jobRecord('j', { phase: 'completed', artifacts, webhookUrl: 'https://a.test/' });
    await storage.insertJob(tx, job, '');
    await webhooks.book.add(tx, job);
  });
  const [delivery] = await storage.deliveries.list({});
  const body = JSON.parse((await storage.deliveries.readBody(delivery?.deliveryId ?? '')) ?? '');
  t.equal(body.result.video, 'https://cdn.test/video.mp4');
});
