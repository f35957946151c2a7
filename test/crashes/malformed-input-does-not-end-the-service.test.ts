/**
 * Sends malformed requests to the service, plain and TLS: `EXCHANGES` of them (default 4,000), generated from `SEED`.
 * After each one the service must still respond; in the end it must have no more open descriptors than before.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import t from 'tap';
import { type Serving, serve } from '../appliance/command.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { times } from '../fixtures/depth.ts';
import { type FuzzedExchange, type FuzzMaterial, fuzzedExchange } from '../fixtures/http-fuzz.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const EXCHANGES = times('EXCHANGES', { quick: 1_000, deep: 2_000 });
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const LANES = 12;
/** One in this many exchanges goes to the service with TLS. */
const SECURE_SHARE = 3;
/** How long a client waits for a response; there may be none. */
const RESPONSE_TIMEOUT_MS = 25;
const LIVE_WITHIN_MS = 20_000;
const CLOSED_WITHIN_MS = 60_000;

const INSTANT_PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');

interface Server {
  serving: Serving;
  secure: boolean;
  agent: Agent;
  material: FuzzMaterial;
}

/** The first bytes that a TLS client sends. */
async function recordClientHello(): Promise<Buffer> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const client = connectSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false }).on(
    'error',
    () => {},
  );
  const [socket] = (await once(listener, 'connection')) as [Socket];
  const [hello] = (await once(
    socket.on('error', () => {}),
    'data',
  )) as [Buffer];
  client.destroy();
  socket.destroy();
  listener.close();
  return hello;
}

function ask(
  { serving: { port }, secure, agent }: Server,
  path: string,
  options: { key?: string; body?: string } = {},
): Promise<{ status: number | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
  const message = (secure ? requestSecurely : request)({
    host: '127.0.0.1',
    port,
    path,
    agent,
    rejectUnauthorized: false,
    method: options.body === undefined ? 'GET' : 'POST',
    ...(options.key && { headers: { authorization: `Bearer ${options.key}` } }),
    timeout: LIVE_WITHIN_MS,
  });
  message.once('timeout', () => message.destroy(new Error('the service does not respond')));
  message.once('error', reject);
  message.once('response', (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    response.once('end', () => resolve({ status: response.statusCode, body }));
    response.once('error', reject);
  });
  message.end(options.body);
  return promise;
}

async function isLive(server: Server): Promise<boolean> {
  // A kept-alive connection may be closed just as it is reused; the second attempt opens a new one.
  for (const _attempt of [1, 2]) {
    const answer = await ask(server, '/health/live').catch(() => undefined);
    if (answer?.status === 200) return true;
  }
  return false;
}

async function start(secure: boolean): Promise<Server> {
  const folder = await temporaryFolder(t);
  const args = ['--data-dir', join(folder, 'data'), '--cors-origins', '*', '--max-queued', '20'];
  if (secure) {
    const { cert, key } = new TestAuthority(folder).issue(['127.0.0.1']);
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), key);
    args.push('--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem'));
  }
  const env = { SCENEPRESS_PYTHON: INSTANT_PYTHON, SCENEPRESS_LOG_FILE: join(folder, 'log') };
  const serving = await serve(t, args, { env, logFile: env.SCENEPRESS_LOG_FILE });
  const key = /svc_live_[0-9a-f]{48}/.exec(serving.stdout())?.[0] as string;
  const agent = secure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const server = {
    serving,
    secure,
    agent,
    material: { key, artifact: '', clientHello: await recordClientHello() },
  };
  const body = JSON.stringify({ code: 'large', className: 'Scene1' });
  const { jobId } = JSON.parse((await ask(server, '/api/v2/render', { key, body })).body);
  for (;;) {
    const { status, result } = JSON.parse((await ask(server, `/api/v2/render/${jobId}`, { key })).body);
    if (status === 'completed') {
      server.material.artifact = new URL(result.video).pathname;
      return server;
    }
    await delay(20);
  }
}

