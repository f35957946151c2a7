import type { ArtifactFields } from '../model/artifacts.ts';

export type { JobStatus } from '../model/job.ts';
export type { AspectRatio, Quality } from '../model/qualities.ts';
export type { RenderRequest } from '../model/render-request.ts';

/** The response to a render request (contract §2.2). */
export interface Enqueued {
  /** For `get`, `wait`, `follow` and `cancel`. */
  jobId: string;
  status: 'queued';
  endpoint: 'render';
}

/** Links to the artifacts of a completed job: `video` (MP4), `thumbnail` (JPEG), and `captions` (WebVTT) if it has any. */
export type RenderResult = ArtifactFields<true> & Partial<ArtifactFields<false>>;

interface JobMembers {
  jobId: string;
  endpoint: 'render';
  /** Credits charged; 0 until completed. */
  creditsCost: number;
  /** Render wall-clock time in milliseconds; null until terminal. */
  durationMs: number | null;
  /** The `metadata` of the request; null when there was none. */
  metadata: unknown;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601; null until terminal. */
  completedAt: string | null;
}

/** A job whose render succeeded. */
export interface CompletedJob extends JobMembers {
  status: 'completed';
  result: RenderResult;
  error: null;
}

/** A job whose render failed, or was canceled. */
export interface FailedJob extends JobMembers {
  status: 'failed';
  result: null;
  /** The error, as the author of the scene needs it. */
  error: string;
}

/** A job that has not ended. */
export interface UnfinishedJob extends JobMembers {
  status: 'queued' | 'running';
  result: null;
  error: null;
}

/** A job that has ended: it never changes. */
export type EndedJob = CompletedJob | FailedJob;

/** A job as the API returns it (contract §2.3), and as webhooks receive it. */
export type RenderJob = EndedJob | UnfinishedJob;

/** The account behind a key (contract §2.4). */
export interface ApiAccount {
  /** The owner of jobs and credits. */
  userId: string;
  /** The key of the request. */
  keyId: string;
  /** Safe to show. */
  keyPrefix: string;
  /** Integers; what can be spent now. */
  credits: { paid: number; free: number; total: number };
}

/** An event of a job that is followed. */
export type ClientEvent =
  /** The job as it is: first when following begins, then after each change of its status. */
  | { type: 'job'; job: RenderJob }
  /** A running job advanced: frames drawn, seconds of video so far. Only from servers that send events. */
  | { type: 'progress'; progress: { stage: string; frames: number; seconds: number } }
  /** A small JPEG of the frame being drawn. Only from servers that send events. */
  | { type: 'preview'; jpeg: Uint8Array };
