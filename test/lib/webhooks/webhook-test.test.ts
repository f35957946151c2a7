import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import type { ArtifactName, ArtifactUrl } from '../../../lib/index.ts';
import { SortableIds } from '../../../lib/model/ids.ts';
import { assetKeyOf } from '../../../lib/model/job.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { Outbound, type OutboundOptions } from '../../../lib/webhooks/outbound.ts';
import { signWebhook, verifyWebhook } from '../../../lib/webhooks/signature.ts';
import { WebhookTests } from '../../../lib/webhooks/webhook-test.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);
const SECRET = 'whsec_of_the_test';

function testsWith(options: OutboundOptions) {
  return new WebhookTests({
    outbound: () => new Outbound(options, systemClock),
    clock: systemClock,
    ids: new SortableIds(systemClock, systemRandom),
    links: () => 'https://renders.test',
  });
}

const LOOPBACK = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };

t.test('a test event arrives as it is shown, and a receiver can verify it', async (t) => {
  const receiver = await webhookReceiver(t, certificate);
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  const sent = await testsWith(LOOPBACK).send({ owner: 'ada', url, secret: SECRET });
  t.match(sent, { status: 200, reason: null, answer: 'thanks' });
  const [got] = receiver.received;
  t.match(got?.headers, { ...sent.headers, 'svc-event': 'completed', 'svc-test': 'true' });
  t.equal(String(got?.body), sent.body);
  t.match(verifyWebhook(sent.body, sent.headers['svc-signature'], SECRET), { valid: true });
  const { timestamp, signature, computed, verdict } = sent.verification;
  t.equal(sent.headers['svc-signature'], `t=${timestamp},v1=${signature}`);
  t.equal(computed, signature);
  t.match(verdict, { valid: true });
  const keys = ['jobId', 'endpoint', 'status', 'creditsCost', 'durationMs', 'result', 'error', 'metadata'];
  t.same(Object.keys(JSON.parse(sent.body)), [...keys, 'createdAt', 'completedAt']);
  t.notMatch(JSON.stringify(sent), SECRET);
});

t.test('a test event is protected as deliveries are', async (t) => {
  const receiver = await webhookReceiver(t, certificate);
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  const tests = testsWith({ ca: authority.ca });
  t.match(await tests.send({ owner: 'ada', url, secret: SECRET }), { status: 0, reason: 'blocked' });
  t.equal(receiver.received.length, 0);
  for (const refused of ['http://127.0.0.1/', 'https://user@127.0.0.1/', 'file:///etc/passwd']) {
    const sending = tests.send({ owner: 'ada', url: refused, secret: SECRET });
    await t.rejects(sending, { code: 'invalid_request' }, refused);
  }
});

t.test('an aborted test event ends at once, and the owner can send another', async (t) => {
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const receiver = await webhookReceiver(t, certificate, (response) => {
    if (receiver.received.length > 1) response.end('thanks');
    wasAsked();
  });
  const tests = testsWith(LOOPBACK);
  const request = { owner: 'ada', url: `https://127.0.0.1:${receiver.port}/`, secret: SECRET };
  const giveUp = new AbortController();
  const reason = new Error('no longer wanted');
  const sending = tests.send(request, { signal: giveUp.signal });
  await asked;
  giveUp.abort(reason);
  t.equal(await sending.catch((error: unknown) => error), reason);
  await t.rejects(tests.send(request, { signal: giveUp.signal }), reason, 'before it begins');
  t.match(await tests.send(request), { status: 200 });
});

t.test('an owner can run one test at a time', async (t) => {
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await webhookReceiver(t, certificate, (response) => {
    wasAsked();
    void released.then(() => response.end());
  });
  const tests = testsWith(LOOPBACK);
  const request = { owner: 'ada', url: `https://127.0.0.1:${receiver.port}/`, secret: SECRET };
  const first = tests.send(request);
  await asked;
  await t.rejects(tests.send(request), { code: 'conflict' });
  const other = tests.send({ ...request, owner: 'eve' });
  release();
  t.match(await Promise.all([first, other]), [{ status: 200 }, { status: 200 }]);
  t.match(await tests.send(request), { status: 200 });
});

const ACCEPTED = { status: 200, reason: null, detail: null, answer: '', sent: true };

t.test('a test event is a completed job of this moment, and is signed as one', async (t) => {
  const now = '2026-03-01T10:00:00.000Z';
  const clock = new FakeClock('2026-03-01T09:00:00.000Z');
  clock.advance(3_600_000);
  const ids = new SortableIds(clock, systemRandom);
  const post = async () => {
    clock.advance(250);
    return ACCEPTED;
  };
  const links: ArtifactUrl = ({ assetKey }) => `https://cdn.test/${assetKey}`;
  const tests = new WebhookTests({ outbound: () => ({ post }), clock, ids, links: () => links });
  const sent = await tests.send({ owner: 'ada', url: 'https://example.org/', secret: SECRET });
  t.equal(sent.tookMs, 250);
  t.same(sent.headers, {
    'content-type': 'application/json',
    'svc-event': 'completed',
    'svc-signature': signWebhook(sent.body, SECRET, { now: Date.parse(now) }),
    'svc-test': 'true',
    'user-agent': 'scenepress',
  });
  const { timestamp, signature, computed, verdict } = sent.verification;
  t.equal(timestamp, String(Date.parse(now) / 1000));
  t.equal(computed, signature);
  t.match(verdict, { valid: true });
  const { jobId, ...job } = JSON.parse(sent.body);
  const linkTo = (name: ArtifactName) => `https://cdn.test/${assetKeyOf({ jobId, token: 1 }, name)}`;
  t.match(job, {
    endpoint: 'render',
    status: 'completed',
    creditsCost: 0,
    durationMs: 0,
    result: {
      video: linkTo('video.mp4'),
      thumbnail: linkTo('thumbnail.jpg'),
      captions: linkTo('captions.vtt'),
    },
    error: null,
    metadata: { test: true },
    createdAt: now,
    completedAt: now,
  });
});

t.test('sixteen test events are sent at once, and no more', async (t) => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const post = () => answered.then(() => ACCEPTED);
  const clock = systemClock;
  const ids = new SortableIds(clock, systemRandom);
  const tests = new WebhookTests({ outbound: () => ({ post }), clock, ids, links: () => '' });
  const send = (owner: string) => tests.send({ owner, url: 'https://example.org/', secret: SECRET });
  const sending = Array.from({ length: 16 }, (_, number) => send(`owner ${number}`));
  await t.rejects(send('another'), { code: 'conflict' });
  answer();
  await Promise.all(sending);
  t.match(await send('another'), { status: 200 });
});