/** Wraps a socket in a plain stream. */
function throughStream(raw: Socket): Duplex {
  const stream = new Duplex({
    read: () => raw.resume(),
    write: (chunk, _encoding, done) => {
      if (raw.writable) raw.write(chunk, () => done());
      else done();
    },
    final: (done) => {
      raw.end();
      done();
    },
    destroy: (error, done) => {
      raw.destroy();
      done(error);
    },
  });
  raw.on('data', (chunk) => stream.push(chunk) || raw.pause());
  raw.once('end', () => stream.push(null));
  raw.once('close', () => stream.destroy());
  return stream.on('error', () => {});
}

/** Performs an exchange. Returns the statuses of the responses. */
async function carryOut({ serving: { port }, secure }: Server, exchange: FuzzedExchange): Promise<string[]> {
  const isSecure = secure && exchange.layer === 'http';
  const options = { host: '127.0.0.1', port, allowHalfOpen: true };
  // To insert a record between those of TLS, TLS runs over a stream whose socket is accessible.
  const raw = isSecure && !exchange.record ? undefined : connect(options).on('error', () => {});
  const below = raw && isSecure ? { socket: throughStream(raw) } : options;
  const tls = isSecure ? connectSecurely({ ...below, rejectUnauthorized: false }) : undefined;
  const socket = (tls ?? raw) as Socket;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  await Promise.race([once(socket, isSecure ? 'secureConnect' : 'connect'), closed]).catch(() => {});
  const statuses: string[] = [];
  const heard = Promise.withResolvers<void>();
  if (exchange.reads) {
    socket.on('data', (chunk: Buffer) => {
      for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g))
        statuses.push(status as string);
      heard.resolve();
    });
    socket.once('end', heard.resolve);
  }
  for (const piece of exchange.pieces) {
    if (socket.destroyed || !socket.writable) break;
    socket.write(piece);
    await new Promise(setImmediate);
  }
  if (exchange.record && raw?.writable) raw.write(exchange.record);
  if (exchange.ending === 'end') socket.end();
  if (exchange.ending === 'wait' || exchange.ending === 'end') {
    const timer = setTimeout(heard.resolve, RESPONSE_TIMEOUT_MS);
    await Promise.race([heard.promise, closed]);
    clearTimeout(timer);
  }
  if (exchange.ending === 'reset' && raw === socket && !raw.destroyed) raw.resetAndDestroy();
  socket.destroy();
  raw?.destroy();
  return statuses;
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

t.test(
  `${EXCHANGES} malformed exchanges neither end the service nor leak descriptors (SEED=${SEED})`,
  async (t) => {
    const servers = await Promise.all([start(false), start(true)]);
    for (const server of servers) t.ok(await isLive(server));
    for (const server of servers) server.agent.destroy();
    await delay(500);
    const before = servers.map(({ serving }) => descriptorsOf(serving.pid));

    const statuses = new Map<string, number>();
    let next = 0;
    let failure: string | undefined;
    const startedAtMs = performance.now();
    const lane = async () => {
      while (next < EXCHANGES && failure === undefined) {
        const index = next++;
        const server = servers[index % SECURE_SHARE === 0 ? 1 : 0] as Server;
        const answered = await carryOut(server, fuzzedExchange(SEED, index, server.material));
        for (const status of answered) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (answered.includes('500')) failure = `exchange ${index} got 500`;
        if (!(await isLive(server))) failure = `after exchange ${index} the service does not respond`;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const seconds = (performance.now() - startedAtMs) / 1000;
    t.equal(failure, undefined, `SEED=${SEED}`);
    t.comment(
      `${next} exchanges in ${seconds.toFixed(0)} s; responses by status: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
    );

    for (const server of servers) server.agent.destroy();
    for (const [index, { serving, secure }] of servers.entries()) {
      const deadline = performance.now() + CLOSED_WITHIN_MS;
      let after = descriptorsOf(serving.pid);
      while (after > (before[index] as number) && performance.now() < deadline) {
        await delay(200);
        after = descriptorsOf(serving.pid);
      }
      t.ok(
        after <= (before[index] as number),
        `${secure ? 'TLS' : 'plain'}: ${before[index]} descriptors before, ${after} after`,
      );
      t.notMatch(serving.stderr(), /error|unhandled|garbage collection/i);
    }
  },
);
