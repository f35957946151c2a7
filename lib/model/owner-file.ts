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

/** The content of a file: whole, or in pieces. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** A file of a request: the id of one that its owner keeps, or a content, which only the job of the request has. */
export type GivenFile = string | { content: FileContent };

/**
 * The files of a request, by the names under which scenes find them. Of an iterable, each is received before the next one is
 * asked for.
 */
export type GivenFiles =
  | Readonly<Record<string, GivenFile>>
  | AsyncIterable<readonly [name: string, file: GivenFile]>;

/**
 * A stored file. `storing`: its content is about to be stored; `stored`; `sent`: it came with a request whose job is being
 * added; `removed`: it is in no list, but a job may use it; `discarding`: its content is being removed.
 */
export interface FileRecord {
  fileId: string;
  owner: string;
  name: string;
  phase: 'storing' | 'stored' | 'sent' | 'removed' | 'discarding';
  kind: FileKind;
  sizeBytes: number;
  sha256: string;
  /** Names its content in the asset store. Files of one owner with the same content share it. */
  contentId: string;
  createdAtMs: number;
  /** Until it is stored, or a job has it: when its process counts as dead. Of one that was removed: when it is tried to discard it. */
  dueAtMs: number | null;
}

/** Files by the names under which a scene finds them; without entries, the owner had more than a job comes with. */
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
