import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { server as createHapi, type Server as HapiServer } from '@hapi/hapi';
import { pino } from 'pino';
import type { Test } from 'tap';
import type { Connections, ConnectionsOptions } from '../../appliance/edge/connections.ts';
import { createListener, guardListener } from '../../appliance/edge/listener.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { openSocket, type Target } from '../fixtures/raw-http.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** The size of the response of `/large`: more than the kernel buffers on both sides. */
export const LARGE_BYTES: number = 64 * 1024 * 1024;

const NO_CAPS = { total: 1_000, perAddress: 1_000 };
const SHORT_TIMEOUTS = {
  headersTimeout: 300,
  requestTimeout: 300,
  connectionsCheckingInterval: 50,
  handshakeTimeout: 300,
};

export interface GuardedListener {
  target: Target;
  connections: Connections;
  listener: Server;
  hapi: HapiServer;
  /** Opens a connection that is closed when the test ends. */
  open: (from?: string) => Promise<Socket>;
}

/** A hapi server on a guarded listener with short timeouts. `/` responds immediately, `/never` never. */
export async function guardedListener(
  t: Test,
  {
    secure = false,
    caps = NO_CAPS,
    requestTimeout = SHORT_TIMEOUTS.requestTimeout,
    ...options
  }: Partial<ConnectionsOptions> & {
    secure?: boolean;
    requestTimeout?: number;
    arrivesWithinMs?: number;
  } = {},
): Promise<GuardedListener> {
  const certificate = secure && new TestAuthority(await temporaryFolder(t)).issue(['127.0.0.1']);
  const listening = createListener(certificate ? { options: certificate, onChange: () => {} } : undefined, {
    ...SHORT_TIMEOUTS,
    requestTimeout,
  });
  const hapi = createHapi({ host: '127.0.0.1', port: 0, ...listening, debug: false });
  hapi.route([
    { method: '*', path: '/', handler: () => 'here' },
    { method: 'GET', path: '/never', handler: () => new Promise<string>(() => {}) },
    { method: 'GET', path: '/large', handler: () => Buffer.alloc(LARGE_BYTES) },
  ]);
  const logger = pino({ level: 'silent' });
  const connections = guardListener(hapi.listener, { caps, logger, ...options });
  await hapi.start();
  t.teardown(() => hapi.stop({ timeout: 1 }));
  const { port } = hapi.listener.address() as AddressInfo;
  const target = { port, secure };
  const open = async (from?: string) => {
    const socket = await openSocket({ ...target, ...(from !== undefined && { from }) });
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    return socket;
  };
  return { target, connections, listener: hapi.listener, hapi, open };
}

/** Resolves when `count` connections are open; rejects after 20 seconds. */
export async function openConnections(connections: Connections, count: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (connections.counts.open !== count) {
    if (performance.now() > deadline) throw new Error(`${connections.counts.open} connections are open`);
    await delay(10);
  }
}

/** The status of a GET on this connection; undefined if the connection is closed instead. */
export async function statusOn(socket: Socket, path = '/'): Promise<string | undefined> {
  if (socket.destroyed || !socket.writable) return undefined;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const closed = Promise.race([once(socket, 'end'), once(socket, 'close')]).then(() => undefined);
  const [answer] = ((await Promise.race([once(socket, 'data'), closed]).catch(() => [])) as Buffer[]) ?? [];
  return answer && /^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1];
}
