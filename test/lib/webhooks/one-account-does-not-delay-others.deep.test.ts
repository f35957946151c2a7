import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPost, type Post } from '../../fixtures/deliveries.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['*.ada.test']);
const clock = new FakeClock('2026-11-21T10:00:00Z');
const outbound = {
  allowNetworks: ['127.0.0.0/8'],
  ca: authority.ca,
  // Names below hang.test have a name server that never answers.
  resolve: (name: string) =>
    name.endsWith('.hang.test') ? new Promise<string[]>(() => {}) : Promise.resolve(['127.0.0.1']),
};

/** A server that accepts connections and never sends anything. */
async function tarpit(t: Test) {
  const server = createServer((socket) => socket.on('error', () => {}).on('close', () => open--));
  let open = 0;
  let most = 0;
  server.on('connection', (socket) => {
    open += 1;
    most = Math.max(most, open);
    t.teardown(() => socket.destroy());
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
  await once(server, 'listening');
  t.teardown(() => server.close());
  const busy = async (count: number) => {
    while (open < count) await once(server, 'connection');
  };
  return { port: (server.address() as AddressInfo).port, busy, most: () => most };
}

/** Inserts due deliveries. */
async function fill({ folder }: Post, owner: string, hosts: string[]): Promise<void> {
  const { storage } = folder;
  await storage.transaction(async (tx) => {
    for (const [i, host] of hosts.entries()) {
      const record = deliveryRecord(`${owner}-${i}`, { owner, host, url: `https://${host}/` });
      await storage.deliveries.insert(tx, record, '{}');
    }
  });
}

/** The times from the end of a job to the arrival of its outcome, at hosts that were never called before. */
async function timesOfNewHosts(t: Test, post: Post, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const honest = await webhookReceiver(t, certificate);
    const startedAt = performance.now();
    await post.endJob(`https://host-${i}.ada.test:${honest.port}/`);
    post.sender.wake();
    await honest.got(1);
    times.push(Math.round(performance.now() - startedAt));
    await delay(500);
  }
  return times;
}

t.test('an account with 10,000 unresponsive hosts delays only itself', async (t) => {
  const dead = await tarpit(t);
  const post = await openPost(t, { clock, outbound, concurrency: 256 });
  const hosts = Array.from({ length: 10_000 }, (_, i) =>
    i % 2 === 0 ? `${i}.eve.test:${dead.port}` : `${i}.hang.test`,
  );
  await fill(post, 'eve', hosts);
  post.sender.start();
  await dead.busy(4);
  const times = await timesOfNewHosts(t, post, 4);
  t.ok(Math.max(...times) < 1_000, `${times.join(', ')} ms`);
  t.ok(dead.most() <= 16, `${dead.most()} at a time`);
});

t.test(
  'ten accounts with 500 unresponsive hosts each, on subdomains and ports, delay others little',
  async (t) => {
    const dead = await Promise.all(Array.from({ length: 10 }, () => tarpit(t)));
    const post = await openPost(t, { clock, outbound, concurrency: 256 });
    for (let account = 0; account < 10; account += 1) {
      const hosts = Array.from({ length: 500 }, (_, i) => `${i}.eve-${account}.test:${dead[i % 10]?.port}`);
      await fill(post, `eve-${account}`, hosts);
    }
    post.sender.start();
    await Promise.all(dead.map(({ busy }) => busy(10)));
    // Longer than an attempt, so that others follow those that time out.
    const times = await timesOfNewHosts(t, post, 22);
    t.ok(Math.max(...times) < 10_000, `${times.join(', ')} ms`);
  },
);
