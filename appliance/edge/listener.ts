import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { Certificate } from '../certificate.ts';
import type { Logger } from '../support/log.ts';
import { answerClientErrors } from './client-errors.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';

/** Node's limits against clients that open a connection and take their time. */
export interface TimeLimits {
  headersTimeout: number;
  requestTimeout: number;
  connectionsCheckingInterval: number;
  handshakeTimeout: number;
}

const LIMITS: TimeLimits = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 15_000,
};

/** A full table of files is said once in this time. */
const SAY_AGAIN_MS = 60_000;

/** hapi's options for a listener: http, or https that takes up a new certificate without closing anything. */
export type Listening = { listener: HttpServer } | { listener: HttpsServer; tls: true };

export function createListener(
  certificate?: Pick<Certificate, 'options' | 'onChange'>,
  limits: TimeLimits = LIMITS,
): Listening {
  // Requests without a Host header are refused by `answerClientErrors`, with a body.
  const options = { ...limits, requireHostHeader: false };
  if (!certificate) return { listener: createServer(options) };
  const listener = createSecureServer({ ...options, ...certificate.options });
  certificate.onChange = () => listener.setSecureContext(certificate.options);
  return { listener, tls: true };
}

/**
 * Makes a listener safe to leave open to everyone: connections are capped and watched, what is no HTTP is answered
 * without hapi, and a lack of descriptors does not end the process. After hapi has been given the listener.
 */
export function guardListener(
  listener: HttpServer | HttpsServer,
  { logger, ...options }: ConnectionsOptions & { logger: Logger },
): Connections {
  const connections = new Connections(options);
  answerClientErrors(listener, connections, logger);
  connections.watch(listener);
  let saidAtMs = Number.NEGATIVE_INFINITY;
  listener.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'accept') return; // The start of the service fails with the others.
    connections.shed();
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return;
    saidAtMs = performance.now();
    logger.error({ err: error, connections: connections.counts.open }, 'A connection could not be accepted.');
  });
  return connections;
}
