import type { Disk } from '../disk.ts';

/** Where a document is. */
export interface DocumentPlace {
  disk: Disk;
  folder: string;
  /** A write found the disk full. What it does, the next write finds done. */
  onNoRoom: () => Promise<void>;
}
