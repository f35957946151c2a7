import { readFileSync } from 'node:fs';

/** How many connections may be open at a time. */
export interface ConnectionCaps {
  total: number;
  perAddress: number;
}

/** Descriptors left to everything but connections and their files: database, renderers, webhooks, the log. */
const RESERVED_DESCRIPTORS = 512;
/** A connection that downloads has its socket and an artifact. */
const DESCRIPTORS_PER_CONNECTION = 2;
/** More clients at a time than a machine that renders can serve; each costs memory. */
const MOST_BY_DEFAULT = 10_000;
const LEAST = 8;

/**
 * The caps that apply: what is configured, else as many as the limit of open files has room for, and half of those
 * for one address. A trusted proxy connects for everyone, so no part of the total is kept from its address.
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

/** Connections that a limit of open files has room for, each with an open artifact. */
export function mostConnections(descriptorLimit: number): number {
  const reserved = Math.min(RESERVED_DESCRIPTORS, descriptorLimit / 2);
  return Math.max(LEAST, Math.floor((descriptorLimit - reserved) / DESCRIPTORS_PER_CONNECTION));
}

/** How many files this process may have open. Node raises its soft limit to the hard one when it starts. */
export function descriptorLimit(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}
