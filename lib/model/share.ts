import { isoTime } from '../time/clock.ts';
import { endOfLink } from './link.ts';

/** Who may watch. `private`: only the owner; `link`: who has the link; `public`: anybody, and search engines may list it. */
export const SHARE_VISIBILITIES: readonly ['private', 'link', 'public'] = Object.freeze([
  'private',
  'link',
  'public',
]);

/** Who may watch a share. */
export type ShareVisibility = (typeof SHARE_VISIBILITIES)[number];

/** The picture before a video plays: the one at a time, or the end of a play, counted from 0. */
export type SharePoster = { seconds: number } | { play: number };

/** Whether the link works, and why not. */
export type ShareState = 'open' | 'private' | 'expired' | 'revoked';

/** A link under which others watch a video, or several in an order. */
export interface Share {
  shareId: string;
  /** Whose it is: as the owner of its jobs. */
  owner: string;
  /** The secret part of the link. */
  token: string;
  /** Its videos, in their order. */
  jobIds: string[];
  /** Null: that of the job. */
  title: string | null;
  description: string | null;
  visibility: ShareVisibility;
  /** Null: the thumbnail. */
  poster: SharePoster | null;
  /** Whether the watch page offers files to keep. */
  allowDownload: boolean;
  state: ShareState;
  /** How often the page of the link was opened, at most some seconds ago. */
  views: number;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC; null: never. */
  expiresAt: string | null;
  /** ISO 8601, UTC; null: not revoked. */
  revokedAt: string | null;
}

/** A stored share. */
export interface ShareRecord {
  shareId: string;
  owner: string;
  /** SHA-256 of the token, in hexadecimal: links are found by it. */
  tokenHash: string;
  visibility: ShareVisibility;
  /** 1 or 0. */
  allowDownload: number;
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
  /** Encrypted, so that the owner can copy the link again. */
  token: string;
  title: string | null;
  description: string | null;
  poster: SharePoster | null;
  jobIds: string[];
  views: number;
}

/** A share as its owner sees it at a time (epoch milliseconds). */
export function shareOf(record: ShareRecord, nowMs: number): Share {
  const { tokenHash: _, allowDownload, createdAtMs, expiresAtMs, revokedAtMs, ...rest } = record;
  return {
    ...rest,
    allowDownload: allowDownload === 1,
    state: stateOf(record, nowMs),
    createdAt: isoTime(createdAtMs),
    expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs),
    revokedAt: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}

function stateOf(record: ShareRecord, nowMs: number): ShareState {
  return endOfLink(record, nowMs) ?? (record.visibility === 'private' ? 'private' : 'open');
}
