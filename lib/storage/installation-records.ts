/** What stored data records of the installation to which it belongs. */
export interface InstallationRecord {
  /** Random; the same as long as the installation lives, wherever its data is moved. */
  installationId: string;
  /** Where the data was recorded to be, as in {@link InstallationRecords.here}. */
  place: string;
  /** Grows every hour, here and in the asset store: it shows that the data is older than what the store has seen. */
  stamp: number;
}

/** The record of the installation that its data belongs to. Part of a storage that recognizes a copy of itself. */
export interface InstallationRecords {
  /** Where the data is: the same after a restart, a new name and a fail-over; of a copy, another one. */
  here(): Promise<string>;
  /** Undefined before the installation has claimed an asset store. */
  read(): Promise<InstallationRecord | undefined>;
  /** Replaces the record. Concurrent changes are made one after the other. Resolves with the new one. */
  change(change: (before: InstallationRecord | undefined) => InstallationRecord): Promise<InstallationRecord>;
}
