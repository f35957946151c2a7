/** A file of a snapshot. */
export interface SnapshotFile {
  /** Such as `sheet.jpg`, `picture-3.jpg` or `still.png`. */
  name: string;
  sizeBytes: number;
}

/**
 * Pictures of a scene that were drawn for an owner without a job. Its reserve and charge are in the ledger, under its id.
 *
 * `drawing`: credits are reserved, or about to be; `settling`: the charge is fixed, but the ledger may not know it;
 * `kept`: charged, and its files can be read; `removed`: its files are gone.
 */
export interface SnapshotRecord {
  snapshotId: string;
  owner: string;
  phase: 'drawing' | 'settling' | 'kept' | 'removed';
  reserveCredits: number;
  /** Null while it is being drawn. */
  costCredits: number | null;
  createdAtMs: number;
  /** While it is drawn or settled: when its process counts as dead. Then: when its files are removed. Null afterwards. */
  dueAtMs: number | null;
  files: SnapshotFile[];
}

const PREFIX = 's';

/** The id of a snapshot, of one that sorts by time. No job has such an id. */
export function snapshotIdOf(id: string): string {
  return PREFIX + id;
}

/** Whether an id in the ledger is that of a snapshot, not of a job. */
export function isSnapshotId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The key of a file in the asset store. */
export function snapshotKeyOf(snapshotId: string, name: string): string {
  return `${snapshotId}/${name}`;
}
