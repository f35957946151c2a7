/** Maximum numbers of open connections. */
export interface ConnectionCaps {
  total: number;
  perAddress: number;
}

/** Descriptors reserved for other uses than client connections: database, renderers, webhooks, log. */
const RESERVED_DESCRIPTORS = 512;
/** A downloading connection uses a socket and a file. */
const DESCRIPTORS_PER_CONNECTION = 2;
/** More than a rendering machine can serve; each connection costs memory. */
const MOST_BY_DEFAULT = 10_000;
const LEAST = 8;

/**
 * The effective caps: the configured ones, else as many as the limit of open files permits, and half of them per
 * address. A trusted proxy connects for all clients, so its address may use the total.
 */
export function connectionCapsOf(
  config: {
    maxConnections?: number | undefined;
    maxConnectionsPerAddress?: number | undefined;
    trustProxy: boolean;
  },
  descriptorLimit: number,
): ConnectionCaps {
  const possible = mostConnections(descriptorLimit);
  const total = Math.min(config.maxConnections ?? MOST_BY_DEFAULT, possible);
  const share = config.trustProxy ? total : Math.ceil(total / 2);
  return { total, perAddress: Math.min(config.maxConnectionsPerAddress ?? share, total) };
}

/** The number of connections, each with an open artifact, that a limit of open files permits. */
export function mostConnections(descriptorLimit: number): number {
  const reserved = Math.min(RESERVED_DESCRIPTORS, descriptorLimit / 2);
  return Math.max(LEAST, Math.floor((descriptorLimit - reserved) / DESCRIPTORS_PER_CONNECTION));
}
