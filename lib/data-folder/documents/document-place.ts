import type { Disk } from '../../files/disk.ts';

/** The location of a document. */
export interface DocumentPlace {
  disk: Disk;
  folder: string;
  /** Called when a write found the disk full; the next write waits for it. */
  onFullDisk: () => Promise<void>;
}
