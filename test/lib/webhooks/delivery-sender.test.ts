import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder, ScenepressError } from '../../../lib/index.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { turn } from '../../../lib/time/clock.ts';
import { DeliveryBook } from '../../../lib/webhooks/delivery-book.ts';
import { DeliverySender, type DeliverySenderOptions } from '../../../lib/webhooks/delivery-sender.ts';
import type { ExchangeResult, OutboundRequest } from '../../../lib/webhooks/outbound.ts';
import { verifyWebhook } from '../../../lib/webhooks/signature.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const nowMs = Date.parse('2026-11-21T10:00:00Z');
const SECRET = 'whsec_1';
const OK: ExchangeResult = { status: 200, reason: null, detail: null, answer: 'ok', sent: true };
const STOPPED: ExchangeResult = { ...OK, status: 0, reason: 'stopped', answer: null, sent: false };

interface Post {
  request: OutboundRequest;
  end: (result: ExchangeResult) => void;
  signal: AbortSignal;
}

/** A sender whose requests the test answers. An aborted request ends as stopped. */
async function setUp(t: Test, options: Partial<DeliverySenderOptions> = {}) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T09:58:20Z');
  // The process has run for a while.
  clock.advance(100_000);
  const book = new DeliveryBook({ storage, clock, random: systemRandom });
  const claims: number[] = [];
  const claim = book.claim.bind(book);
  book.claim = async (ids) => {
    const claimed = await claim(ids);
    claims.push(claimed.length);
    return claimed;
  };
  const posts: Post[] = [];
  const attempted: DeliveryRecord[] = [];
  const logged: unknown[][] = [];
  const sender = new DeliverySender({
    store: storage.deliveries,
    book,
    outbound: {
      post: (request, signal) => {
        const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
        posts.push({ request, signal, end: resolve });
        signal.addEventListener('abort', () => resolve(STOPPED));
        if (signal.aborted) resolve(STOPPED);
        return promise;
      },
    },
    secretOf: async () => SECRET,
    clock,
    logger: {
      ...silentLogger,
      info: (...args) => void logged.push(['info', ...args]),
      error: (...args) => void logged.push(['error', ...args]),
    },
    concurrency: 256,
    concurrencyPerHost: 8,
    concurrencyUnproven: 16,
    ...options,
  });
  sender.on('attempt', (delivery) => attempted.push(delivery));
  t.teardown(() => sender.stop());
  const add = (deliveryId: string, change: Partial<DeliveryRecord> = {}) =>
    storage.transaction(async (tx) => {
      await storage.insertJob(tx, jobRecord(`job of ${deliveryId}`, { phase: 'failed' }), '');
      const delivery = deliveryRecord(deliveryId, { dueAtMs: nowMs, ...change });
      await storage.deliveries.insert(tx, delivery, `body of ${deliveryId}`);
    });
  const get = (deliveryId: string) => storage.deliveries.get(deliveryId);
  let jobs = 0;
  /** Lets the sender's next transactions commit. */
  const settle = async () => {
    for (let times = 0; times < 5; times++) {
      await storage.transaction((tx) => storage.insertJob(tx, jobRecord(`other${jobs++}`), ''));
      await turn();
    }
  };
  return {
    claims,
    settle,
    sender,
    storage,
    book,
    clock,
    posts,
    attempted,
    logged,
    add,
    get,
  };
}

t.test('a due delivery is sent with its body and signature, and its attempt recorded', async (t) => {
  const { sender, posts, add, get, attempted, logged, clock, storage } = await setUp(t);
  await add('1', { owner: 'ada', url: 'https://a.test/hook', event: 'completed' });
  sender.start();
  await until(() => posts.length === 1);
  const { request, end } = posts[0] as Post;
  t.equal(request.url, 'https://a.test/hook');
  t.equal(Buffer.from(request.body).toString(), 'body of 1');
  const signature = request.headers['svc-signature'];
  t.strictSame(request.headers, {
    'content-type': 'application/json',
    'svc-event': 'completed',
    'svc-signature': signature,
    'user-agent': 'scenepress',
  });
  t.match(verifyWebhook(request.body, signature, SECRET, { now: nowMs }), { valid: true });
  clock.advance(70);
  end(OK);
  await until(() => attempted.length === 1);
  t.match(await get('1'), { deliveredAtMs: nowMs + 70 });
  t.match(attempted[0], { deliveryId: '1', attempts: [{ status: 200 }] });
  t.same(await storage.deliveries.readExchanges('1'), [{ attempt: 0, signature, answer: 'ok' }]);
  await until(() => logged.length === 1);
  const details = { deliveryId: '1', jobId: 'job of 1', host: 'a.test', attempt: 1, status: 200, ms: 70 };
  t.match(logged, [['info', details, 'webhook']]);
});

