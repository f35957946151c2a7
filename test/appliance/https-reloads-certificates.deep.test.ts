import { once } from 'node:events';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { Certificate } from '../../appliance/edge/certificate.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';

const authority = new TestAuthority(await temporaryFolder(t));

async function files(t: Test): Promise<{ cert: string; key: string; args: string[]; dataDir: string }> {
  const folder = await temporaryFolder(t);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const dataDir = join(folder, 'data');
  await put({ cert, key }, authority.issue(['127.0.0.1']));
  return { cert, key, dataDir, args: ['--data-dir', dataDir, '--tls-cert', cert, '--tls-key', key] };
}

async function put(
  { cert, key }: { cert: string; key: string },
  issued: { cert: string; key: string },
): Promise<void> {
  await writeFile(cert, issued.cert);
  await writeFile(key, issued.key);
}

interface SecureAnswer {
  status: number | undefined;
  body: string;
  certificate: PeerCertificate;
}

/** Sends a request and verifies the certificate. */
async function ask(port: number, path: string, agent?: Agent): Promise<SecureAnswer> {
  const message = request({ host: '127.0.0.1', port, path, ca: authority.ca, agent: agent ?? false });
  message.end();
  const [response] = await once(message, 'response');
  const certificate = (response.socket as TLSSocket).getPeerCertificate();
  return { status: response.statusCode, body: await text(response), certificate };
}

t.test('clients that verify the certificate can connect, and links use https', async (t) => {
  const { args } = await files(t);
  const { port, stdout } = await serve(t, args);
  t.match(stdout(), `listens on https://127.0.0.1:${port}\n`);
  t.match(await ask(port, '/openapi.json'), {
    status: 200,
    body: `"servers":[{"url":"https://127.0.0.1:${port}",`,
  });
});

t.test('TLS before 1.2 and ciphers without forward secrecy are refused', async (t) => {
  const { args } = await files(t);
  const { port } = await serve(t, args);
  const handshake = async (options: object) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.ca, ...options });
    await once(socket, 'secureConnect');
    const protocol = socket.getProtocol();
    socket.destroy();
    return protocol;
  };
  t.equal(await handshake({}), 'TLSv1.3');
  t.equal(await handshake({ maxVersion: 'TLSv1.2' }), 'TLSv1.2');
  await t.rejects(handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }));
  await t.rejects(handshake({ maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }));
});

t.test('SIGHUP loads a new certificate, and open connections stay open', async (t) => {
  const { cert, key, args } = await files(t);
  const server = await serve(t, args);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const before = await ask(server.port, '/', agent);
  await put({ cert, key }, authority.issue(['127.0.0.1']));
  server.kill('SIGHUP');
  await server.says(/The new certificate is in use/);
  const after = await ask(server.port, '/');
  t.not(after.certificate.serialNumber, before.certificate.serialNumber);
  const kept = await ask(server.port, '/', agent);
  t.equal(kept.certificate.serialNumber, before.certificate.serialNumber, 'it is the same connection');
  t.equal(kept.status, 200);
});

t.test('an unusable certificate leaves the old one in use, and the reason is logged', async (t) => {
  const { cert, key, args } = await files(t);
  const server = await serve(t, args);
  const { certificate } = await ask(server.port, '/');
  const refusals: [reason: RegExp, cert: string, key: string][] = [
    [/"reason":"the certificate is not a PEM/, 'nonsense', authority.issue(['127.0.0.1']).key],
    [
      /"reason":"the key belongs to another certificate"/,
      authority.issue(['a']).cert,
      authority.issue(['a']).key,
    ],
  ];
  for (const [reason, newCert, newKey] of refusals) {
    await put({ cert, key }, { cert: newCert, key: newKey });
    server.kill('SIGHUP');
    await server.says(reason);
    t.equal((await ask(server.port, '/')).certificate.serialNumber, certificate.serialNumber);
  }
  await rm(key);
  server.kill('SIGHUP');
  await server.says(/"reason":"[^"]*key\.pem can't be read/);
  t.equal((await ask(server.port, '/')).status, 200);
  t.notMatch(server.stderr(), /BEGIN/);

  await put({ cert, key }, authority.issue(['127.0.0.1']));
  server.kill('SIGHUP');
  await server.says(/The new certificate is in use/);
});

t.test('changed files are detected without a signal, also behind symbolic links', async (t) => {
  const folder = await temporaryFolder(t);
  const [first, second] = [authority.issue(['a']), authority.issue(['b'])];
  for (const [name, { cert, key }] of Object.entries({ first, second })) {
    await writeFile(join(folder, `${name}.cert`), cert);
    await writeFile(join(folder, `${name}.key`), key);
  }
  const path = (name: string) => join(folder, name);
  await symlink('first.cert', path('live.cert'));
  await symlink('first.key', path('live.key'));
  const certificate = new Certificate({
    certFile: path('live.cert'),
    keyFile: path('live.key'),
    logger: pino({ level: 'silent' }),
    pollMs: 10,
  });
  t.teardown(() => certificate.stop());
  await certificate.start();
  t.match(certificate.options, { cert: first.cert, minVersion: 'TLSv1.2' });
  const changed = new Promise<void>((resolve) => {
    certificate.onChange = resolve;
  });
  for (const part of ['cert', 'key']) {
    await symlink(`second.${part}`, path('new'));
    await rename(path('new'), path(`live.${part}`));
  }
  await changed;
  t.match(certificate.options, { cert: second.cert, key: second.key });
});

t.test('an expiring certificate is announced, and an expired one is not loaded', async (t) => {
  const { cert, key } = await files(t);
  await put({ cert, key }, authority.issue(['a'], { days: 90 }));
  const DAY_MS = 24 * 60 * 60_000;
  const clock = new FakeClock(new Date().toISOString());
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(line) });
  const certificate = new Certificate({ certFile: cert, keyFile: key, logger, clock, pollMs: 3_600_000 });
  t.teardown(() => certificate.stop());
  await certificate.start();
  clock.advance(75 * DAY_MS);
  await certificate.reload();
  t.same(certificate.warnings(), []);
  clock.advance(2 * DAY_MS);
  await certificate.reload();
  await certificate.reload();
  t.match(certificate.warnings(), [/^The TLS certificate expires at 20.*Renew it\.$/]);
  t.equal(lines.filter((line) => line.includes('expires at')).length, 1, 'once a day');
  clock.advance(20 * DAY_MS);
  t.match(certificate.warnings(), [/expired at 20/]);

  await put({ cert, key }, authority.issue(['a'], { days: 80 }));
  await certificate.reload();
  t.match(lines.at(-1), '"reason":"it has expired"');
  await put({ cert, key }, authority.issue(['a'], { days: 200 }));
  await certificate.reload();
  t.same(certificate.warnings(), []);
});

t.test('a service with an unusable certificate does not start', async (t) => {
  const { cert, dataDir, args } = await files(t);
  await writeFile(cert, 'nonsense');
  const env = { SCENEPRESS_LOG_LEVEL: 'fatal', SCENEPRESS_PORT: '0' };
  const broken = await scenepress(['serve', ...args], { env });
  t.equal(broken.code, 1);
  t.match(
    broken.stderr,
    /^scenepress: The TLS certificate \(tlsCert, tlsKey\) can't be used: .*not a PEM certificate/,
  );
  const half = await scenepress(['serve', '--data-dir', dataDir, '--tls-cert', cert], { env });
  t.equal(half.code, 2);
  t.match(half.stderr, /--tls-key \(SCENEPRESS_TLS_KEY\)/);
});
