import type { KeyScope } from '../keys/key-scopes.ts';
import type { ArtifactFields, FormatFields } from '../model/artifacts.ts';
import type { Assignment } from '../model/assignment.ts';
import type { PlacedAudio } from '../model/audio.ts';
import type { FailedBy } from '../model/failures.ts';
import type { Finding } from '../model/finding-types.ts';
import type { JobFormat } from '../model/formats.ts';
import type { InspectedPlay, InspectedScene, InspectOptions } from '../model/inspected-source.ts';
import type { JobStatus } from '../model/job.ts';
import type { OwnerFile } from '../model/owner-file.ts';
import type { Params } from '../model/params.ts';
import type { AspectRatio, Quality } from '../model/qualities.ts';
import type { RenderRequest } from '../model/render-request.ts';
import type { Play, RenderProgress, RenderUsage } from '../model/render-task.ts';
import type { FrameSelection } from '../model/selection.ts';
import type { Share } from '../model/share.ts';
import type { ShareSettings } from '../model/share-requests.ts';
import type { StillAt } from '../model/still-place.ts';
import type { UsageOfDay } from '../model/usage.ts';

export type { KeyScope } from '../keys/key-scopes.ts';
export type { AssignmentSettings } from '../model/assignment-requests.ts';
export type { CheckedSource, CheckOptions } from '../model/checked-source.ts';
export type { Finding } from '../model/finding-types.ts';
export type { InspectOptions } from '../model/inspected-source.ts';
export type { JobStatus } from '../model/job.ts';
export type { AspectRatio, Quality } from '../model/qualities.ts';
export type { RenderRequest } from '../model/render-request.ts';
export type { ShareChanges, ShareSettings } from '../model/share-requests.ts';

/** The response to a render request (contract §2.2). */
export interface Enqueued {
  /** For `get`, `wait`, `follow` and `cancel`. */
  jobId: string;
  status: 'queued';
  endpoint: 'render';
}

/**
 * Links to the artifacts of a completed job: `video` (MP4), `thumbnail` (JPEG), and `captions` (WebVTT) if it has any; only
 * from the tools API, those of other formats that it was asked for.
 */
export type RenderResult = ArtifactFields<true> & Partial<ArtifactFields<false>> & FormatFields;

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

/** What the tools API tells of a job besides. */
interface ToolMembers {
  className: string;
  quality: Quality;
  aspectRatio: AspectRatio;
  fps: number;
  title: string | null;
  tags: string[];
  /** Whether it is marked. */
  starred: boolean;
  /** The project that it is part of; null: none. */
  project: string | null;
  seed: number | null;
  /** Values of the scene's parameters, by name. */
  params: Params | null;
  /** Sounds that the request placed in the video. */
  audio: PlacedAudio[] | null;
  /** What it makes: `mp4`, and the other formats of the request. */
  formats: JobFormat[];
  /** The first play of its video, counted from 0; null: the first one of the scene. */
  fromPlay: number | null;
  /** The last play of its video; null: the last one of the scene. */
  toPlay: number | null;
  /** The frame that its thumbnail shows; null: one with much contrast. */
  poster: StillAt | null;
  /** The frames that become a PNG each. */
  stills: StillAt[];
  attempts: number;
  /** ISO 8601; null before its first attempt. */
  startedAt: string | null;
  /** What it failed by; null unless it failed. */
  failure: { kind: Exclude<FailedBy, 'cancel'> | 'canceled' } | null;
  /** What is wrong with its scene; null unless the scene failed. */
  diagnosis: Finding | null;
}

/** A job as the tools API returns it. */
export type ToolJob = RenderJob & ToolMembers;

/** A job with what its render has told. */
export type WholeJob = ToolJob & {
  plays: Play[];
  /** Ids of the files that it uses, by name. */
  files: Record<string, string>;
  /** Why it uses none, if the account had more files than a job comes with. */
  filesNote: string | null;
  /** What the scene printed, and warnings. */
  output: string;
  usage: RenderUsage | null;
  /** Null unless it runs. */
  progress: RenderProgress | null;
};

/** A file of a request: the id of one of the account, or a content, which only its job has. */
export type ClientFile = string | Blob | Uint8Array<ArrayBuffer>;

/** Files that scenes read. */
export interface WithFiles {
  /** By the names under which scenes find them, such as `{ 'logo.png': blob }`. Default: all files of the account. */
  files?: Readonly<Record<string, ClientFile>>;
}

/** A file of the account. */
export type ApiFile = Omit<OwnerFile, 'owner'>;

/** A query for files, by name. */
export interface FilesQuery {
  /** Only those in this folder and below it, such as `voices`. */
  folder?: string;
  /** Only those whose names contain this text, in upper or lower case. */
  search?: string;
  /** At most 500; default 100. */
  limit?: number;
  /** The `next` of the preceding page. */
  cursor?: string;
}

