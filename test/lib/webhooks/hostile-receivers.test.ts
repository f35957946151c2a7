import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { FailureReason } from '../../../lib/storage/delivery.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPost } from '../../fixtures/deliveries.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FLOODS } from '../../fixtures/hostile-receiver.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1', '*.ada.test', '*.eve.test']);
const clock = new FakeClock('2026-11-21T10:00:00Z');
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const EACH = 8;

/** How an attempt at each receiver ends. A body that is too long is not read completely, but its status counts. */
const ENDS: Record<(typeof FLOODS)[number], { status: number; reason: FailureReason | null | RegExp }> = {
  'interim responses': { status: 0, reason: 'protocol' },
  'one header': { status: 200, reason: 'protocol' },
  headers: { status: 200, reason: 'protocol' },
  'bytes of a header, each in a record': { status: 200, reason: 'too_large' },
  body: { status: 200, reason: null },
  // On a busy machine this may exceed the timeout.
  'bytes of a body, each in a record': { status: 200, reason: /^(timeout|null)$/ },
  chunks: { status: 200, reason: null },
  trailers: { status: 200, reason: 'protocol' },
  renegotiation: { status: 200, reason: 'tls' },
  'bytes instead of a handshake': { status: 0, reason: 'tls' },
  'records instead of a handshake': { status: 0, reason: 'tls' },
};

/** Starts the receivers in a thread. Returns their ports. */
async function startFloods(t: Test): Promise<Record<string, number>> {
  const hostile = new Worker(new URL('../../fixtures/hostile-receiver.ts', import.meta.url), {
    workerData: certificate,
  });
  t.teardown(() => hostile.terminate());
  const [ports] = (await once(hostile, 'message')) as [Record<string, number>];
  return ports;
}

t.test('receivers that flood the service block neither its event loop nor other webhooks', async (t) => {
  const ports = await startFloods(t);
  const honest = await webhookReceiver(t, certificate);
  const { endJob, sender, deliveries, attempted } = await openPost(t, { clock, outbound, concurrency: 256 });
  const floods = new Map<string, string>();
  for (let i = 0; i < EACH; i += 1) {
    for (const name of FLOODS) {
      // Separate owners, because those of one owner are sent one after the other.
      floods.set(await endJob(`https://127.0.0.1:${ports[name]}/`, null, `eve-${name}-${i}`), name);
    }
  }
  const loopDelay = monitorEventLoopDelay({ resolution: 5 });
  loopDelay.enable();
  const startedAt = performance.now();
  sender.start();
  await endJob(`https://127.0.0.1:${honest.port}/`);
  sender.wake();
  await honest.got(1);
  const honestMs = Math.round(performance.now() - startedAt);
  await attempted(floods.size + 1);
  loopDelay.disable();
  const tookMs = performance.now() - startedAt;
  const all = await deliveries.list({ limit: 1_000 });
  const [mostMs, usualMs] = [loopDelay.max, loopDelay.percentile(99)].map((ns) => Math.round(ns / 1e6));
  t.comment(`honest after ${honestMs} ms, all after ${Math.round(tookMs)} ms, loop ${usualMs}, ${mostMs} ms`);
  t.ok(honestMs < 10_000, `the honest one after ${honestMs} ms`);
  t.ok(tookMs < 30_000, `all ended after ${Math.round(tookMs)} ms`);
  t.ok(
    (usualMs ?? 0) < 250 && (mostMs ?? 0) < 1_000,
    `the event loop is delayed ${usualMs} ms (99 %), ${mostMs} ms at most`,
  );
  for (const { jobId, attempts } of all) {
    const name = floods.get(jobId) as (typeof FLOODS)[number] | undefined;
    if (name) t.match({ ...attempts[0], reason: String(attempts[0]?.reason) }, asText(ENDS[name]), name);
    t.equal(attempts.length, 1);
  }
});

t.test('ten accounts with hundreds of such receivers each do not delay other accounts', async (t) => {
  const ports = await startFloods(t);
  const resolve = async () => ['127.0.0.1'];
  const post = await openPost(t, { clock, outbound: { ...outbound, resolve }, concurrency: 256 });
  const { storage } = post.folder;
  for (let account = 0; account < 10; account += 1) {
    await storage.transaction(async (tx) => {
      for (let i = 0; i < 300; i += 1) {
        const host = `${i}.eve.test:${ports[FLOODS[i % FLOODS.length] as string]}`;
        const record = { owner: `eve-${account}`, host, url: `https://${host}/` };
        await storage.deliveries.insert(tx, deliveryRecord(`${account}-${i}`, record), '{}');
      }
    });
  }
  post.sender.start();
  const times: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    await delay(500);
    const honest = await webhookReceiver(t, certificate);
    const startedAt = performance.now();
    await post.endJob(`https://${i}.ada.test:${honest.port}/`);
    post.sender.wake();
    await honest.got(1);
    times.push(Math.round(performance.now() - startedAt));
  }
  t.ok(Math.max(...times) < 10_000, `${times.join(', ')} ms`);
});

function asText({ status, reason }: (typeof ENDS)[(typeof FLOODS)[number]]) {
  return { status, reason: reason instanceof RegExp ? reason : String(reason) };
}
