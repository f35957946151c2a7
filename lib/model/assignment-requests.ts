import type { SceneSettings } from './scene.ts';

/** What an assignment gives: the current draft of a scene, or code. */
export interface AssignmentSettings {
  /** A scene of the owner; then without `className`, `code` and `settings`. */
  sceneId?: string;
  /** At most 200 characters in one line. Default: the name of the scene. */
  title?: string;
  /** Plain text, at most 10,000 characters. */
  instructions?: string | null;
  /** Default: none chosen. */
  className?: string;
  /** Default: empty. */
  code?: string;
  /** Without `files`: who opens the link has other ones. */
  settings?: SceneSettings;
  /** A class link of the owner, under which people without an account join. Default: none. */
  classLinkId?: string | null;
  /** When the link stops working: ISO 8601, with a time zone. Default: never. */
  expiresAt?: string | null;
}

/** A new assignment. */
export interface NewAssignment extends AssignmentSettings {
  /** Who gives it. */
  owner: string;
}

/** Restricts a call to one owner's assignments; others are reported as `not_found`. */
export interface AssignmentScope {
  owner?: string;
}

/** Which assignments to list. */
export interface AssignmentQuery extends AssignmentScope {
  /** Only those before this one: the last of the page before. */
  before?: string;
  /** Default 100. */
  limit?: number;
}
