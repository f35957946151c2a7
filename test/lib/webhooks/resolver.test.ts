import { createSocket } from 'node:dgram';
import { getEventListeners, once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listedAddresses, resolveName, resolverOf } from '../../../lib/webhooks/resolver.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const A = 1;
const AAAA = 28;
/** A response code of DNS. */
const [SERVFAIL, NXDOMAIN] = [2, 3];
const never = new AbortController().signal;

type Answers = Record<string, { [type: number]: number[][] | number }>;

/** A name server. Answers: addresses, or a response code; names without answers get no response. */
async function nameServer(t: Test, answers: Answers) {
  const asked: string[] = [];
  const server = createSocket('udp4');
  server.on('message', (query, { port }) => {
    const labels: string[] = [];
    let at = 12;
    for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + size));
      at += 1 + size;
    }
    const type = query.readUInt16BE(at + 1);
    const name = labels.join('.');
    asked.push(name);
    server.emit('asked');
    const answer = answers[name]?.[type];
    if (answer === undefined) return;
    const addresses = typeof answer === 'number' ? [] : answer;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + (typeof answer === 'number' ? answer : 0), 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
    );
    server.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), port, '127.0.0.1');
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const servers = [`127.0.0.1:${server.address().port}`];
  const resolve = (name: string, signal = never) =>
    resolverOf({ hostsFile: join(t.testdirName, 'none'), servers })(name, signal);
  return { resolve, servers, asked, server };
}

t.test('the hosts file takes precedence', async (t) => {
  const hosts = [
    '# names',
    '127.0.0.1 localhost',
    '',
    '  10.1.2.3\thook.studio  hook # ours',
    '::1 localhost',
    '10.1.2.4 Hook.Studio',
    '10.1.2.3 hook',
  ].join('\n');
  t.same(listedAddresses(hosts, 'hook.studio'), ['10.1.2.3', '10.1.2.4']);
  t.same(listedAddresses(hosts, 'HOOK.'), ['10.1.2.3']);
  t.same(listedAddresses(hosts, 'ours'), []);
  t.same(listedAddresses(hosts, ''), []);
  t.same(listedAddresses(hosts, '10.1.2.3'), []);
  t.ok((await resolveName('localhost', never)).includes('127.0.0.1'));
  const { servers, asked } = await nameServer(t, { other: { [A]: [[10, 9, 9, 9]], [AAAA]: NXDOMAIN } });
  const resolve = resolverOf({ hostsFile: join(testFolder(t, { hosts }), 'hosts'), servers });
  t.same(await resolve('hook', never), ['10.1.2.3']);
  t.same(asked, []);
  t.same(await resolve('other', never), ['10.9.9.9']);
});

t.test('the name servers of the system are asked for other names', async (t) => {
  const found = resolveName('a-name-that-nobody-has.invalid', AbortSignal.timeout(1_000));
  const result = await found.then(String, (error: NodeJS.ErrnoException) => error.code);
  t.match(result, /^($|E(?!RR_))/, 'no address, or an error of the lookup');
});

t.test('addresses of both kinds are found, each once', async (t) => {
  const loopback = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  const addresses = [
    [10, 0, 0, 1],
    [10, 0, 0, 2],
    [10, 0, 0, 1],
  ];
  const { resolve } = await nameServer(t, {
    both: { [A]: addresses, [AAAA]: [loopback] },
    old: { [A]: [[10, 0, 0, 3]], [AAAA]: [] },
    failing: { [A]: [[10, 0, 0, 4]], [AAAA]: SERVFAIL },
  });
  t.same(await resolve('both'), ['10.0.0.1', '10.0.0.2', '::1']);
  t.same(await resolve('old'), ['10.0.0.3']);
  t.same(await resolve('failing'), ['10.0.0.4'], 'one kind suffices');
});

t.test('a name without addresses is distinguished from a failure of the name server', async (t) => {
  const { resolve } = await nameServer(t, {
    nobody: { [A]: NXDOMAIN, [AAAA]: NXDOMAIN },
    empty: { [A]: [], [AAAA]: [] },
    broken: { [A]: SERVFAIL, [AAAA]: SERVFAIL },
    half: { [A]: NXDOMAIN, [AAAA]: SERVFAIL },
  });
  t.same(await resolve('nobody'), []);
  t.same(await resolve('empty'), []);
  await t.rejects(resolve('broken'), { code: 'ESERVFAIL' });
  await t.rejects(resolve('half'), { code: 'ESERVFAIL' });
});

t.test('a lookup can be aborted', async (t) => {
  const { resolve, server } = await nameServer(t, {});
  const controller = new AbortController();
  const resolved = resolve('silent', controller.signal);
  await once(server, 'asked');
  controller.abort();
  await t.rejects(resolved, { code: 'ECANCELLED' });
  t.same(getEventListeners(controller.signal, 'abort'), []);
});