/** A page of files. */
export interface FilePage {
  files: ApiFile[];
  /** For the next page; null at the end. */
  next: string | null;
  /** Of all files of the account. `mostFiles` and `mostBytes`: null: no limit. */
  usage: { files: number; bytes: number; mostFiles: number | null; mostBytes: number | null };
}

/** A link under which others watch videos. */
export interface ApiShare extends Omit<Share, 'owner'> {
  /** The page to pass on. */
  url: string;
  /** The page with the player alone, for frames of other sites. */
  embedUrl: string;
}

/** A share to make. */
export type NewShareRequest = ShareSettings & { jobIds: string[] };

/** A query for shares, newest first. */
export interface SharesQuery {
  /** Only those with the video of this job. */
  jobId?: string;
  /** At most 500; default 100. */
  limit?: number;
  /** The `next` of the preceding page. */
  cursor?: string;
}

/** A page of shares. */
export interface SharePage {
  shares: ApiShare[];
  /** For the next page; null at the end. */
  next: string | null;
}

/** A link under which others get code as a scene of their own. */
export interface ApiAssignment extends Omit<Assignment, 'owner'> {
  /** The page to pass on. */
  url: string;
}

/** A query for assignments, newest first. */
export interface AssignmentsQuery {
  /** At most 100; default 50. */
  limit?: number;
  /** The `next` of the preceding page. */
  cursor?: string;
}

/** A page of assignments. */
export interface AssignmentPage {
  assignments: ApiAssignment[];
  /** For the next page; null at the end. */
  next: string | null;
}

/** A render request with what the contract has no field for. */
export interface ToolRequest extends RenderRequest, WithFiles, FrameSelection {
  title?: string;
  tags?: readonly string[];
  /** The project that it is part of, at most 100 characters. */
  project?: string;
  /** Of the scene's random numbers. */
  seed?: number;
  /** Values of parameters that the scene declares, by name. */
  params?: Params;
  /** Sounds among the files that are placed in the video. */
  audio?: readonly PlacedAudio[];
  /** What it makes besides video, thumbnail and captions. */
  formats?: readonly JobFormat[];
}

/** One of several requests, with files of the account only. */
export interface BatchRequest extends Omit<ToolRequest, 'files'> {
  files?: Readonly<Record<string, string>>;
}

/** A query for jobs, newest first. */
export interface JobsQuery {
  status?: JobStatus;
  quality?: Quality;
  /** Words that begin words of the texts of jobs, without case and accents. */
  text?: string;
  tag?: string;
  project?: string;
  starred?: boolean;
  /** ISO 8601: created at this time or later. */
  since?: string;
  /** ISO 8601: created before this time. */
  until?: string;
  /** At most 100; default 50. */
  limit?: number;
  /** The `next` of the preceding page. */
  cursor?: string;
}

/** What {@link ScenepressClient.relabel} changes; what is absent stays, null removes. */
export interface ChangedLabels {
  title?: string | null;
  tags?: readonly string[];
  starred?: boolean;
  project?: string | null;
}

/** A page of jobs. */
export interface JobPage {
  jobs: ToolJob[];
  /** For the next page; null at the end. */
  next: string | null;
}

interface Taken {
  creditsCost: number;
  /** Until when its pictures are kept, ISO 8601. */
  expiresAt: string;
}

/** What was found in a source, with URLs of pictures. */
export interface InspectedByUrl {
  ok: boolean;
  findings: Finding[];
  scenes: (Pick<InspectedScene, 'className' | 'frames' | 'seconds' | 'readsPixels' | 'output'> &
    Taken & {
      /** The URL of a contact sheet, a JPEG. */
      sheet: string;
      pictures: { number: number; play: number | null; line: number | null; seconds: number; url: string }[];
      plays: InspectedPlay[];
    })[];
}

/** Options of a still. */
export interface StillOptions extends InspectOptions, WithFiles {
  /** Which frame; default: the last one. */
  at?: StillAt;
}

/** A frame, or why there is none. */
export interface StillByUrl {
  ok: boolean;
  findings: Finding[];
  still: ({ className: string; url: string } & Taken) | null;
}

/** What ended renders have used, on a day, made with one API key. */
export type ApiUsage = Omit<UsageOfDay, 'failures'> & {
  failures: Partial<Record<Exclude<FailedBy, 'cancel'> | 'canceled', number>>;
};

/** The key of the requests, and what it may be used for. */
export interface ApiKey {
  /** Null: of a server that stores no keys. */
  keyId: string | null;
  /** Safe to show. */
  keyPrefix: string;
  scopes: readonly KeyScope[];
}

/** An event of all jobs of an account. `gap`: changes were lost, list the jobs. */
export type AccountEvent = { type: 'job'; job: ToolJob } | { type: 'gap' };
