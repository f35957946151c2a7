import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import * as tls from 'node:tls';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { abortable } from '../async/abortable.ts';
import { certificateAuthorities } from '../base/certificate-authorities.ts';
import type { FailureReason } from '../storage/delivery.ts';
import type { Clock } from '../time/clock.ts';
import { AddressRules, assertNetworks } from './address-rules.ts';
import { CountedSocket } from './counted-socket.ts';
import { ANSWER_BYTES, ExchangeFailure, type ExchangeState, exchange } from './http-exchange.ts';
import { type Resolve, resolveName } from './resolver.ts';

/** Time-out of the whole exchange, from the name lookup to the last byte of the response (contract §6.4). */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/**
 * Limit on bytes until the response headers are complete: TLS handshake and certificates, interim responses, headers.
 */
const MOST_BYTES_BEFORE_ANSWER = 128 * 1024;
/** Limit after that: the body with TLS and chunk overhead, trailers. */
const MOST_BYTES_OF_ANSWER = 128 * 1024;
const LONGEST_DETAIL = 200;
/** When a name has several addresses, the next one is tried after this. */
const NEXT_ADDRESS_MS = 2_500;

export interface OutboundOptions {
  /** CIDR blocks of private networks that are allowed, such as `10.1.0.0/16`. Default: none. */
  allowNetworks?: readonly string[];
  /** Additional trusted certificate authorities (PEM). */
  ca?: string | readonly string[];
  /** Resolves host names; default: the hosts file, then DNS. */
  resolve?: Resolve;
  /** For tests. Default {@link EXCHANGE_TIMEOUT_MS}. */
  timeoutMs?: number;
}

/** A POST request. */
export interface OutboundRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Sends requests: {@link Outbound}, or a thread that uses it. */
export interface Sends {
  /** Never rejects; `signal` aborts the exchange. */
  post(request: OutboundRequest, signal: AbortSignal): Promise<ExchangeResult>;
}

/** The result of an exchange. It succeeded when the status is 2xx and `reason` is null. */
export interface ExchangeResult {
  /** The HTTP code, whenever a status line arrived; else 0. */
  status: number;
  /** Why the exchange failed; null when it completed. */
  reason: FailureReason | null;
  /** A description for the operator: it may reveal details of the internal network. */
  detail: string | null;
  /** The first {@link ANSWER_BYTES} of the response body; null when no status line arrived. */
  answer: string | null;
  /** False when the receiver cannot have seen any of the request. */
  sent: boolean;
}

/**
 * Sends an HTTP request to a client-supplied URL, protected against server-side request forgery: `https:` only; the
 * name is resolved once, all its addresses must be allowed, and one of these is connected to; certificates are
 * checked against the name; redirects are not followed; proxy settings of the environment are ignored.
 */