t.test('a redelivery names the delivery that it repeats', async (t) => {
  const { sender, posts, add } = await setUp(t);
  await add('2', { repeats: '1' });
  sender.start();
  await until(() => posts.length === 1);
  t.equal(posts[0]?.request.headers['svc-redelivery'], '1');
});

for (const [title, secretOf, errors] of [
  ['without a secret', async () => null, 0],
  ['with an empty secret', async () => '', 0],
  [
    'whose secret cannot be read',
    async () => {
      throw new Error('no key');
    },
    1,
  ],
] as [string, () => Promise<string | null>, number][]) {
  t.test(`a delivery ${title} is not sent, and the attempt counts`, async (t) => {
    const { sender, posts, add, attempted, logged, storage } = await setUp(t, { secretOf });
    await add('1');
    sender.start();
    await until(() => attempted.length === 1);
    t.match(attempted[0]?.attempts, [{ status: 0, reason: 'secret' }]);
    t.equal(posts.length, 0);
    t.same(await storage.deliveries.readExchanges('1'), []);
    const failures = logged.filter(([level]) => level === 'error');
    t.equal(failures.length, errors);
    if (errors > 0) t.match(failures[0]?.[1], { err: { message: 'no key' }, deliveryId: '1' });
  });
}

t.test('the sender checks for due deliveries every second, and when it is woken', async (t) => {
  const { settle, sender, posts, add, clock } = await setUp(t);
  await add('1');
  sender.wake();
  await settle();
  t.equal(posts.length, 0, 'not before the start');
  sender.start();
  sender.start();
  await until(() => posts.length === 1);
  await add('2', { host: 'b.test' });
  await settle();
  t.equal(posts.length, 1);
  t.equal(clock.nextInMs, 1_000);
  clock.advance(1_000);
  await until(() => posts.length === 2);
  await add('3', { host: 'c.test' });
  sender.wake();
  await until(() => posts.length === 3);
});

t.test('no attempt begins while none may', async (t) => {
  let mayBegin = false;
  const { settle, sender, posts, add } = await setUp(t, { mayBegin: () => mayBegin });
  await add('1');
  sender.start();
  await settle();
  t.equal(posts.length, 0);
  mayBegin = true;
  sender.wake();
  await until(() => posts.length === 1);
});

t.test('the end of an exchange frees capacity for the next', async (t) => {
  const { settle, sender, posts, add } = await setUp(t, { concurrency: 2 });
  for (const number of [1, 2, 3]) await add(String(number), { owner: `owner${number}` });
  sender.start();
  await until(() => posts.length === 2);
  await settle();
  t.equal(posts.length, 2);
  posts[0]?.end(OK);
  await until(() => posts.length === 3);
});

t.test('deliveries are claimed in steps of 32', async (t) => {
  const { sender, posts, add, claims } = await setUp(t);
  for (let number = 0; number < 40; number++) await add(`${number}`, { owner: `owner${number}` });
  sender.start();
  await until(() => posts.length === 40);
  t.same(claims.slice(0, 2), [32, 8]);
});

t.test('a host that answers quickly gets several requests at once', async (t) => {
  const { settle, sender, posts, add } = await setUp(t, { concurrencyPerHost: 3 });
  for (let number = 0; number < 9; number++) await add(`${number}`);
  sender.start();
  await until(() => posts.length === 1);
  await settle();
  t.equal(posts.length, 1, 'a new host gets one');
  posts[0]?.end(OK);
  await until(() => posts.length === 4);
  await settle();
  t.equal(posts.length, 4);
});

for (const [title, result, tookMs] of [
  ['answers slowly', OK, 1_001],
  ['fails', { ...OK, status: 0, reason: 'refused' }, 10],
  ['is not to blame for the end', { ...OK, reason: 'interrupted' }, 10],
] as [string, ExchangeResult, number][]) {
  t.test(`a host that ${title} gets one request at a time`, async (t) => {
    const { settle, sender, posts, add, clock } = await setUp(t);
    for (let number = 0; number < 5; number++) await add(`${number}`);
    sender.start();
    await until(() => posts.length === 1);
    clock.advance(tookMs);
    posts[0]?.end(result);
    await until(() => posts.length === 2);
    await settle();
    t.equal(posts.length, 2);
  });
}

