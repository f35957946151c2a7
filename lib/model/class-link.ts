import { isoTime } from '../time/clock.ts';
import { endOfLink } from './link.ts';

/** Its page lists them all. */
export const MOST_SEATS = 500;
export const MOST_CREDITS_OF_SEAT = 1_000_000;

/** Whether people can join, and why not. */
export type ClassLinkState = 'open' | 'full' | 'expired' | 'revoked';

/** A link under which people make accounts of their own. */
export interface ClassLink {
  classLinkId: string;
  /** The account that it is for, such as a teacher's. */
  owner: string;
  /** The secret part of the link. */
  token: string;
  /** The class, for people. */
  name: string;
  /** How many accounts can join. */
  seats: number;
  /** How many have. */
  taken: number;
  /** What each account gets. */
  creditsPerSeat: number;
  state: ClassLinkState;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC; null: never. */
  expiresAt: string | null;
  /** ISO 8601, UTC; null: not revoked. */
  revokedAt: string | null;
}

/** An account that has joined. */
export interface ClassSeat {
  accountId: string;
  /** ISO 8601, UTC. */
  joinedAt: string;
}

/** A stored class link. */
export interface ClassLinkRecord {
  classLinkId: string;
  owner: string;
  /** SHA-256 of the token, in hexadecimal: links are found by it. */
  tokenHash: string;
  seats: number;
  creditsPerSeat: number;
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
  /** Encrypted, so that the link can be copied again. */
  token: string;
  name: string;
}

/** A stored seat. */
export interface ClassSeatRecord {
  classLinkId: string;
  accountId: string;
  /** When it was taken, before the account was made. */
  takenAtMs: number;
  /** When the account had been made and had its credits; null before. */
  joinedAtMs: number | null;
}

/** A class link at a time (epoch milliseconds). */
export function classLinkOf(
  record: ClassLinkRecord,
  { taken, nowMs }: { taken: number; nowMs: number },
): ClassLink {
  const { tokenHash: _, createdAtMs, expiresAtMs, revokedAtMs, ...rest } = record;
  return {
    ...rest,
    taken,
    state: endOfLink(record, nowMs) ?? (taken >= record.seats ? 'full' : 'open'),
    createdAt: isoTime(createdAtMs),
    expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs),
    revokedAt: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}
