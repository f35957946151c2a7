import { isoTime } from '../time/clock.ts';
import { endOfLink } from './link.ts';
import type { SceneSettings } from './scene.ts';

/** Whether the link works, and why not. */
export type AssignmentState = 'open' | 'expired' | 'revoked';

/** A link under which others get code as a scene of their own. */
export interface Assignment {
  assignmentId: string;
  /** Who gives it. */
  owner: string;
  /** The secret part of the link. */
  token: string;
  /** The name of each copy. */
  title: string;
  /** Plain text. */
  instructions: string | null;
  /** The scene class to render; empty while none is chosen. */
  className: string;
  code: string;
  /** How copies are rendered at first. */
  settings: SceneSettings;
  /** The class link under which people without an account join; null: none. */
  classLinkId: string | null;
  state: AssignmentState;
  /** Owners who have a copy. */
  copies: number;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC; null: never. */
  expiresAt: string | null;
  /** ISO 8601, UTC; null: not revoked. */
  revokedAt: string | null;
}

/** A stored assignment. */
export interface AssignmentRecord {
  assignmentId: string;
  owner: string;
  /** SHA-256 of the token, in hexadecimal: links are found by it. */
  tokenHash: string;
  /** It may have been removed. */
  classLinkId: string | null;
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
  /** Encrypted, so that the owner can copy the link again. */
  token: string;
  title: string;
  instructions: string | null;
  className: string;
  code: string;
  settings: SceneSettings;
}

/** The scene that an owner got from an assignment. */
export interface AssignmentCopy {
  assignmentId: string;
  /** Who opened the link. */
  owner: string;
  sceneId: string;
  openedAtMs: number;
}

/** An assignment as its owner sees it at a time (epoch milliseconds). */
export function assignmentOf(
  record: AssignmentRecord,
  { copies, nowMs }: { copies: number; nowMs: number },
): Assignment {
  const { tokenHash: _, createdAtMs, expiresAtMs, revokedAtMs, ...rest } = record;
  return {
    ...rest,
    copies,
    state: endOfLink(record, nowMs) ?? 'open',
    createdAt: isoTime(createdAtMs),
    expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs),
    revokedAt: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}
