import t from 'tap';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPost } from '../../fixtures/deliveries.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const clock = new FakeClock('2026-11-21T10:00:00Z');

t.test('10,000 deliveries to an unresponsive receiver do not delay others', async (t) => {
  const dead = await webhookReceiver(t, certificate, () => {});
  const quick = await webhookReceiver(t, certificate);
  const { endJob, sender, folder } = await openPost(t, { clock, outbound, concurrency: 4 });
  const host = `127.0.0.1:${dead.port}`;
  await folder.storage.transaction(async (tx) => {
    for (let i = 0; i < 10_000; i += 1) {
      const record = deliveryRecord(`${i}`, { owner: 'ada', host, url: `https://${host}/` });
      await folder.storage.deliveries.insert(tx, record, '{}');
    }
  });
  for (let i = 0; i < 20; i += 1) await endJob(`https://127.0.0.1:${quick.port}/`);
  const startedAt = performance.now();
  sender.start();
  await quick.got(20);
  t.ok(performance.now() - startedAt < 5_000);
  t.equal(dead.received.length, 1, 'it gets one request at a time');
});

t.test('a quick receiver gets several requests at a time, up to the limit', async (t) => {
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