t.test('a delivery is sent within 15 s of its claim, or later by another attempt', async (t) => {
  for (const [stalledMs, isSent] of [
    [14_999, true],
    [15_000, false],
  ] as const) {
    let stalls = 1;
    const { sender, posts, add, get, clock, attempted } = await setUp(t, {
      secretOf: async () => {
        if (stalls-- > 0) clock.advance(stalledMs);
        return stalls === 0 ? SECRET : null;
      },
    });
    await add('1');
    sender.start();
    if (isSent) {
      await until(() => posts.length === 1);
      continue;
    }
    await until(() => attempted.length === 1);
    t.equal(posts.length, 0);
    t.match((await get('1'))?.attempts, [{ reason: 'secret' }], 'the first attempt does not count');
  }
});

t.test('a stop aborts requests, records them, and begins no more', async (t) => {
  const { settle, sender, posts, add, get, clock } = await setUp(t);
  await add('1');
  sender.start();
  await until(() => posts.length === 1);
  await add('2', { host: 'b.test' });
  await sender.stop();
  t.ok(posts[0]?.signal.aborted);
  t.match(await get('1'), { attempts: [], dueAtMs: nowMs });
  t.equal(clock.nextInMs, undefined, 'no timer is left');
  sender.wake();
  await settle();
  t.equal(posts.length, 1);
  sender.start();
  await until(() => posts.length === 3);
});

t.test('a stop waits for requests during the grace period', async (t) => {
  const { settle, sender, posts, add, get, clock } = await setUp(t);
  await add('1');
  await add('2', { host: 'b.test' });
  sender.start();
  await until(() => posts.length === 2);
  const stopped = sender.stop({ graceMs: 5_000 });
  await settle();
  posts.find(({ request }) => Buffer.from(request.body).toString() === 'body of 1')?.end(OK);
  await until(async () => (await get('1'))?.deliveredAtMs !== null);
  clock.advance(4_999);
  await settle();
  t.notOk(posts.some(({ signal }) => signal.aborted));
  clock.advance(1);
  await stopped;
  t.ok(posts.every(({ signal, request }) => signal.aborted || `${request.body}` !== 'body of 2'));
  t.match(await get('2'), { attempts: [], deliveredAtMs: null });
});

t.test('a stop that all requests end in time for does not wait for the grace period', async (t) => {
  const { settle, sender, posts, add, clock } = await setUp(t);
  await add('1');
  sender.start();
  await until(() => posts.length === 1);
  const stopped = sender.stop({ graceMs: 5_000 });
  await settle();
  posts[0]?.end(OK);
  await stopped;
  t.equal(clock.nextInMs, undefined);
});

t.test('a result that cannot be recorded is recorded later', async (t) => {
  const { sender, posts, add, book, clock, attempted, logged } = await setUp(t);
  await add('1');
  const conclude = book.conclude.bind(book);
  book.conclude = async () => {
    book.conclude = conclude;
    throw new Error('unavailable');
  };
  sender.start();
  await until(() => posts.length === 1);
  posts[0]?.end(OK);
  await until(() => logged.length === 1);
  t.match(logged[0], ['error', { err: { message: 'unavailable' }, deliveryId: '1' }]);
  clock.advance(500);
  await until(() => attempted.length === 1);
  t.match(attempted[0]?.deliveredAtMs, Number);
});

t.test('claims that fail are repeated, and take no places', async (t) => {
  const { sender, posts, add, book, clock, logged } = await setUp(t, { concurrencyUnproven: 1 });
  await add('1');
  const claim = book.claim.bind(book);
  book.claim = async (ids) => {
    book.claim = claim;
    await claim(ids).catch(() => {});
    throw new Error('unavailable');
  };
  sender.start();
  await until(() => logged.length === 1);
  t.match(logged[0], ['error', { err: { message: 'unavailable' } }]);
  await add('2', { host: 'b.test' });
  clock.advance(1_000);
  await until(() => posts.length === 1);
  t.equal(Buffer.from(posts[0]?.request.body ?? '').toString(), 'body of 2');
});

t.test('an attempt that fails in the service is logged, and its place is free again', async (t) => {
  const { sender, posts, add, logged, storage } = await setUp(t, { concurrencyUnproven: 1 });
  storage.deliveries.readBody = async (id) => (id === '1' ? undefined : 'a body');
  await add('1');
  sender.start();
  await until(() => logged.length === 1);
  t.match(logged[0], ['error', { err: { message: 'the delivery has no body' }, deliveryId: '1' }]);
  await add('2', { host: 'b.test' });
  sender.wake();
  await until(() => posts.length === 1);
});

