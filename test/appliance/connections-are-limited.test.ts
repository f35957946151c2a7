import { once } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { clientGroupOf } from '../../appliance/edge/client-group.ts';
import { connectionCapsOf, mostConnections } from '../../appliance/edge/connection-caps.ts';
import { processLimit } from '../../appliance/place/process-limits.ts';
import { guardedListener, openConnections, statusOn } from './guarded-listener.ts';

const [HONEST, ATTACKER, OTHER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

for (const secure of [false, true]) {
  const layer = secure ? 'TLS' : 'plain';

  t.test(`${layer}: other addresses can connect however many connections one address opens`, async (t) => {
    const caps = { total: 20, perAddress: 20 };
    const { open, connections } = await guardedListener(t, { secure, caps });
    const kept = await open(HONEST);
    t.equal(await statusOn(kept), '200');
    const answered = await open(ATTACKER);
    t.equal(await statusOn(answered), '200');
    for (let count = 0; count < 60; count += 1) await open(ATTACKER).catch(() => {});
    t.equal(connections.counts.open, 20, 'never more than the cap');
    t.equal(await statusOn(await open(HONEST)), '200');
    t.equal(await statusOn(await open(OTHER)), '200');
    t.equal(await statusOn(kept), '200', 'a client with one connection keeps it');
  });
}

t.test('connections with unanswered requests are evicted, too', async (t) => {
  const { open, connections } = await guardedListener(t, { caps: { total: 10, perAddress: 10 } });
  const busy = await Promise.all(Array.from({ length: 10 }, () => open(ATTACKER)));
  for (const socket of busy) socket.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
  await openConnections(connections, 10);
  t.equal(await statusOn(await open(HONEST)), '200');
  t.equal(connections.counts.evicted, 1);
});

t.test('a client at its own cap loses its least recently active connection', async (t) => {
  const { open, connections } = await guardedListener(t, { caps: { total: 100, perAddress: 3 } });
  const first = await open(ATTACKER);
  const second = await open(ATTACKER);
  const third = await open(ATTACKER);
  for (const socket of [third, second, first]) t.equal(await statusOn(socket), '200');
  const closed = once(third, 'end');
  third.resume();
  t.equal(await statusOn(await open(ATTACKER)), '200');
  await closed;
  t.equal(await statusOn(first), '200');
  t.equal(await statusOn(second), '200');
  t.same(connections.counts, { open: 3, evicted: 1, refused: 0, stalled: 0 });
});

t.test('a client whose connections are all busy is refused at its cap, others are not', async (t) => {
  const { open, connections } = await guardedListener(t, { caps: { total: 100, perAddress: 2 } });
  for (const socket of [await open(ATTACKER), await open(ATTACKER)]) {
    socket.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\nGET /never HTTP/1.1\r\nHost: x\r\n\r\n');
  }
  t.equal(await statusOn(await open(HONEST)), '200', 'the requests have arrived');
  t.equal(await statusOn(await open(ATTACKER)), undefined);
  t.equal(connections.counts.refused, 1);
  t.equal(await statusOn(await open(HONEST)), '200');
});

t.test('closed connections are no longer counted', async (t) => {
  const { open, connections } = await guardedListener(t, { caps: { total: 5, perAddress: 5 } });
  for (let round = 0; round < 5; round += 1) {
    const sockets: Socket[] = [];
    for (let count = 0; count < 5; count += 1) sockets.push(await open(ATTACKER));
    for (const socket of sockets) t.equal(await statusOn(socket), '200');
    for (const socket of sockets) socket.destroy();
    await openConnections(connections, 0);
  }
  t.equal(connections.counts.evicted, 0);
});

t.test('a client is an IPv4 address or a /64 of IPv6 ones', async (t) => {
  t.equal(clientGroupOf('192.0.2.1'), '192.0.2.1');
  t.equal(clientGroupOf('::ffff:192.0.2.1'), '192.0.2.1');
  t.equal(clientGroupOf('2001:db8:1:2:3:4:5:6'), clientGroupOf('2001:db8:1:2::1'));
  t.not(clientGroupOf('2001:db8:1:2::1'), clientGroupOf('2001:db8:1:3::1'));
  t.equal(clientGroupOf('fe80::1%eth0'), clientGroupOf('fe80::2'));
  t.equal(clientGroupOf('::1'), '0:0:0:0::/64');
  t.equal(clientGroupOf(undefined), '');
});

t.test('the caps stay below the limit of open files', async (t) => {
  t.same(connectionCapsOf({ trustProxy: false }, 20_000), { total: 9_744, perAddress: 4_872 });
  t.same(connectionCapsOf({ trustProxy: false }, 1_000_000), { total: 10_000, perAddress: 5_000 });
  t.same(connectionCapsOf({ trustProxy: false }, 1_024), { total: 256, perAddress: 128 });
  t.same(
    connectionCapsOf({ trustProxy: true }, 1_024),
    { total: 256, perAddress: 256 },
    'a proxy has no limit per address',
  );
  t.same(connectionCapsOf({ trustProxy: true, maxConnections: 50, maxConnectionsPerAddress: 9 }, 1_024), {
    total: 50,
    perAddress: 9,
  });
  t.same(connectionCapsOf({ trustProxy: false, maxConnections: 5_000 }, 1_024).total, 256);
  for (const limit of [64, 256, 1_024, 4_096, 65_536]) t.ok(mostConnections(limit) * 2 < limit, `${limit}`);
  t.ok(processLimit('Max open files') > 64);
});
