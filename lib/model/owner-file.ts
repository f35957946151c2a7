import type { FileKind } from './file-kinds.ts';

/** A file of an owner, which the owner's scenes may read. Its content never changes: another one is another file. */
export interface OwnerFile {
  /** Can't be guessed. */
  fileId: string;
  /** Whose it is: as the owner of jobs. */
  owner: string;
  /** The path under which scenes find it, such as `logo.png` or `voices/intro.mp3`; no two files of an owner have the same. */
  name: string;
  /** By the end of its name; its content is of that kind. */
  kind: FileKind;
  /** Bytes. */
  sizeBytes: number;
  /** SHA-256 of the content, in hexadecimal. */
  sha256: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

/**
 * A stored file. `storing`: its content is about to be stored; `stored`; `removed`: it is in no list, but a job may still
 * use it; `discarding`: its content is being removed.
 */
export interface FileRecord {
  fileId: string;
  owner: string;
  name: string;
  phase: 'storing' | 'stored' | 'removed' | 'discarding';
  kind: FileKind;
  sizeBytes: number;
  sha256: string;
  /** Names its content in the asset store. Files of one owner with the same content share it. */
  contentId: string;
  createdAtMs: number;
  /** While it is stored: when its process counts as dead. Of one that was removed: when it is tried to discard it. */
  dueAtMs: number | null;
}

/** Files by the names under which a scene finds them. */
export interface FileSet {
  /** Equal for equal sets of an owner. */
  setId: string;
  owner: string;
  /** In the order of their names. */
  entries: { name: string; fileId: string }[];
}

/** What files of an owner take, those included that were removed but are used by jobs. */
export interface FileUsage {
  files: number;
  /** Equal contents count once. */
  bytes: number;
}

/** The key of a content in the asset store. */
export function contentKeyOf({ contentId }: Pick<FileRecord, 'contentId'>): string {
  return `${contentId}/content.bin`;
}
