import assert from 'node:assert/strict';
import { isoTime } from '../clock.ts';
import type { FailedBy } from './failures.ts';

/**
 * One render request and its life.
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
 * | - | reserving | `enqueue`, only with a ledger that lives elsewhere | not yet a visible job |
 * | reserving | queued | the ledger's `reserve` answered `reserved` | |
 * | reserving | - | it answered `insufficient`, or the service stopped meanwhile | reserve voided, record removed |
 * | - | queued | `enqueue`, with a ledger that shares the storage | reserve in the same commit |
 * | queued | running | a worker claimed it, in the same commit | attempts + 1, a greater token |
 * | running | queued | its renderer died, attempts left | the attempt stays counted |
 * | running | queued | the service stopped or lacked resources, or its asset store did for now | attempts − 1 |
 * | running | queued | its thread died, or its worker, whose lease then ends | attempts − 1, interruptions + 1 |
 * | running | completed, failed | the render ended | settle or void in the same commit, and the webhook due |
 * | queued, running | failed | `cancel` | the same |
 * | queued, running | settling | as the two rows above, with a ledger that lives elsewhere | outcome fixed; shown as running |
 * | settling | completed, failed | the ledger's `settle` or `void` answered | |
 *
 * A terminal job never changes, but that what its owner wrote can be removed. The first reason for ending wins. What a
 * worker does to a job that runs is fenced by its claim (lib/queue/queue.ts): when that is worthless, nothing changes.
 */
export type JobPhase = 'reserving' | 'queued' | 'running' | 'settling' | 'completed' | 'failed';

/** What a client sees of the phase (contract §3). */
export type JobStatus = 'queued' | 'running' | 'completed' | 'failed';

export const QUALITIES = ['low', 'medium', 'high', 'twok', 'fourk'] as const;
export type Quality = (typeof QUALITIES)[number];

export const ASPECT_RATIOS = ['16:9', '9:16'] as const;
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/** The file names of the artifacts, in the order of the contract's `result`. */
export const ARTIFACT_NAMES = ['video.mp4', 'thumbnail.jpg', 'captions.vtt'] as const;
export type ArtifactName = (typeof ARTIFACT_NAMES)[number];

/** One stored artifact of a completed job. */
export interface Artifact {
  name: ArtifactName;
  /** Where the asset store keeps it. Unguessable, because artifact URLs are public. */
  assetKey: string;
  sizeBytes: number;
}

/** Where the asset store keeps an artifact: each attempt at a job has a place of its own. */
export function assetKeyOf({ jobId, token }: { jobId: string; token: number }, name: ArtifactName): string {
  return `${jobId}-${token}/${name}`;
}

/** Where an attempt may have stored artifacts. */
export function assetKeysOf(claim: { jobId: string; token: number }): string[] {
  return ARTIFACT_NAMES.map((name) => assetKeyOf(claim, name));
}

/** Where artifacts may lie that a job which is over doesn't refer to: an attempt stored them, and was then cut off. */
export function orphanKeysOf({ jobId, token: last = 0, artifacts }: JobRecord): string[] {
  const referred = new Set(artifacts.map(({ assetKey }) => assetKey));
  const keys = Array.from({ length: last }, (_, index) => assetKeysOf({ jobId, token: index + 1 }));
  return keys.flat().filter((key) => !referred.has(key));
}

/** How a render ended, fixed before the ledger is told. */
export type JobOutcome =
  | { kind: 'completed'; artifacts: Artifact[]; costCredits: number }
  /** `failedBy`: default `service`. */
  | { kind: 'failed'; error: string; failedBy?: FailedBy };

