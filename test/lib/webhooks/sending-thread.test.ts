import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { FromThread, SendingThreadData, ToThread } from '../../../lib/webhooks/sending-thread.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const THREAD_FILE = new URL('../../../lib/webhooks/sending-thread.ts', import.meta.url);
/** How long a test waits for its messages. */
const PATIENCE_MS = 10_000;
const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['receiver.test', 'localhost']);

/** A thread that is ready. `next`: its next message; rejects when it fails. */
async function open(t: Test, change: Partial<SendingThreadData> = {}) {
  const workerData: SendingThreadData = {
    allowNetworks: ['127.0.0.0/8'],
    ca: [authority.ca],
    asksForNames: true,
    ...change,
  };
  const worker = new Worker(THREAD_FILE, { workerData });
  t.teardown(() => worker.terminate());
  const messages = on(worker, 'message', { signal: AbortSignal.timeout(PATIENCE_MS), close: ['exit'] });
  const next = async (): Promise<FromThread> => (await messages.next()).value?.[0];
  const tell = (message: ToThread) => worker.postMessage(message);
  const post = (id: number, url: string) =>
    tell({ type: 'post', id, request: { url, headers: {}, body: Buffer.from('{}') } });
  t.same(await next(), { type: 'ready' });
  return { next, tell, post };
}

t.test(
  'a request is sent to the addresses that the main thread finds, and its result reported',
  async (t) => {
    const { port, received } = await webhookReceiver(t, certificate);
    const { next, tell, post } = await open(t);
    for (const lookup of [1, 2]) {
      post(lookup + 6, `https://receiver.test:${port}/`);
      t.same(await next(), { type: 'look up', lookup, name: 'receiver.test' });
      tell({ type: 'found', lookup, addresses: ['127.0.0.1'] });
      const result = { status: 200, reason: null, detail: null, answer: 'thanks', sent: true };
      t.same(await next(), { type: 'ended', id: lookup + 6, result });
    }
    t.equal(received.length, 2);
  },
);

t.test(
  'a name that the main thread does not find ends the request, with the code of the error',
  async (t) => {
    const { next, tell, post } = await open(t);
    for (const [lookup, code, shown] of [
      [1, 'ESERVFAIL', /ESERVFAIL/],
      [2, undefined, /nobody knows/],
    ] as const) {
      post(lookup, 'https://receiver.test/');
      t.match(await next(), { type: 'look up', lookup });
      tell({ type: 'not found', lookup, code, message: 'nobody knows' });
      const result = { status: 0, reason: 'dns', detail: shown, sent: false };
      t.match(await next(), { type: 'ended', id: lookup, result });
    }
  },
);

t.test('an aborted request gives up its lookup, and what arrives afterwards has no effect', async (t) => {
  const { next, tell, post } = await open(t);
  post(1, 'https://receiver.test/');
  t.match(await next(), { type: 'look up', lookup: 1 });
  tell({ type: 'abort', id: 1 });
  t.same(await next(), { type: 'give up', lookup: 1 });
  t.match(await next(), { type: 'ended', id: 1, result: { reason: 'stopped', sent: false } });
  tell({ type: 'abort', id: 1 });
  for (let times = 0; times < 2; times += 1) tell({ type: 'found', lookup: 1, addresses: ['127.0.0.1'] });
  tell({ type: 'not found', lookup: 1, code: undefined, message: 'nobody knows' });
  tell({ type: 'ping' });
  t.same(await next(), { type: 'pong' });
});

t.test(
  'the thread looks up names itself unless the main thread does, and keeps to its timeout',
  async (t) => {
    const { port } = await webhookReceiver(t, certificate, () => {});
    const { next, post } = await open(t, { asksForNames: false, timeoutMs: 500 });
    post(1, `https://localhost:${port}/`);
    const result = { reason: 'timeout', detail: 'not finished within 0.5 s' };
    t.match(await next(), { type: 'ended', id: 1, result });
  },
);
