import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { type Server as HttpsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { clientGroupOf } from './client-group.ts';
import { type ClientGroup, ClientGroups, type Member } from './client-groups.ts';
import type { ConnectionCaps } from './connection-caps.ts';
import { connectionKey, readSendQueues } from './send-queues.ts';

/**
 * A client that reads none of its response for this long is gone or malicious. Slow readers need less: the kernel
 * reports what a client has read in large steps.
 */
const STALL_MS = 120_000;
const SWEEP_MS = 5_000;
/** Number of connections closed when the process still runs out of descriptors. */
const SHED = 16;

/** An open connection. */
interface Connection extends Member {
  /** Addresses of both ends; stored, because a closed socket has none. */
  readonly address: string;
  /** The socket that carries HTTP: the connection itself, or its TLS socket after the handshake. */
  socket: Socket | undefined;
  /** Responses that haven't been fully sent; the newest last. */
  unanswered: ServerResponse[];
  /** Called when the next response has been sent. */
  whenAnswered: (() => void) | undefined;
  /** Progress of sending, only while data is waiting: bytes sent, kernel queue, and the time of the last change. */
  sent: number;
  queued: number | undefined;
  progressAtMs: number;
}

export interface ConnectionsOptions {
  caps: ConnectionCaps;
  /** How long a client may read none of its response; default 2 minutes. */
  stallMs?: number;
  /** Interval of the check for that; default 5 seconds. */
  sweepMs?: number;
}

/** Counts of connections, for the log and the metrics. */
export interface ConnectionCounts {
  open: number;
  /** Closed for a newcomer, refused at a cap, and closed because the client did not read. */
  evicted: number;
  refused: number;
  stalled: number;
}

/**
 * The open connections of a listener. Enforces the caps and closes connections whose client has stopped reading.
 *
 * - silent → busy: a request has arrived.
 * - busy → silent: all requests are answered.
 * - any → closed: by the client, by Node's timeouts, for a newcomer ({@link ClientGroups.victimFor}), or by the
 *   sweep.
 *
 * A newcomer is refused only when its own client has the most connections and none of them is silent.
 */
export class Connections {
  readonly #caps: ConnectionCaps;
  readonly #stallMs: number;
  readonly #sweepMs: number;
  readonly #groups = new ClientGroups();
  readonly #all = new Map<Socket, Connection>();
  readonly #bySocket = new WeakMap<object, Connection>();
  /** Connections whose TLS handshake isn't complete, by address. */
  readonly #handshaking = new Map<string, Connection>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping = false;
  readonly counts: ConnectionCounts = { open: 0, evicted: 0, refused: 0, stalled: 0 };

  constructor(options: ConnectionsOptions) {
    this.#caps = options.caps;
    this.#stallMs = options.stallMs ?? STALL_MS;
    this.#sweepMs = options.sweepMs ?? SWEEP_MS;
  }

  /** Watches a listener while it listens. */
  watch(listener: HttpServer | HttpsServer): void {
    const isSecure = listener instanceof TlsServer;
    listener.prependListener('connection', (raw: Socket) => this.#admit(raw, isSecure));
    if (isSecure) listener.prependListener('secureConnection', (socket) => this.#secured(socket));
    const onRequest = (request: IncomingMessage, response: ServerResponse) =>
      this.#begin(request.socket, response);
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      listener.prependListener(event, onRequest);
    }
    listener.on('listening', () => {
      this.#timer ??= setInterval(() => void this.#sweep(), this.#sweepMs).unref();
    });
    listener.on('close', () => {
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  /** Whether HTTP can be sent on a socket: false before the TLS handshake is complete, and after the close. */
  isOpen(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.socket === socket && !socket.destroyed;
  }

  /** The newest response on a socket that isn't fully sent; undefined if all are. */
  unansweredOn(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.unanswered.at(-1);
  }

  /**
   * Calls back when all requests are answered, except one whose body is still being received.
   */
  whenEarlierAnswered(socket: Socket, callback: () => void): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    const response = connection.unanswered.at(-1);
    const waiting = response && !response.req.complete && !response.headersSent ? 1 : 0;
    if (connection.unanswered.length <= waiting) callback();
    else connection.whenAnswered = () => this.whenEarlierAnswered(socket, callback);
  }

  /** Closes a few connections to free their descriptors. */
  shed(): void {
    for (let count = 0; count < SHED; count += 1) {
      const victim = this.#groups.victimFor(this.#groups.get(''));
      if (!victim) return;
      this.#close(victim as Connection);
      this.counts.evicted += 1;
    }
  }

  #admit(raw: Socket, isSecure: boolean): void {
    const group = this.#groups.get(clientGroupOf(raw.remoteAddress));
    if (!this.#makeSlotFor(group)) {
      this.counts.refused += 1;
      // The other listeners of this event expect an open socket.
      process.nextTick(() => raw.destroy());
      return;
    }
    const connection: Connection = {
      raw,
      address: addressOf(raw),
      group,
      busy: false,
      socket: isSecure ? undefined : raw,
      unanswered: [],
      whenAnswered: undefined,
      sent: -1,
      queued: undefined,
      progressAtMs: 0,
    };
    this.#all.set(raw, connection);
    this.#bySocket.set(raw, connection);
    this.#groups.add(connection);
    this.counts.open += 1;
    if (isSecure) this.#handshaking.set(connection.address, connection);
    raw.once('close', () => {
      this.#remove(connection);
      setImmediate(closeQueued, connection);
    });
  }

  #makeSlotFor(group: ClientGroup): boolean {
    const ownFull = group.size >= this.#caps.perAddress;
    if (!ownFull && this.#all.size < this.#caps.total) return true;
    const [longestSilent] = group.silent;
    const victim = ownFull ? longestSilent : this.#groups.victimFor(group);
    if (!victim) return false;
    this.#close(victim as Connection);
    this.counts.evicted += 1;
    return true;
  }

  #close(connection: Connection): void {
    // Immediately: 'close' is emitted later, and the next newcomer must not select it again.
    this.#remove(connection);
    (connection.socket ?? connection.raw).destroy();
  }

  #remove(connection: Connection): void {
    if (!this.#all.delete(connection.raw)) return;
    this.#groups.delete(connection);
    this.counts.open -= 1;
    const { address } = connection;
    if (this.#handshaking.get(address) === connection) this.#handshaking.delete(address);
  }

  #secured(socket: Socket): void {
    const address = addressOf(socket);
    const connection = this.#handshaking.get(address);
    if (!connection) return;
    this.#handshaking.delete(address);
    connection.socket = socket;
    this.#bySocket.set(socket, connection);
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    connection.unanswered.push(response);
    if (!connection.busy && this.#all.has(connection.raw)) this.#groups.setBusy(connection, true);
    response.once('close', () => this.#end(connection, response));
  }

  #end(connection: Connection, response: ServerResponse): void {
    connection.unanswered.splice(connection.unanswered.indexOf(response), 1);
    if (connection.unanswered.length === 0 && connection.busy && this.#all.has(connection.raw)) {
      this.#groups.setBusy(connection, false);
    }
    const { whenAnswered } = connection;
    connection.whenAnswered = undefined;
    whenAnswered?.();
  }

  /** Closes connections whose client has read nothing for `stallMs`. */
  async #sweep(): Promise<void> {
    if (this.#sweeping) return;
    this.#sweeping = true;
    try {
      const stuck = [...this.#all.values()].filter((connection) => isStuck(connection, performance.now()));
      if (stuck.length === 0) return;
      const queues = await readSendQueues();
      const now = performance.now();
      for (const connection of stuck) {
        const queued = queues.get(connectionKey(connection.raw) ?? '');
        if (queued !== connection.queued) {
          connection.queued = queued;
          connection.progressAtMs = now;
        } else if (now - connection.progressAtMs > this.#stallMs && this.#all.has(connection.raw)) {
          this.#close(connection);
          this.counts.stalled += 1;
        }
      }
    } finally {
      this.#sweeping = false;
    }
  }
}

/**
 * Emits 'close' on queued responses of a closed connection. Node emits it only for the one being sent, and after a
 * CONNECT not even for their requests: files that they were to send would stay open.
 */
function closeQueued({ unanswered }: Connection): void {
  for (const response of [...unanswered]) {
    response.req.destroy();
    response.emit('close');
  }
}

/** Whether, as far as Node can see, nothing was sent since the last sweep although data is waiting. */
function isStuck(connection: Connection, nowMs: number): boolean {
  const { socket, sent } = connection;
  if (!socket || socket.writableLength === 0) {
    connection.sent = -1;
    return false;
  }
  const sentNow = socket.bytesWritten - socket.writableLength;
  if (sentNow === sent) return true;
  connection.sent = sentNow;
  connection.queued = undefined;
  connection.progressAtMs = nowMs;
  return false;
}

/** Unique among the open connections of a listener. */
function addressOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
