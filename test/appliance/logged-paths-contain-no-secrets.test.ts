import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { loggedPath } from '../../appliance/edge/logged-path.ts';
import { listeningAppliance } from './listening-appliance.ts';

const DIGITS = '0123456789abcdef'.repeat(3);
const escaped = (text: string) => text.replaceAll('_', '%5F').replaceAll('s', '%73');
const twice = (text: string) => escaped(text).replaceAll('%', '%25');

t.test('keys and secrets are redacted anywhere in a path', async (t) => {
  const { port, log } = await listeningAppliance(t);
  const targets = [`svc_live_${DIGITS}`, `whsec_${DIGITS}`, `SVC_LIVE_${DIGITS}`].flatMap((secret) => [
    `/${secret}`,
    `/api/v2/render/${secret}`,
    `/artifacts/${secret}/video.mp4`,
    `/prefix${secret}suffix`,
    `/${escaped(secret)}`,
    `/${twice(secret)}`,
    `/%zz/${secret}`,
    `/%zz/${escaped(secret)}`,
    `/me?key=${secret}`,
    `/me%3Fkey=${secret}`,
    `/me#${secret}`,
    `http://x/${secret}`,
    `http://[/?key=${secret}`,
    `http://${secret}@[/`,
    `/${'x'.repeat(230)}${secret}`,
    `/${'x'.repeat(1_010)}${secret}`,
    `/Bearer%20${DIGITS}`,
    `/${DIGITS}0`,
  ]);
  for (const target of targets) {
    const socket = connect(port, '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await text(socket);
  }
  const paths = [...log().matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path);
  t.equal(paths.length, targets.length, 'every request is logged');
  t.notMatch(log(), DIGITS.slice(0, 24));
});

t.test('a logged path has a maximum length', async (t) => {
  t.equal(loggedPath(`/${'x'.repeat(300)}`), `/${'x'.repeat(255)}…`);
  t.ok(loggedPath(`/${'%25'.repeat(5_000)}`).length <= 257);
});

t.test('a job id is kept where the route has one', async (t) => {
  for (const path of [
    '/',
    '/api/v2/me',
    `/api/v2/render/${DIGITS}`,
    `/artifacts/${DIGITS}/video.mp4`,
    '/metrics',
    '/50%25',
  ]) {
    t.equal(loggedPath(path), path);
  }
});
