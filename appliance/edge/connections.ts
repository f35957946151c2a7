import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { type Server as HttpsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { clientGroupOf } from './client-group.ts';
import { type ClientGroup, ClientGroups, type Member } from './client-groups.ts';
import type { ConnectionCaps } from './connection-caps.ts';
import { connectionKey, readSendQueues } from './send-queues.ts';

/**
 * A client that reads nothing of its answer for this long is gone or means harm. Longer than slow readers need: the
 * kernel tells the server of what a client has read in large steps.
 */
const STALL_MS = 120_000;
const SWEEP_MS = 5_000;
/** Connections closed when the process has run out of descriptors all the same. */
const SHED = 16;

/** An open connection. */
interface Connection extends Member {
  /** Of both ends; kept, because a closed socket has none. */
  readonly address: string;
  /** What HTTP is spoken on: the connection itself, or the TLS on it once that stands. */
  socket: Socket | undefined;
  /** The answers to requests that have come, which are not all sent; the newest last. */
  unanswered: ServerResponse[];
  /** Called when it has none of them left. */
  whenAnswered: (() => void) | undefined;
  /** What had been sent when that last changed, and when that was; only while something waits to be sent. */
  sent: number;
  queued: number | undefined;
  progressAtMs: number;
}

export interface ConnectionsOptions {
  caps: ConnectionCaps;
  /** How long a client may read nothing of its answer; default 2 minutes. */
  stallMs?: number;
  /** How often that is looked at; default 5 seconds. */
  sweepMs?: number;
}

/** Counts of connections, for the log and the metrics. */
export interface ConnectionCounts {
  open: number;
  /** Closed to make room for others, refused for want of room, and closed because the client did not read. */
  evicted: number;
  refused: number;
  stalled: number;
}

/**
 * The open connections of a listener, from the first packet on: there are never more than the caps allow, and one whose
 * client has stopped reading is closed.
 *
 * - silent → busy: a request has come.
 * - busy → silent: all requests that came are answered.
 * - any → closed: by the client, by Node's time limits, by {@link ClientGroups.victimFor} when a newcomer needs the
 *   place, or by the sweep.
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
  /** Those on which TLS does not stand yet, by the address of the client. */
  readonly #handshaking = new Map<string, Connection>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping = false;
  readonly counts: ConnectionCounts = { open: 0, evicted: 0, refused: 0, stalled: 0 };

  constructor(options: ConnectionsOptions) {
    this.#caps = options.caps;
    this.#stallMs = options.stallMs ?? STALL_MS;
    this.#sweepMs = options.sweepMs ?? SWEEP_MS;
  }

  /** Watches a listener, for as long as it listens. */
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

  /** Whether HTTP can be spoken on a socket: false before TLS stands, and after the end. */
  isOpen(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.socket === socket && !socket.destroyed;
  }

  /** The answer to the newest request on a socket that is not yet sent; undefined when all are. */
  unansweredOn(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.unanswered.at(-1);
  }

  /**
   * Calls back once the requests before the one whose body is still coming are answered; all of them, when no body is.
   */
  whenOnlyBodiesWait(socket: Socket, callback: () => void): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    const response = connection.unanswered.at(-1);
    const waiting = response && !response.req.complete && !response.headersSent ? 1 : 0;
    if (connection.unanswered.length <= waiting) callback();
    else connection.whenAnswered = () => this.whenOnlyBodiesWait(socket, callback);
  }

  /** Closes a few silent connections, for their descriptors. */
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
    if (!this.#makeRoomFor(group)) {
      this.counts.refused += 1;
      // The other listeners expect it open for as long as this event lasts.
      process.nextTick(() => raw.destroy());
      return;
    }
    const connection: Connection = {
      raw,
      address: addressOf(raw),
      group,
      busy: false,
      previous: undefined,
      next: undefined,
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

  #makeRoomFor(group: ClientGroup): boolean {
    const ownFull = group.size >= this.#caps.perAddress;
    if (!ownFull && this.#all.size < this.#caps.total) return true;
    const victim = ownFull ? group.silent.first : this.#groups.victimFor(group);
    if (!victim) return false;
    this.#close(victim as Connection);
    this.counts.evicted += 1;
    return true;
  }

  #close(connection: Connection): void {
    // At once: the event comes later, and the next newcomer must not find it again.
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

  /** Closes connections whose client has read nothing for too long. */
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
 * Tells the answers that waited behind another one that the connection is closed. Node tells only the one that was
 * being sent, and after a CONNECT not even their requests: files that they were to send would stay open.
 */
function closeQueued({ unanswered }: Connection): void {
  for (const response of [...unanswered]) {
    response.req.destroy();
    response.emit('close');
  }
}

/** Whether bytes wait that waited at the last sweep too, as far as Node can see. */
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
