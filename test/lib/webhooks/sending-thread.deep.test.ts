import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { OutboundThread } from '../../../lib/webhooks/outbound-thread.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPost } from '../../fixtures/deliveries.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { type Answer, webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1', 'receiver.test']);
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const threadFile = new URL('../../fixtures/failing-sending-thread.ts', import.meta.url);
const never = new AbortController().signal;

async function open(t: Test, answer?: Answer) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const receiver = await webhookReceiver(t, certificate, answer);
  const failures: string[] = [];
  const onError = (message: string) => void failures.push(message);
  const post = await openPost(t, { clock, outbound, threadFile, onError });
  return { ...post, clock, receiver, failures, url: `https://127.0.0.1:${receiver.port}` };
}

for (const end of ['exit', 'throw', 'hang']) {
  t.test(
    `a thread that fails (${end}) is replaced, and each attempt in progress is recorded once`,
    async (t) => {
      const mute: Answer = (response, { path }) => {
        if (path !== '/mute') response.end();
      };
      const { endJob, sender, receiver, clock, become, url } = await open(t, mute);
      sender.start();
      const waiting = await endJob(`${url}/mute`, null, 'ada');
      sender.wake();
      await receiver.got(1);
      const startedAt = performance.now();
      const culprit = await endJob(`${url}/${end}`, null, 'eve');
      sender.wake();
      for (const jobId of [waiting, culprit]) {
        const delivery = await become('waiting', 1, { jobId });
        t.match(delivery, { attempts: [{ status: 0, reason: 'interrupted' }] });
        t.equal(Date.parse(delivery.nextAttemptAt ?? ''), clock.now() + 30_000, 'on schedule');
      }
      t.ok(performance.now() - startedAt < 9_000, 'before they would have timed out');
      const later = await endJob(`${url}/later`, null, 'ada');
      sender.wake();
      t.match(await become('delivered', 1, { jobId: later }), { lastStatus: 200 }, 'by another thread');
      clock.advance(30_000);
      sender.wake();
      const again = await become('waiting', 2, { jobId: culprit });
      t.match(
        again.attempts,
        [{ reason: 'interrupted' }, { reason: 'interrupted' }],
        'the same delivery ends it as well',
      );
      await become('waiting', 2, { jobId: waiting });
    },
  );
}

t.test('deliveries wait while the thread cannot start, and are then sent by one attempt', async (t) => {
  const obstacle = join(await temporaryFolder(t), 'obstacle');
  await writeFile(obstacle, '');
  process.env['FAIL_WHILE_THERE'] = obstacle;
  t.teardown(() => delete process.env['FAIL_WHILE_THERE']);
  const { endJob, sender, receiver, become, failures, url } = await open(t);
  sender.start();
  const jobId = await endJob(`${url}/`);
  sender.wake();
  const ended = (message: string) => message.startsWith('The webhook thread ended');
  await until(() => failures.filter(ended).length >= 2);
  t.same(receiver.received, []);
  await rm(obstacle);
  const { attempts } = await become('delivered', 1, { jobId });
  t.match(attempts, [{ status: 200, reason: null }]);
  t.equal(attempts.length, 1);
});

t.test('names are resolved by the `resolve` option, in the thread of the caller', async (t) => {
  const { port } = await webhookReceiver(t, certificate);
  const asked: string[] = [];
  const givenUp: string[] = [];
  const resolve = async (name: string, signal: AbortSignal) => {
    asked.push(name);
    if (name === 'missing.test') throw Object.assign(new Error('no'), { code: 'ESERVFAIL' });
    if (name === 'receiver.test') return ['127.0.0.1'];
    return new Promise<string[]>(() => {
      signal.addEventListener('abort', () => givenUp.push(name));
    });
  };
  const thread = new OutboundThread({
    options: { ...outbound, resolve, timeoutMs: 1_000 },
    clock: systemClock,
    logger: silentLogger,
  });
  thread.start();
  t.teardown(() => thread.stop());
  const post = (name: string) =>
    thread.post({ url: `https://${name}:${port}/`, headers: {}, body: Buffer.from('{}') }, never);
  t.match(await post('receiver.test'), { status: 200, reason: null, answer: 'thanks' });
  t.match(await post('missing.test'), { status: 0, reason: 'dns', detail: /ESERVFAIL/ });
  t.match(await post('hangs.test'), { status: 0, reason: 'timeout' });
  t.same(asked, ['receiver.test', 'missing.test', 'hangs.test']);
  await until(() => givenUp.length > 0);
  t.same(givenUp, ['hangs.test']);
});

t.test('a thread that took long to start is not taken for one that hangs', async (t) => {
  const got = join(await temporaryFolder(t), 'got');
  process.env['GOT'] = got;
  t.teardown(() => delete process.env['GOT']);
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const file = new URL('../../fixtures/late-sending-thread.ts', import.meta.url);
  const thread = new OutboundThread({ options: outbound, clock, logger: silentLogger, file });
  thread.start();
  t.teardown(() => thread.stop());
  const posted = thread.post({ url: 'https://127.0.0.1/', headers: {}, body: Buffer.from('{}') }, never);
  // Before it can answer a ping.
  clock.advance(10_000);
  await until(() => existsSync(got));
  clock.advance(1_000);
  t.match(await posted, { status: 200, reason: null });
});

t.test('a stop does not wait for a hanging thread', async (t) => {
  const hangs = join(await temporaryFolder(t), 'hangs');
  process.env['HANGS'] = hangs;
  t.teardown(() => delete process.env['HANGS']);
  const { endJob, sender, deliveries, url } = await open(t);
  sender.start();
  await endJob(`${url}/hang`);
  sender.wake();
  await until(() => existsSync(hangs));
  const startedAt = performance.now();
  await sender.stop();
  t.ok(performance.now() - startedAt < 5_000);
  t.match(await deliveries.list(), [{ status: 'waiting', attempts: [{ status: 0, reason: 'stopped' }] }]);
});
