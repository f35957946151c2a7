import t, { type Test } from 'tap';
import type { ClaimedJob } from '../../../lib/jobs/run/job-claims.ts';
import { RETRY_DELAYS_MS } from '../../../lib/webhooks/delivery-book.ts';
import { signWebhook, verifyWebhook } from '../../../lib/webhooks/signature.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { claimDeliveries, claimJobs } from '../../fixtures/claims.ts';
import { openPost, type Post, type PostOptions, SECRET } from '../../fixtures/deliveries.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { type Answer, type WebhookReceiver, webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const START = '2026-11-21T10:00:00.000Z';

async function open(t: Test, answer?: Answer, options: Partial<PostOptions> = {}) {
  const clock = new FakeClock(START);
  const receiver = await webhookReceiver(t, certificate, answer);
  const post = await openPost(t, { clock, outbound, ...options });
  return { ...post, clock, receiver, url: `https://127.0.0.1:${receiver.port}/hook` };
}

/** Lets the sender look for what is due, and finish that; resolves with whether no more was sent. */
async function nothingComes({ sender }: Pick<Post, 'sender'>, receiver: WebhookReceiver, count: number) {
  // First what it was looking for before.
  await sender.stop({ graceMs: 1 });
  sender.start();
  await sender.stop({ graceMs: 1 });
  sender.start();
  return receiver.received.length === count;
}

t.test('the outcome of a job is delivered with a signature', async (t) => {
  const { endJob, sender, receiver, url, deliveries, clock, become } = await open(t);
  sender.start();
  const metadata = '{"n":12345678901234567890,"f":1.0,"__proto__":1e400}';
  const jobId = await endJob(url, metadata);
  sender.wake();
  const [received] = await receiver.got(1);
  t.match(received?.headers, { 'content-type': 'application/json', 'svc-event': 'failed' });
  t.notOk('svc-redelivery' in (received?.headers ?? {}));
  const body = received?.body ?? Buffer.alloc(0);
  t.equal(received?.headers['svc-signature'], signWebhook(body, SECRET, { now: clock.now() }));
  t.ok(body.includes(`"metadata":${metadata},`), 'metadata is the original text');
  t.strictSame(
    { ...JSON.parse(String(body)), metadata: 0 },
    {
      jobId,
      endpoint: 'render',
      status: 'failed',
      creditsCost: 0,
      durationMs: 0,
      result: null,
      error: 'Canceled',
      metadata: 0,
      createdAt: START,
      completedAt: START,
    },
  );
  const delivery = await become('delivered', 1);
  t.match(delivery, { jobId, owner: 'ada', url, lastStatus: 200, nextAttemptAt: null, repeats: null });
  t.match(await deliveries.get(delivery.deliveryId), {
    body: String(body),
    attempts: [{ signature: received?.headers['svc-signature'], answer: 'thanks' }],
  });
});

t.test('the outcome of a completed job has links to its artifacts', async (t) => {
  const { jobs, sender, receiver, url } = await open(t);
  const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
  const newJob = { owner: 'ada', request, metadataJson: null, webhookUrl: url, keyId: null };
  const { jobId } = (await jobs.add(newJob)).job;
  const artifact = (name: 'video.mp4' | 'thumbnail.jpg') => ({
    name,
    assetKey: `${jobId}/${name}`,
    sizeBytes: 1,
  });
  const artifacts = [artifact('video.mp4'), artifact('thumbnail.jpg')];
  const [{ claim }] = (await claimJobs(jobs)) as [ClaimedJob];
  await jobs.finish(claim, { kind: 'completed', artifacts, costCredits: 0 }, { durationMs: 7 });
  sender.start();
  const [received] = await receiver.got(1);
  t.equal(received?.headers['svc-event'], 'completed');
  const result = JSON.parse(String(received?.body)).result;
  const links = `https://assets.example.org/artifacts/${jobId}`;
  t.strictSame(result, { video: `${links}/video.mp4`, thumbnail: `${links}/thumbnail.jpg` });
});

t.test('a job without a webhook has no delivery', async (t) => {
  const { endJob, deliveries } = await open(t);
  await endJob(null);
  t.same(await deliveries.list(), []);
});

t.test('with an external ledger there is one delivery, even if responses are lost', async (t) => {
  const ledger = new DistantLedger(100);
  const { jobs, deliveries } = await open(t, undefined, { ledger });
  const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
  const newJob = { owner: 'ada', request, metadataJson: null, webhookUrl: 'https://a.test/', keyId: null };
  const { jobId } = (await jobs.add(newJob)).job;
  const [{ claim }] = (await claimJobs(jobs)) as [ClaimedJob];
  const finish = () =>
    jobs.finish(claim, { kind: 'completed', artifacts: [], costCredits: 3 }, { durationMs: 9 });
  ledger.fault = 'after';
  await t.rejects(finish());
  t.same(await deliveries.list(), [], 'none before the job has ended');
  await Promise.all([finish(), finish(), jobs.recover()]);
  await finish();
  t.match(await deliveries.list(), [{ jobId, event: 'completed' }]);
  t.equal((await deliveries.list()).length, 1);
});

