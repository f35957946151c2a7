import t from 'tap';
import { HostLanes } from '../../../lib/webhooks/host-lanes.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPost } from '../../fixtures/deliveries.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(t.testdir());
const certificate = authority.issue(['127.0.0.1']);
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const clock = new FakeClock('2026-11-21T10:00:00Z');

t.test('many deliveries to one that does not answer stand before nobody', async (t) => {
  const dead = await webhookReceiver(t, certificate, () => {});
  const quick = await webhookReceiver(t, certificate);
  const { endJob, sender } = await openPost(t, { clock, outbound, concurrency: 4 });
  for (let i = 0; i < 50; i += 1) await endJob(`https://127.0.0.1:${dead.port}/`);
  for (let i = 0; i < 20; i += 1) await endJob(`https://127.0.0.1:${quick.port}/`);
  const startedAt = performance.now();
  sender.start();
  await quick.got(20);
  t.ok(performance.now() - startedAt < 5_000);
  t.equal(dead.received.length, 1, 'and it is asked once at a time');
});

t.test('a receiver that answers quickly gets several at a time, but no more than it may', async (t) => {
  let [open, most] = [0, 0];
  const receiver = await webhookReceiver(t, certificate, (response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 30);
  });
  const { endJob, sender, deliveries } = await openPost(t, { clock, outbound, concurrencyPerHost: 3 });
  for (let i = 0; i < 30; i += 1) await endJob(`https://127.0.0.1:${receiver.port}/`);
  sender.start();
  await receiver.got(30);
  await sender.stop({ graceMs: 5_000 });
  t.equal(most, 3);
  t.ok((await deliveries.list()).every(({ status }) => status === 'delivered'));
});

t.test('those known to be slow share half of the room', async (t) => {
  const lanes = new HostLanes({ concurrency: 4, concurrencyPerHost: 2 });
  const hosts = ['a', 'b', 'c'];
  for (const host of hosts) {
    const leave = lanes.enter(host);
    if (leave) leave(5_000);
  }
  const leaves = hosts.map((host) => lanes.enter(host));
  t.match(leaves, [Function, Function, false]);
  t.same([...lanes.full()].sort(), hosts);
  t.ok(lanes.enter('new'));
  t.notOk(lanes.enter('new'), 'one that is not known gets one');
  const [first] = leaves;
  if (first) first(10);
  t.same([...lanes.full()].sort(), ['b', 'new'], 'quick again, and so is room for the slow');
  t.ok(lanes.enter('a'));
  t.equal(lanes.free, 1);
});
