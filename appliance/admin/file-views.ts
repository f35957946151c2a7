import type { OwnerFile } from '../../lib/internal.ts';

/** A file of an account as administration shows it. */
export interface FileInfo extends Omit<OwnerFile, 'owner'> {
  /** The e-mail address of its account. */
  account: string;
}

/** A page of a list of files. */
export interface FilePage {
  files: FileInfo[];
  /** Continues as `after` of the next page; null at the end. */
  next: string | null;
}

/** What the files of an account take, and may take; null: no limit. */
export interface FileUse {
  files: number;
  /** Equal contents count once; those that jobs still use count, too. */
  bytes: number;
  mostFiles: number | null;
  mostBytes: number | null;
}

/** A file that a job uses. */
export interface JobFile {
  name: string;
  fileId: string;
  /** Whether its account still has it. */
  isKept: boolean;
}

/** The files that a job uses, and why there are none if its account had too many. */
export interface JobFiles {
  files: JobFile[];
  note: string | null;
}