t.test('a failed delivery is retried 30 s, 5 min and 30 min after the previous attempt', async (t) => {
  let clock: FakeClock;
  const slow: Answer = (response) => {
    clock.advance(2_000); // The delay starts at the end of the attempt.
    response.writeHead(500).end('out of order');
  };
  const opened = await open(t, slow);
  clock = opened.clock;
  const { endJob, sender, receiver, url, deliveries, become } = opened;
  t.same(RETRY_DELAYS_MS, [30_000, 300_000, 1_800_000]);
  await endJob(url);
  sender.start();
  for (const [i, delayMs] of RETRY_DELAYS_MS.entries()) {
    const waiting = await become('waiting', i + 1);
    t.equal(Date.parse(waiting.nextAttemptAt ?? ''), clock.now() + delayMs);
    t.match(waiting, { lastStatus: 500 });
    clock.advance(delayMs - 1);
    t.ok(await nothingComes({ sender }, receiver, i + 1), 'not a millisecond earlier');
    clock.advance(1);
    sender.wake();
    await receiver.got(i + 2);
  }
  const failed = await become('failed', 4);
  t.match(failed, { lastStatus: 500, nextAttemptAt: null });
  t.match(await deliveries.get(failed.deliveryId), { attempts: [{ answer: 'out of order' }] });
  clock.advance(86_400_000);
  t.ok(await nothingComes({ sender }, receiver, 4));
  const bodies = new Set(receiver.received.map(({ body }) => String(body)));
  t.equal(bodies.size, 1, 'the same bytes each time');
  const signatures = receiver.received.map(({ headers }) => String(headers['svc-signature']));
  t.equal(new Set(signatures.map((signature) => signature.split(',')[0])).size, 4, 'each with its own time');
  for (const [i, { startedAt }] of failed.attempts.entries()) {
    const options = { now: Date.parse(startedAt), toleranceSeconds: 0 };
    t.match(verifyWebhook(receiver.received[i]?.body ?? '', signatures[i], SECRET, options), {
      valid: true,
    });
  }
});

t.test('a 2xx at a later attempt ends the retries', async (t) => {
  const { endJob, sender, receiver, url, clock, become } = await open(t, (response) => {
    response.writeHead(receiver.received.length < 2 ? 302 : 204, { location: '/' }).end();
  });
  await endJob(url);
  sender.start();
  t.match(await become('waiting', 1), { lastStatus: 302 }, 'a redirect is a failure');
  clock.advance(30_000);
  sender.wake();
  const { attempts } = await become('delivered', 2);
  t.strictSame(
    attempts.map(({ status, reason }) => [status, reason]),
    [
      [302, null],
      [204, null],
    ],
  );
  clock.advance(86_400_000);
  t.ok(await nothingComes({ sender }, receiver, 2));
});

t.test('without a connection the status is 0, with a reason', async (t) => {
  const { endJob, sender, become } = await open(t);
  await endJob('https://10.0.0.1/hook');
  sender.start();
  const { attempts } = await become('waiting', 1);
  t.match(attempts, [{ status: 0, reason: 'blocked' }]);
});

t.test('each attempt is signed with the current secret', async (t) => {
  let secret: string | null = 'whsec_old';
  const { endJob, sender, receiver, url, clock, become } = await open(
    t,
    (response) => response.writeHead(500).end(),
    { secretOf: async () => secret },
  );
  await endJob(url);
  sender.start();
  await become('waiting', 1);
  secret = 'whsec_new';
  clock.advance(30_000);
  sender.wake();
  await become('waiting', 2);
  const [first, second] = receiver.received;
  const verdict = (received: typeof first, secret: string) =>
    verifyWebhook(received?.body ?? '', received?.headers['svc-signature'] as string, secret, {
      now: clock.now(),
    }).valid;
  t.ok(verdict(first, 'whsec_old'));
  t.notOk(verdict(second, 'whsec_old'));
  t.ok(verdict(second, 'whsec_new'));
  secret = null;
  clock.advance(300_000);
  sender.wake();
  const { attempts } = await become('waiting', 3);
  t.match(attempts.at(-1), { status: 0, reason: 'secret' });
  t.equal(receiver.received.length, 2, 'nothing is sent unsigned');
});

