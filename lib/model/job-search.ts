import type { Job, JobStatus } from './job.ts';
import type { Quality } from './qualities.ts';

/** A search for jobs; all that it names must match. */
export interface JobSearch {
  /** Only those of this owner. */
  owner?: string;
  /**
   * Words, each of which begins a word of the title, tags, project, class name, code, metadata, said texts, error or id,
   * without case and accents.
   */
  text?: string;
  /** Only those with this status. */
  status?: JobStatus;
  /** True: only jobs that were canceled; false: only others. */
  canceled?: boolean;
  /** Only those of this quality. */
  quality?: Quality;
  /** Only those with this tag. */
  tag?: string;
  /** Only those of this project. */
  project?: string;
  /** Only those that are marked, or not. */
  starred?: boolean;
  /** Only jobs that were created at this time (epoch milliseconds) or later. */
  sinceMs?: number;
  /** Only jobs that were created before this time. */
  untilMs?: number;
  /** Default `newest`. */
  order?: 'newest' | 'oldest';
  /** Maximum number of jobs; default 50. */
  limit?: number;
  /** The `next` of the preceding page. */
  cursor?: string;
}

/** A page of found jobs. */
export interface JobSearchResult {
  jobs: Job[];
  /** Continues as `cursor` of another search; null at the end. */
  next: string | null;
  /** False while older jobs are still being read for the first search after a while: the next page may have more. */
  isComplete: boolean;
}

/** Labels that jobs have, the most frequent first. */
export interface FoundLabels {
  projects: { name: string; count: number }[];
  tags: { name: string; count: number }[];
}
