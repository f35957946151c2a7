import assert from 'node:assert/strict';
import { isoTime } from '../time/clock.ts';
import { type ArtifactFormat, type ArtifactName, artifactNamesOf } from './artifacts.ts';
import type { PlacedAudio } from './audio.ts';
import type { FailedBy } from './failures.ts';
import type { Finding } from './finding-types.ts';
import type { JobFormat } from './formats.ts';
import type { Params } from './params.ts';
import type { AspectRatio, Quality } from './qualities.ts';
import type { Play, RenderUsage } from './render-task.ts';
import type { Selection } from './selection.ts';
import type { StillAt } from './still-place.ts';
import type { JobTraceContext } from './trace-context.ts';

/**
 * The lifecycle of a render job.
 *
 * ```
 *              enqueue                worker takes it             artifacts collected or scene failed
 *  reserving ───────────▶ queued ───────────────────▶ running ───────────────────────────▶ settling
 *      │                    │  ▲                        │ │                                  │    │
 *      │ no credits         │  └── worker died, ────────┘ │ ledger shares the storage        │    │
 *      ▼                    │      attempts left          ▼                                  ▼    ▼
 *  (no job)                 └── canceled ─────────▶ completed / failed ◀──────── settled or voided
 * ```
 *
 * | from | to | by | also |
 * |---|---|---|---|
 * | - | reserving | `enqueue`, only with an external ledger | not yet a visible job |
 * | reserving | queued | the ledger's `reserve` answered `reserved` | |
 * | reserving | - | it answered `insufficient`, or the service stopped meanwhile | reserve voided, record removed |
 * | - | queued | `enqueue`, with a ledger that shares the storage | reserve in the same commit |
 * | queued | running | a worker claimed it, in the same commit | attempts + 1, a higher token |
 * | running | queued | its scene was killed; attempts left | the attempt stays counted |
 * | running | queued | the service stopped or lacked resources, or its asset store was unavailable | attempts − 1 |
 * | running | queued | a process that no scene can reach died, its lease expired, or the disk was full | attempts − 1, interruptions + 1 |
 * | running | completed, failed | the render ended | settle or void, and the webhook delivery, in the same commit |
 * | queued, running | failed | `cancel` | the same |
 * | queued, running | settling | as the two rows above, with an external ledger | outcome fixed; shown as running |
 * | settling | completed, failed | the ledger's `settle` or `void` answered | |
 *
 * A terminal job never changes, except that its content can be erased. The first outcome is final. Writes of a worker
 * to a running job are fenced by its claim (lib/storage/queue/queue.ts): with an invalid claim, nothing changes.
 */
export type JobPhase = 'reserving' | 'queued' | 'running' | 'settling' | 'completed' | 'failed';

/** The phases of jobs that aren't terminal. */
export type UnfinishedPhase = Exclude<JobPhase, 'completed' | 'failed'>;

/** The status that clients see (contract §3). */
export type JobStatus = 'queued' | 'running' | 'completed' | 'failed';

/** One stored artifact of a completed job. */
export interface Artifact {
  /** The name of its file, such as `video.mp4`. */
  name: ArtifactName;
  /** Its key in the asset store. Unguessable, because artifact URLs are public. */
  assetKey: string;
  /** Bytes. */
  sizeBytes: number;
}

/** The key of an artifact in the asset store; each attempt at a job has its own keys. */
export function assetKeyOf({ jobId, token }: { jobId: string; token: number }, name: ArtifactName): string {
  return `${jobId}-${token}/${name}`;
}

/**
 * The key of the index that may be stored beside a video, with which a later render copies equal frames. It is internal:
 * no artifact, and never served.
 */
export function indexKeyOf(videoKey: string): string {
  return videoKey.replace(/\.mp4$/, '.index');
}

/** What is recorded of a video with an index. */
export interface IndexedVideo {
  /** Finds the videos of a scene; those of another may have the same. */
  sceneDigest: number;
  /** SHA-256 of the index, in hexadecimal. */
  indexDigest: string;
}

/** The keys under which an attempt may have stored artifacts of these formats, and the index of its video. */
export function assetKeysOf(
  claim: { jobId: string; token: number },
  formats: readonly ArtifactFormat[] | null,
): string[] {
  const names = artifactNamesOf(formats ?? []);
  return withIndexes(names.map((name) => ({ name, assetKey: assetKeyOf(claim, name) })));
}

/** The keys of all that may be stored for a job: its artifacts, and the index of its video. */
export function storedKeysOf({ artifacts }: Pick<JobRecord, 'artifacts'>): string[] {
  return withIndexes(artifacts);
}

function withIndexes(artifacts: Pick<Artifact, 'name' | 'assetKey'>[]): string[] {
  return artifacts.flatMap(({ name, assetKey }) =>
    name === 'video.mp4' ? [assetKey, indexKeyOf(assetKey)] : [assetKey],
  );
}