t.test(
  'sendAgain creates a separate delivery with one attempt, the same body and an extra header',
  async (t) => {
    let status = 200;
    const { endJob, sender, receiver, url, deliveries, clock, folder, become } = await open(t, (response) =>
      response.writeHead(status).end(),
    );
    sender.start();
    const jobId = await endJob(url);
    sender.wake();
    const first = await become('delivered', 1);
    status = 500;
    clock.advance(1_000);
    const again = await deliveries.sendAgain(first.deliveryId, { owner: 'ada' });
    t.match(again, { jobId, status: 'waiting', attempts: [], repeats: first.deliveryId });
    t.ok(await folder.storage.deliveries.get(again.deliveryId), 'it is stored when `sendAgain` resolves');
    sender.wake();
    t.match(await become('failed', 1), { deliveryId: again.deliveryId, lastStatus: 500 });
    const [one, two] = receiver.received;
    t.strictSame(two?.body, one?.body);
    const differing = ['svc-signature', 'svc-redelivery'];
    const others = (received: typeof one) =>
      Object.entries(received?.headers ?? {}).filter(([name]) => !differing.includes(name));
    t.strictSame(others(two), others(one));
    t.equal(two?.headers['svc-redelivery'], first.deliveryId);
    t.match(
      await deliveries.get(first.deliveryId),
      { status: 'delivered', lastStatus: 200 },
      'the first is not changed',
    );
    t.same((await deliveries.list({ jobId })).length, 2);
    const missing = { code: 'not_found' };
    await t.rejects(deliveries.sendAgain(first.deliveryId, { owner: 'eve' }), missing);
    await t.rejects(deliveries.get(first.deliveryId, { owner: 'eve' }), missing);
    await t.rejects(deliveries.get('nothing'), missing);
  },
);

t.test('deliveries that are due survive a restart', async (t) => {
  const { endJob, folder, receiver, url, clock, sender, become } = await open(t, (response) =>
    response.writeHead(500).end(),
  );
  await endJob(url);
  sender.start();
  await become('waiting', 1);
  await sender.stop();
  await folder.stop();
  const next = await openPost(t, { clock, outbound, folder });
  next.sender.start();
  t.ok(await nothingComes(next, receiver, 1));
  clock.advance(30_000);
  next.sender.wake();
  t.match(await next.become('waiting', 2), { attempts: [{ status: 500 }, { status: 500 }] });
});

t.test('an attempt interrupted by a crash counts', async (t) => {
  const { endJob, url, deliveries, book, clock, sender, receiver, folder } = await open(t, (response) =>
    response.writeHead(500).end(),
  );
  await endJob(url);
  const claim = () => claimDeliveries(folder.storage, book);
  const crash = async () => (await claim()).filter(({ dueAtMs }) => dueAtMs !== null).length;
  t.equal(await crash(), 1);
  t.match(await deliveries.list(), [{ status: 'sending', lastStatus: null, nextAttemptAt: null }]);
  t.equal(await crash(), 0, 'it is not started twice');
  clock.advance(10_000 + 30_000);
  t.equal(await crash(), 1);
  t.match(await deliveries.list(), [{ attempts: [{ status: 0, reason: 'interrupted' }, { endedAt: null }] }]);
  clock.advance(10_000 + 300_000);
  t.equal(await crash(), 1);
  clock.advance(10_000 + 1_800_000);
  t.equal(await crash(), 1, 'the fourth');
  clock.advance(86_400_000);
  t.equal(await crash(), 0);
  t.match(await deliveries.list(), [{ status: 'failed', lastStatus: 0 }]);
  sender.start();
  t.ok(await nothingComes({ sender }, receiver, 0));
});

t.test('a stop lets requests finish within the grace period', async (t) => {
  const { endJob, url, deliveries, sender, receiver } = await open(t, (response) => {
    setTimeout(() => response.end(), 200);
  });
  await endJob(url);
  sender.start();
  await receiver.got(1);
  await endJob(url);
  await sender.stop({ graceMs: 5_000 });
  const [second, first] = await deliveries.list();
  t.match(first, { status: 'delivered' });
  t.match(second, { status: 'waiting', attempts: [] }, 'no more are started');
});

t.test('a stop aborts requests that take longer and records that', async (t) => {
  const { endJob, url, deliveries, sender, receiver, clock } = await open(t, () => {});
  await endJob(url);
  await endJob('https://127.0.0.1.invalid/');
  sender.start();
  await receiver.got(1);
  const startedAt = performance.now();
  await sender.stop();
  t.ok(performance.now() - startedAt < 5_000);
  const first = (await deliveries.list()).at(-1);
  t.match(
    first,
    { status: 'waiting', attempts: [{ status: 0, reason: 'stopped' }] },
    'the receiver may have seen it',
  );
  t.equal(Date.parse(first?.nextAttemptAt ?? ''), clock.now() + 30_000);
});

t.test('an attempt stopped before anything was sent does not count', async (t) => {
  const resolve = () => new Promise<string[]>(() => {});
  const { endJob, deliveries, sender, clock } = await open(t, undefined, {
    outbound: { ...outbound, resolve },
  });
  await endJob('https://example.org/');
  sender.start();
  await until(async () => (await deliveries.list())[0]?.status === 'sending');
  await sender.stop();
  t.match(await deliveries.list(), [{ status: 'waiting', attempts: [], lastStatus: null }]);
  t.equal(Date.parse((await deliveries.list())[0]?.nextAttemptAt ?? ''), clock.now());
});
