import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { Logger } from '../support/log.ts';
import type { Certificate } from './certificate.ts';
import { answerClientErrors } from './client-errors.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';

/** Node's timeouts against slow clients. */
export interface TimeLimits {
  headersTimeout: number;
  requestTimeout: number;
  connectionsCheckingInterval: number;
  handshakeTimeout: number;
}

const LIMITS: TimeLimits = {
  headersTimeout: 15_000,
  // The largest file at 1 Mbit/s; other requests have less time.
  requestTimeout: 15 * 60_000,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 15_000,
};

/** In which a request arrives that was not given more time. */
const ARRIVES_WITHIN_MS = 60_000;

/** Minimum time between log lines about failed accepts. */
const LOG_AGAIN_MS = 60_000;

/** hapi's options for a listener: HTTP, or HTTPS that can change its certificate without closing connections. */
export type Listening = { listener: HttpServer } | { listener: HttpsServer; tls: true };

export function createListener(
  certificate?: Pick<Certificate, 'options' | 'onChange'>,
  limits: TimeLimits = LIMITS,
): Listening {
  // `answerClientErrors` rejects requests without a Host header, with a body.
  const options = { ...limits, requireHostHeader: false };
  if (!certificate) return { listener: createServer(options) };
  const listener = createSecureServer({ ...options, ...certificate.options });
  certificate.onChange = () => listener.setSecureContext(certificate.options);
  return { listener, tls: true };
}

/**
 * Protects a public listener: caps and watches connections, answers invalid HTTP without hapi, and survives a lack of
 * descriptors. Call it after hapi has received the listener.
 */
export function guardListener(
  listener: HttpServer | HttpsServer,
  {
    logger,
    arrivesWithinMs = ARRIVES_WITHIN_MS,
    ...options
  }: ConnectionsOptions & { logger: Logger; arrivesWithinMs?: number },
): Connections {
  const connections = new Connections(options);
  answerClientErrors(listener, connections, logger, arrivesWithinMs);
  connections.watch(listener);
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  listener.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'accept') return; // Other errors make the start of the service fail.
    connections.shed();
    if (performance.now() - loggedAtMs < LOG_AGAIN_MS) return;
    loggedAtMs = performance.now();
    logger.error({ err: error, connections: connections.counts.open }, 'A connection could not be accepted.');
  });
  return connections;
}
