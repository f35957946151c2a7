import type { SharePoster, ShareVisibility } from './share.ts';

/** What can be changed of a share. Null: without one. */
export interface ShareSettings {
  /** The videos, in their order: completed jobs of the owner, each once, at most 100. */
  jobIds?: string[];
  /** Default: that of the first job. */
  title?: string | null;
  description?: string | null;
  /** Default `link`. */
  visibility?: ShareVisibility;
  /** Default: the thumbnail. */
  poster?: SharePoster | null;
  /** Whether the watch page offers files to keep. Default true. */
  allowDownload?: boolean;
  /** When the link stops working: ISO 8601, with a time zone. Default: never. */
  expiresAt?: string | null;
}

/** Changes of a share; what is absent stays. Videos are taken out first, then added, then moved. */
export interface ShareChanges extends ShareSettings {
  /** Jobs whose videos are added at the end; those that it has stay where they are. */
  addJobIds?: string[];
  /** Jobs whose videos are taken out. At least one video stays. */
  removeJobIds?: string[];
  /** Puts a video at another place, counted from 0. */
  moveJob?: { jobId: string; place: number };
}

/** Which shares to list. */
export interface ShareQuery {
  owner?: string;
  /** Only those with this video. */
  jobId?: string;
  /** Only those before this one: the last of the page before. */
  before?: string;
  /** Default 100. */
  limit?: number;
}