export class Outbound implements Sends {
  readonly #rules: AddressRules;
  readonly #secureContext: SecureContext;
  readonly #resolve: Resolve;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor(
    { allowNetworks = [], ca, resolve = resolveName, timeoutMs = EXCHANGE_TIMEOUT_MS }: OutboundOptions,
    clock: Clock,
  ) {
    this.#rules = new AddressRules(allowNetworks);
    // Created once: loading some 150 certificates per connection would dominate the cost.
    this.#secureContext = createSecureContext({
      ca: [...tls.getCACertificates('default'), ...certificateAuthorities(ca, 'webhooks')],
      // A renegotiation costs the client side much more than the server.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    this.#resolve = resolve;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** POSTs `body`. Never rejects; `signal` aborts the exchange. The response is bounded in time and in bytes. */
  async post({ url, headers, body }: OutboundRequest, signal: AbortSignal): Promise<ExchangeResult> {
    const controller = new AbortController();
    const timer = this.#clock.after(this.#timeoutMs, () => controller.abort('timeout'));
    const stop = () => controller.abort('stopped');
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const state: ExchangeState = { status: 0, answer: [], sent: false, sockets: [] };
    try {
      const { hostname, port, target, host } = partsOf(url);
      const addresses = await this.#addressesOf(hostname, controller.signal);
      const tcp = await dial(addresses, port, state, { clock: this.#clock, signal: controller.signal });
      let exceeded = () => controller.abort('too_large');
      const counted = new CountedSocket(tcp, {
        mostBytes: MOST_BYTES_BEFORE_ANSWER,
        onExceeded: () => exceeded(),
      });
      state.sockets.push(counted);
      const tls = await this.#secure(counted, hostname, state, controller.signal);
      await exchange(tls, { target, headers: { host, ...headers }, body }, state, {
        signal: controller.signal,
        onHead: (isEnough) => {
          counted.mostBytes = counted.receivedBytes + MOST_BYTES_OF_ANSWER;
          exceeded = isEnough;
        },
      });
      return result(state, null, null);
    } catch (error) {
      if (controller.signal.reason === 'timeout') {
        return result(state, 'timeout', `not finished within ${this.#timeoutMs / 1000} s`);
      }
      if (controller.signal.reason === 'too_large') {
        const most = `${MOST_BYTES_BEFORE_ANSWER / 1024} KiB`;
        return result(state, 'too_large', `more than ${most} before the response headers were complete`);
      }
      if (controller.signal.reason === 'stopped') return result(state, 'stopped', 'the service was stopped');
      const failure =
        error instanceof ExchangeFailure
          ? error
          : new ExchangeFailure(reasonOf(error), wordsOf(error as Error));
      return result(state, failure.reason, failure.message);
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      for (const socket of state.sockets) socket.destroy();
    }
  }

  /** Resolves a host. Rejects when any of its addresses is not allowed, which suggests an attack. */
  async #addressesOf(hostname: string, signal: AbortSignal): Promise<string[]> {
    const addresses = isIP(hostname)
      ? [hostname]
      : await abortable(this.#resolve(hostname, signal), signal).catch((error: NodeJS.ErrnoException) => {
          throw new ExchangeFailure('dns', `${hostname} can't be looked up (${error.code ?? error.message})`);
        });
    for (const address of addresses) {
      const kind = this.#rules.objection(address);
      if (kind) throw new ExchangeFailure('blocked', `${address} (${kind}) is not in an allowed network`);
    }
    // IPv4 first, because hosts without IPv6 are more common than hosts without IPv4.
    return addresses.toSorted((a, b) => isIP(a) - isIP(b));
  }

  async #secure(
    socket: CountedSocket,
    hostname: string,
    state: ExchangeState,
    signal: AbortSignal,
  ): Promise<TLSSocket> {
    const tls = connectTls({
      socket,
      // The certificate must match the name, not the address.
      host: hostname,
      ...(isIP(hostname) === 0 && { servername: hostname }),
      secureContext: this.#secureContext,
      ALPNProtocols: ['http/1.1'],
      // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would disable it.
      rejectUnauthorized: true,
    });
    state.sockets.push(tls);
    await happened(tls, 'secureConnect', signal).catch((error: NodeJS.ErrnoException) => {
      throw new ExchangeFailure(error.code === 'ECONNRESET' ? 'reset' : 'tls', wordsOf(error));
    });
    return tls;
  }
}

function result(
  { status, answer, sent }: ExchangeState,
  reason: FailureReason | null,
  detail: string | null,
): ExchangeResult {
  return {
    status,
    reason,
    detail: detail?.slice(0, LONGEST_DETAIL) ?? null,
    answer: status === 0 ? null : Buffer.concat(answer).subarray(0, ANSWER_BYTES).toString(),
    sent,
  };
}

function partsOf(text: string): { hostname: string; port: number; host: string; target: string } {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username || url.password) {
    throw new ExchangeFailure('blocked', 'only https:// URLs without credentials are called');
  }
  const hostname = url.hostname.replace(/[[\]]/g, '');
  return { hostname, port: Number(url.port || 443), host: url.host, target: `${url.pathname}${url.search}` };
}

/** Connects to the first address that responds. */
async function dial(
  addresses: string[],
  port: number,
  state: ExchangeState,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Socket> {
  for (const [i, host] of addresses.entries()) {
    const isLast = i === addresses.length - 1;
    const tooLate = new AbortController();
    const timer = isLast ? undefined : clock.after(NEXT_ADDRESS_MS, () => tooLate.abort());
    const patience = AbortSignal.any([signal, tooLate.signal]);
    const socket = connectTcp({ host, port, noDelay: true });
    state.sockets.push(socket);
    try {
      await happened(socket, 'connect', patience);
      return socket;
    } catch (error) {
      if (isLast || signal.aborted)
        throw new ExchangeFailure(reasonOf(error), `${host}: ${(error as Error).message}`);
    } finally {
      timer?.cancel();
    }
  }
  throw new ExchangeFailure('dns', 'the name has no address');
}

/** Resolves on an event of a socket; rejects when the socket fails, also by closing too early, or on abort. */
async function happened(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve).once('error', reject);
  try {
    await abortable(promise, signal);
  } finally {
    socket.off(event, resolve);
    // Later errors are handled by the socket's user; without a listener they would crash the process.
    socket.on('error', () => {});
  }
}

const REASONS: Record<string, FailureReason | undefined> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
};

/** OpenSSL's messages start with source locations; its reasons do not. */
function wordsOf(error: Error & { reason?: string }): string {
  return error.reason ?? error.message;
}

function reasonOf(error: unknown): FailureReason {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/^ERR_(SSL|TLS)/.test(code)) return 'tls';
  return REASONS[code] ?? 'unreachable';
}

/** Error: `invalid_request` for invalid options. */
export function assertOutboundOptions({ allowNetworks = [], ca }: OutboundOptions): void {
  assertNetworks(allowNetworks);
  certificateAuthorities(ca, 'webhooks');
}