/** The keys of what a terminal job does not refer to: interrupted attempts may have stored it. */
export function orphanKeysOf({ jobId, token: last = 0, artifacts, formats }: JobRecord): string[] {
  const referred = new Set(storedKeysOf({ artifacts }));
  const keys = Array.from({ length: last }, (_, index) => assetKeysOf({ jobId, token: index + 1 }, formats));
  return keys.flat().filter((key) => !referred.has(key));
}

/** How a render ended; fixed before the ledger is called. */
export type JobOutcome =
  | { kind: 'completed'; artifacts: Artifact[]; costCredits: number }
  /** `failedBy`: default `service`. */
  | { kind: 'failed'; error: string; failedBy?: FailedBy; diagnosis?: Finding };

/** What changes of a job until it ends. */
export type JobState = Pick<JobRecord, 'jobId' | 'phase' | 'attempts'>;

/** A stored job. Times are epoch milliseconds (UTC). The scene's source is stored separately. */
export interface JobRecord {
  /** As in `Job`. */
  jobId: string;
  /** The account that owns the job: an opaque string to the library. */
  owner: string;
  /** Where in its life it is; `Job.status` is derived from it. */
  phase: JobPhase;
  /** The scene that is rendered. */
  className: string;
  /** Selects the size, the price and the default frame rate. */
  quality: Quality;
  /** Of the frame. */
  aspectRatio: AspectRatio;
  /** Frames per second: the request's, or the quality's default. */
  fps: number;
  /** A name for people; null when the request had none. */
  title: string | null;
  /** Words to find it by; null when the request had none. */
  tags: string[] | null;
  /** Of the scene's random numbers; null: another one in each render. */
  seed: number | null;
  /** What it makes besides MP4; null when the request named nothing else. */
  formats: ArtifactFormat[] | null;
  /** The request's metadata as the received JSON text; null when it had none. */
  metadataJson: string | null;
  /** The webhook URL, fixed at enqueue; null: no webhook. */
  webhookUrl: string | null;
  /** The API key of the request, whose secret signs the webhook; null without API keys. */
  keyId: string | null;
  /** The job's own webhook secret, encrypted with the master key; absent in most jobs. */
  webhookSecretSealed?: string;
  /** Credits that its ledger reserved when it was accepted. */
  reserveCredits: number;
  /** Counted attempts: renderer deaths, plus the current or last attempt. */
  attempts: number;
  /** How often the service or the worker thread died during its render; absent when never. */
  interruptions?: number;
  /** The token of the last claim; absent before the first. */
  token?: number;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** When the last attempt started; null before the first. */
  startedAtMs: number | null;
  /** Epoch milliseconds: when it ended; null until then. */
  completedAtMs: number | null;
  /** Render wall-clock time of the last attempt; null until terminal. */
  durationMs: number | null;
  /** Time and memory of the render; null until terminal, and without a render that ended by itself. */
  usage: RenderUsage | null;
  /** Credits charged; 0 until completed. */
  creditsCost: number;
  /** The outcome to report to the ledger; only while settling. */
  outcome: JobOutcome | null;
  /** Empty until its render is complete. */
  artifacts: Artifact[];
  /** The error message for the scene's author; null unless failed. */
  error: string | null;
  /** What it failed by; absent unless failed. */
  failedBy?: FailedBy;
  /** What is known about the failure, for its author; null unless its scene failed. */
  diagnosis: Finding | null;
  /** The trace that it belongs to; null when it was accepted without one. */
  traceContext: JobTraceContext | null;
  /** Values of the scene's parameters; null when the request had none. */
  params: Params | null;
  /** Which frames become its video and pictures; null: those of all jobs. */
  selection: Selection | null;
  /** Sounds of the request; null when it had none. */
  audio: PlacedAudio[] | null;
  /** Whether its owner marked it; null: never. */
  starred: boolean | null;
  /** The project that it is part of; null: none. */
  project: string | null;
  /** What its captions say, as far as it is found by that; null until it is completed, and without captions. */
  captions: string | null;
  /** When its content was erased; absent in most jobs. */
  forgottenAtMs?: number;
}

/** Reports of a render about its scene. User content, encrypted and erased with the job's other texts. */
export interface RenderTrace {
  /** The plays and waits of a completed scene, in their order, at most 1,000. */
  plays: Play[];
  /** Output of its code, and warnings: at most 33,000 characters. */
  output: string;
}

/** How a job ended, and whose it was. */
export type EndedRender = Pick<JobRecord, 'owner' | 'phase' | 'failedBy' | 'durationMs' | 'completedAtMs'>;

/** An idempotent request: repeating it does not add a second job. */
export interface IdempotentRequest {
  /** Keys of different owners are independent. */
  owner: string;
  /** The client's idempotency key. */
  key: string;
  /** Identifies the content of the request. */
  fingerprint: string;
  /** The job it added. */
  jobId: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
}

