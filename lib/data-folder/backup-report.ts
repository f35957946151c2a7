import type { SealedSecrets } from '../keys/sealed-secrets.ts';

/** The contents of a backup, or of restored data. */
export interface BackupReport {
  /** Where the copy is. */
  folder: string;
  /** Number of jobs. */
  jobs: number;
  /** Deliveries that a service will send when it starts on this data. */
  dueDeliveries: number;
  /** Number of files. */
  files: number;
  /** Of all files, in bytes. */
  sizeBytes: number;
  /** Webhook secrets that cannot be decrypted without the master key. */
  sealedSecrets: SealedSecrets;
}

/** The location of a restored folder's master key; `none`: nothing is sealed, and the first start creates a key. */
export type RestoredMasterKey = 'in the folder' | 'given' | 'missing' | 'none';

/** Options of `restore`. */
export interface RestoreOptions {
  /** Marks due webhook deliveries as failed instead of sending them after the next start. */
  dropDeliveries?: boolean;
  /** The master key (hexadecimal), for a backup without it; must decrypt all sealed secrets. */
  masterKey?: string | undefined;
  /** Stores that key in the folder as `master.key`; otherwise it must be given at each start. */
  storeMasterKey?: boolean;
  /** Aborts it between two files; nothing is restored then. */
  signal?: AbortSignal;
}