t.test('hosts that end slowly share places, unless this side is to blame', async (t) => {
  for (const [reason, count] of [
    ['timeout', 3],
    ['interrupted', 4],
    ['stopped', 4],
  ] as const) {
    const { settle, sender, posts, add, clock } = await setUp(t, { concurrencyUnproven: 2 });
    for (const host of ['a.test', 'b.test']) {
      for (const number of [1, 2]) await add(`${host} ${number}`, { host });
    }
    sender.start();
    await until(() => posts.length === 2);
    clock.advance(1_001);
    for (const { end } of posts) end({ ...STOPPED, reason });
    await until(() => posts.length === count);
    await settle();
    t.equal(posts.length, count, reason);
  }
});

t.test('nothing is claimed while no exchange may start', async (t) => {
  for (const options of [{ concurrency: 1 }, { concurrencyUnproven: 1 }]) {
    const { settle, sender, posts, add, claims } = await setUp(t, options);
    await add('1', { owner: 'ada' });
    await add('2', { owner: 'concurrency' in options ? 'eve' : 'ada', host: 'b.test' });
    sender.start();
    await until(() => posts.length === 1);
    await settle();
    t.ok(claims.length <= 2, `${claims.length} claims`);
  }
});

t.test('damaged deliveries are logged, do not block others, and are tried again later', async (t) => {
  const { settle, sender, add, book, logged, posts, clock, claims } = await setUp(t);
  for (const id of ['1', '2', '3']) await add(id, { host: `${id}.test` });
  const { claim } = book;
  let isDamaged = true;
  book.claim = async (ids) => {
    if (isDamaged && ids.includes('2')) throw new ScenepressError('storage_damaged', 'row 2');
    return claim(ids);
  };
  sender.start();
  await until(() => posts.length === 2);
  await settle();
  t.match(logged, [['error', { err: { code: 'storage_damaged' }, deliveryId: '2' }]]);
  await add('4', { host: '2.test' });
  sender.wake();
  await until(() => posts.length === 3);
  t.same(claims, [1, 1, 1], 'one by one, and then without it');
  isDamaged = false;
  clock.advance(5 * 60_000 - 1);
  await settle();
  t.equal(posts.length, 3);
  clock.advance(1);
  posts[2]?.end(OK);
  await until(() => posts.length === 4);
  t.equal(logged.filter(([level]) => level === 'error').length, 1);
});

t.test('a delivery that another process claims meanwhile leaves its slot free', async (t) => {
  const { sender, add, book, posts } = await setUp(t, { concurrencyUnproven: 1 });
  await add('1');
  await add('2', { host: 'b.test' });
  const { claim } = book;
  book.claim = async (ids) => {
    book.claim = claim;
    await claim(ids);
    return claim(ids);
  };
  sender.start();
  sender.wake();
  await until(() => posts.length === 1);
  t.equal(String(Buffer.from(posts[0]?.request.body ?? '')), 'body of 2');
});

t.test('a delivery whose last attempt never ended is given up', async (t) => {
  const { settle, sender, add, get, posts, logged } = await setUp(t);
  const attempt = { startedAtMs: nowMs - 60_000, endedAtMs: null, status: 0, reason: null, detail: null };
  await add('1', { mostAttempts: 1, attempts: [attempt] });
  sender.start();
  await until(async () => (await get('1'))?.dueAtMs === null);
  await settle();
  t.equal(posts.length, 0);
  t.same(logged, []);
});

t.test('a stop does not wait for a result that cannot be recorded', async (t) => {
  const { sender, add, posts, book, logged } = await setUp(t);
  await add('1');
  book.conclude = async () => {
    throw new Error('unavailable');
  };
  sender.start();
  await until(() => posts.length === 1);
  posts[0]?.end(OK);
  await until(() => logged.length === 1);
  await sender.stop();
});

t.test('a result that has no effect is not reported', async (t) => {
  const { sender, add, posts, book, logged, attempted } = await setUp(t);
  await add('1');
  book.conclude = async () => undefined;
  sender.start();
  await until(() => posts.length === 1);
  posts[0]?.end(OK);
  await until(() => logged.length === 1);
  t.match(logged, [['info', { deliveryId: '1', ms: 0 }]]);
  t.same(attempted, []);
});

t.test('a wake that comes just as a look for due deliveries ends is not lost', async (t) => {
  for (let microtasks = 0; microtasks < 10; microtasks += 1) {
    const looked = Promise.withResolvers<undefined>();
    let looks = 0;
    const duePeriod = () => {
      looks += 1;
      return looked.promise;
    };
    const { sender } = await setUp(t, { book: { duePeriod } as unknown as DeliveryBook });
    sender.start();
    looked.resolve(undefined);
    for (let i = 0; i < microtasks; i += 1) await undefined;
    sender.wake();
    await turn();
    t.equal(looks, 2, `${microtasks} microtasks later`);
  }
});
