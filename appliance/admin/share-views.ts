import type { Job, Play } from '../../lib/index.ts';
import { frameSizeOf, type Share } from '../../lib/internal.ts';

/** A video of a share. */
export interface SharedVideo {
  jobId: string;
  /** The title of its job, or its class. */
  name: string;
  widthPx: number;
  heightPx: number;
  hasThumbnail: boolean;
}

/** A share of an account as administration shows it. */
export interface ShareInfo extends Omit<Share, 'owner'> {
  /** The e-mail address of its account. */
  account: string;
  /** Its first video; null only if a damaged database lost it. */
  first: SharedVideo | null;
}

/** A page of a list of shares. */
export interface SharePage {
  shares: ShareInfo[];
  /** Continues as `before` of the next page; null at the end. */
  next: string | null;
}

/** A share with its videos. */
export interface ShownShare extends ShareInfo {
  /** In the order in which they are watched. */
  videos: SharedVideo[];
  /** The plays of the first one, from which its poster is chosen. */
  plays: Play[];
}

export function sharedVideo(job: Job): SharedVideo {
  const { jobId, title, className, quality, aspectRatio, artifacts } = job;
  return {
    jobId,
    name: title ?? className,
    ...frameSizeOf(quality, aspectRatio),
    hasThumbnail: artifacts.some(({ name }) => name === 'thumbnail.jpg'),
  };
}
