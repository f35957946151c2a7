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
