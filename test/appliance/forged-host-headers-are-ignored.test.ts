import t from 'tap';
import { listeningAppliance } from './listening-appliance.ts';

const FORGED = {
  host: 'evil.example.com',
  'x-forwarded-host': 'evil.example.com',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-for': '6.6.6.6',
  forwarded: 'host=evil.example.com;proto=https',
};

t.test('a client’s Host and forwarding headers never appear in a response', async (t) => {
  const { askAs, key, log, url } = await listeningAppliance(t);
  const paths = [
    '/',
    '/openapi.json',
    '/api/v2/me',
    '/api/v2/render/1',
    '/api/v2/render/%zz',
    '/nothing',
    '/%',
  ];
  for (const path of paths) {
    const { text, headers } = await askAs(key, path, { headers: FORGED });
    t.notMatch(text + JSON.stringify(headers), 'evil.example.com', path);
  }
  t.notMatch(log(), '6.6.6.6');
  t.match((await askAs(key, '/openapi.json', { headers: FORGED })).json, { servers: [{ url }] });
});

t.test('an invalid Host header is accepted', async (t) => {
  const { askAs, key } = await listeningAppliance(t);
  for (const host of ['', ']', 'a b', '%', 'x:99999', '[::1']) {
    t.equal((await askAs(key, '/api/v2/me', { headers: { host } })).status, 200, host);
    t.equal((await askAs(key, '/api/v2/render/%zz', { headers: { host } })).status, 404, host);
  }
});

t.test('a trusted proxy determines the public URL', async (t) => {
  const { ask, log, url } = await listeningAppliance(t, { trustProxy: true });
  const serversOf = async (headers: Record<string, string>) => {
    const servers = (await ask('/openapi.json', { headers })).json['servers'] as { url: string }[];
    return servers.map(({ url }) => url);
  };
  const forwarded = { 'x-forwarded-host': 'render.example.com:8443', 'x-forwarded-proto': 'https' };
  t.strictSame(await serversOf(forwarded), ['https://render.example.com:8443']);
  t.strictSame(await serversOf({ ...forwarded, 'x-forwarded-host': 'evil/../' }), [url]);
  t.strictSame(await serversOf({ ...forwarded, 'x-forwarded-proto': 'javascript' }), [url]);
  t.strictSame(await serversOf({ host: 'evil.example.com' }), [url]);
  await ask('/', { headers: { 'x-forwarded-for': '6.6.6.6, 10.0.0.7' } });
  t.match(log(), '"remoteAddress":"10.0.0.7"');
});

t.test('a configured public URL takes precedence over forwarding headers', async (t) => {
  const publicUrl = 'https://render.example.com';
  const { ask } = await listeningAppliance(t, { publicUrl, trustProxy: true });
  const headers = { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https' };
  t.match((await ask('/openapi.json', { headers })).json, { servers: [{ url: publicUrl }] });
});