/** A job as it is stored. Times are epoch milliseconds (UTC). The scene's source is stored apart. */
export interface JobRecord {
  jobId: string;
  /** The account that owns the job: an opaque string to the library. */
  owner: string;
  phase: JobPhase;
  className: string;
  quality: Quality;
  aspectRatio: AspectRatio;
  /** Frames per second: the request's, or the quality's default. */
  fps: number;
  /** The request's metadata as the JSON text that was received; null when none was given. */
  metadataJson: string | null;
  /** Where the outcome is sent, fixed at enqueue; null: nowhere. */
  webhookUrl: string | null;
  /** The key that the job was enqueued with, whose secret signs its webhook; null without keys. */
  keyId: string | null;
  /** A secret of the job's own that signs its webhook, encrypted with the master key; absent in most. */
  webhookSecretSealed?: string;
  reserveCredits: number;
  /** How many renderers died over it, and one more from when it runs: the attempt under way, or the last one. */
  attempts: number;
  /** How often the service, or its thread, died while it was being rendered; absent where that never happened. */
  interruptions?: number;
  /** Of the last claim on it; absent before the first. */
  token?: number;
  createdAtMs: number;
  /** When the last attempt began; null before the first. */
  startedAtMs: number | null;
  completedAtMs: number | null;
  /** Render wall-clock time of the last attempt; null until terminal. */
  durationMs: number | null;
  /** Credits charged; 0 until completed. */
  creditsCost: number;
  /** What the ledger is being told; only while settling. */
  outcome: JobOutcome | null;
  artifacts: Artifact[];
  /** Why it failed, in words for the scene's author; null otherwise. */
  error: string | null;
  /** What made it fail; absent where it didn't. */
  failedBy?: FailedBy;
  /** When what its owner wrote was removed; absent in most. */
  forgottenAtMs?: number;
}

/** A job as the library shows it: everything of the record that means something outside. */
export interface Job {
  jobId: string;
  owner: string;
  status: JobStatus;
  className: string;
  quality: Quality;
  aspectRatio: AspectRatio;
  fps: number;
  /** JSON text, exactly as given; null when none was. */
  metadataJson: string | null;
  webhookUrl: string | null;
  creditsCost: number;
  /** Milliseconds; null until terminal. */
  durationMs: number | null;
  artifacts: Artifact[];
  error: string | null;
  /**
   * How many times it was rendered: 0 while it waits for its first attempt, 1 while that runs and after it, one more for
   * each renderer that died over it. An attempt that ended because the service was stopped, killed or short of resources
   * isn't counted.
   */
  attempts: number;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** When its last attempt began, counted or not; null before the first. */
  startedAt: string | null;
  completedAt: string | null;
  /** When its code, metadata, error and artifacts were removed, ISO 8601; absent in most. */
  forgottenAt?: string;
}

/** A terminal job never changes. */
export function isTerminal(phase: JobPhase): phase is 'completed' | 'failed' {
  return phase === 'completed' || phase === 'failed';
}

/** The status that a client sees; a job that is being settled still counts as running. */
export function statusOf(phase: Exclude<JobPhase, 'reserving'>): JobStatus {
  return phase === 'settling' ? 'running' : phase;
}

/** A job as the library shows it. */
export function jobOf(record: JobRecord): Job {
  assert(record.phase !== 'reserving');
  const { jobId, owner, className, quality, aspectRatio, fps, metadataJson, webhookUrl } = record;
  const { creditsCost, artifacts, error, attempts } = record;
  return {
    jobId,
    owner,
    status: statusOf(record.phase),
    className,
    quality,
    aspectRatio,
    fps,
    metadataJson,
    webhookUrl,
    creditsCost,
    durationMs: isTerminal(record.phase) ? record.durationMs : null,
    artifacts: artifacts.map((artifact) => ({ ...artifact })),
    error,
    attempts,
    createdAt: isoTime(record.createdAtMs),
    startedAt: record.startedAtMs === null ? null : isoTime(record.startedAtMs),
    completedAt: record.completedAtMs === null ? null : isoTime(record.completedAtMs),
    ...(record.forgottenAtMs !== undefined && { forgottenAt: isoTime(record.forgottenAtMs) }),
  };
}