/** The public view of a job. */
export interface Job {
  /** Sorts by creation time; can't be guessed. */
  jobId: string;
  /** Who it belongs to: any string of the embedder. */
  owner: string;
  /** `queued`, `running`, `completed` or `failed`. */
  status: JobStatus;
  /** The scene that is rendered. */
  className: string;
  /** Selects the size, the price and the default frame rate. */
  quality: Quality;
  /** Of the frame. */
  aspectRatio: AspectRatio;
  /** Frames per second. */
  fps: number;
  /** A name for people; null when the request had none. */
  title: string | null;
  /** Words to find it by. */
  tags: string[];
  /** Whether its owner marked it. */
  starred: boolean;
  /** The project that it is part of, like a folder; null: none. */
  project: string | null;
  /** Of the scene's random numbers; null: another one in each render. */
  seed: number | null;
  /** Values of the scene's parameters, by name; null when the request had none. */
  params: Params | null;
  /** Sounds that the request placed in the video; null when it had none. */
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
  /** The metadata of the request, parsed; null when there was none. */
  readonly metadata: unknown;
  /** The metadata of the request as JSON text, verbatim; null when there was none. */
  metadataJson: string | null;
  /** Where its outcome is sent; null: nowhere. */
  webhookUrl: string | null;
  /** Credits that it was charged; 0 until it ends and when it failed. */
  creditsCost: number;
  /** Milliseconds; null until terminal. */
  durationMs: number | null;
  /** Time and memory of the render; null until terminal, and without a render that ended by itself. */
  usage: RenderUsage | null;
  /** Empty until it completes. */
  artifacts: Artifact[];
  /** Why it failed, for its owner; null otherwise. */
  error: string | null;
  /** What it failed by, for programs; kept when its content is erased; null unless it failed. */
  failedBy: FailedBy | null;
  /** What is wrong with its scene, where, and what to write instead; null unless the scene failed. User content. */
  diagnosis: Finding | null;
  /**
   * Counted attempts: 0 before the first, 1 during and after it, and one more for each that a killed scene or an
   * error of the service ended. Attempts that ended because the service was stopped, killed or short of memory or
   * file descriptors are not counted.
   */
  attempts: number;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** When the last attempt, counted or not, started; null before the first. */
  startedAt: string | null;
  /** ISO 8601, UTC: when it ended, also if it failed; null until then. */
  completedAt: string | null;
  /** When its code, metadata, error and artifacts were erased, ISO 8601; absent in most jobs. */
  forgottenAt?: string;
}

/** A terminal job never changes, except for its labels and by being forgotten. */
export function isTerminal(phase: JobPhase): phase is 'completed' | 'failed' {
  return phase === 'completed' || phase === 'failed';
}

/** The status that clients see; a settling job is still shown as running. */
export function statusOf(phase: Exclude<JobPhase, 'reserving'>): JobStatus {
  return phase === 'settling' ? 'running' : phase;
}

/** `metadata` is parsed on demand: most readers pass the text on. One getter for all jobs is faster than one for each. */
const METADATA: PropertyDescriptor & ThisType<Job> = {
  get() {
    return this.metadataJson === null ? null : JSON.parse(this.metadataJson);
  },
  enumerable: true,
  configurable: true,
};

/** Converts a record to the public view. */
export function jobOf(record: JobRecord): Job {
  assert(record.phase !== 'reserving');
  const { jobId, owner, className, quality, aspectRatio, fps, metadataJson, webhookUrl } = record;
  const { title, tags, seed, params, audio, formats, creditsCost, artifacts, error, attempts } = record;
  const { fromPlay = null, toPlay = null, poster = null, stills = [] } = record.selection ?? {};
  const job: Omit<Job, 'metadata'> = {
    jobId,
    owner,
    status: statusOf(record.phase),
    className,
    quality,
    aspectRatio,
    fps,
    title,
    tags: [...(tags ?? [])],
    starred: record.starred ?? false,
    project: record.project,
    seed,
    params,
    audio,
    formats: ['mp4', ...(formats ?? [])],
    fromPlay,
    toPlay,
    poster,
    stills: [...stills],
    metadataJson,
    webhookUrl,
    creditsCost,
    durationMs: isTerminal(record.phase) ? record.durationMs : null,
    usage: isTerminal(record.phase) ? record.usage : null,
    artifacts: artifacts.map((artifact) => ({ ...artifact })),
    error,
    failedBy: record.failedBy ?? null,
    diagnosis: record.diagnosis,
    attempts,
    createdAt: isoTime(record.createdAtMs),
    startedAt: record.startedAtMs === null ? null : isoTime(record.startedAtMs),
    completedAt: record.completedAtMs === null ? null : isoTime(record.completedAtMs),
  };
  if (record.forgottenAtMs !== undefined) job.forgottenAt = isoTime(record.forgottenAtMs);
  return Object.defineProperty(job, 'metadata', METADATA) as Job;
}
