import type { IndexedVideo, JobRecord } from '../model/job.ts';
import type { Transaction } from './transaction.ts';

/** A completed job whose artifacts have not been removed. */
export interface FoundVideo {
  job: JobRecord;
  /** SHA-256 of the index of its video, in hexadecimal. */
  indexDigest: string;
}

/** Which jobs left a video whose equal frames a later render can copy. A wrong one costs time, never a wrong frame. */
export interface IndexedVideoStore {
  /** Records that the video of a job has an index; called in the transaction that fixes its outcome. */
  note(tx: Transaction, jobId: string, video: IndexedVideo): Promise<void>;
  /** Records from which job's video a job copies frames; called in the transaction that inserts it. */
  noteEarlier(tx: Transaction, jobId: string, earlierJobId: string): Promise<void>;
  /** The job that {@link noteEarlier} named. */
  earlierOf(jobId: string): Promise<FoundVideo | undefined>;
  /** The newest job with this digest of its scene. */
  newestOfScene(sceneDigest: number): Promise<FoundVideo | undefined>;
}
