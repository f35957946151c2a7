import {
  type Account,
  type AuditReport,
  type DataStatistics,
  isoTime,
  type Job,
  type JobStatus,
  type KeyRecord,
  type LedgerEntry,
  type RenderProgress,
  type ServiceStatus,
} from '../../lib/index.ts';

/** What the doctor is told of a data folder. */
export interface Examination {
  status: ServiceStatus;
  /** Null where renders cost nothing. */
  audit: AuditReport | null;
  data: DataStatistics;
  /** User ids of accounts whose deletion is under way, or was cut off. */
  halfDeletedAccounts: string[];
  /** A rotation of the master key is under way, or was cut off. */
  isRotating: boolean;
  /** When the newest job was made, in epoch milliseconds; null without jobs. */
  newestMs: number | null;
}

/** An account as administration shows it. */
export interface AccountInfo {
  userId: string;
  email: string;
  createdAt: string;
  /** Since when its keys are rejected; null while they are accepted. */
  disabledAt: string | null;
}

/** What was done to an account that is no more. */
export interface DeletedAccount {
  /** Under which its credits are kept in the books. */
  userId: string;
  revokedKeys: number;
  forgottenJobs: number;
}

/** A key as administration shows it: nothing of it is secret. */
export interface KeyInfo {
  keyId: string;
  keyPrefix: string;
  name: string;
  /** The e-mail address of its account. */
  account: string;
  webhookUrl: string | null;
  createdAt: string;
  revokedAt: string | null;
}

/** A key with what is shown once only. */
export interface NewKey extends KeyInfo {
  key: string;
  webhookSecret: string;
}

/** One line of an account's history. */
export interface StatementLine {
  /** ISO 8601, UTC. */
  at: string;
  kind: LedgerEntry['kind'];
  /** What the balance changed by. */
  amountCredits: number;
  jobId: string | null;
  note: string | null;
}

/** A job as administration shows it. */
export interface JobInfo {
  jobId: string;
  /** The e-mail address of its account, or the user id of one that there isn't any more. */
  account: string;
  status: JobStatus;
  className: string;
  quality: string;
  aspectRatio: string;
  fps: number;
  attempts: number;
  creditsCost: number;
  /** Milliseconds; null until it is over. */
  durationMs: number | null;
  artifacts: { name: string; sizeBytes: number; url: string }[];
  error: string | null;
  webhookUrl: string | null;
  createdAt: string;
  completedAt: string | null;
  /** How far the render is; null while there is none. */
  progress: RenderProgress | null;
}

/** How much there is of everything. */
export interface Counts {
  accounts: number;
  disabledAccounts: number;
  keys: number;
  revokedKeys: number;
  data: DataStatistics;
  service: ServiceStatus;
}

/** The jobs that wait, and whether renders begin. */
export interface QueueInfo {
  /** Since when no more renders are begun; null when they are. */
  pausedAt: string | null;
  queued: number;
  running: number;
  /** Scenes that can be rendered at the same time; 0 without a server. */
  workers: number;
  /** Renders can be made now. */
  ready: boolean;
}

export function accountInfo({ accountId, email, createdAtMs, disabledAtMs }: Account): AccountInfo {
  return {
    userId: accountId,
    email,
    createdAt: isoTime(createdAtMs),
    disabledAt: disabledAtMs === undefined ? null : isoTime(disabledAtMs),
  };
}

export function keyInfo(record: KeyRecord, account: string): KeyInfo {
  return {
    keyId: record.keyId,
    keyPrefix: record.prefix,
    name: record.name,
    account,
    webhookUrl: record.webhookUrl,
    createdAt: isoTime(record.createdAtMs),
    revokedAt: record.revokedAtMs === null ? null : isoTime(record.revokedAtMs),
  };
}

export function jobInfo(
  job: Job,
  account: string,
  { assetUrl, progress }: { assetUrl: string; progress: RenderProgress | undefined },
): JobInfo {
  const { jobId, status, className, quality, aspectRatio, fps, attempts, creditsCost, durationMs } = job;
  return {
    jobId,
    account,
    status,
    className,
    quality,
    aspectRatio,
    fps,
    attempts,
    creditsCost,
    durationMs,
    artifacts: job.artifacts.map(({ name, sizeBytes }) => ({
      name,
      sizeBytes,
      url: `${assetUrl}/artifacts/${jobId}/${name}`,
    })),
    error: job.error,
    webhookUrl: job.webhookUrl,
    createdAt: job.createdAt,
    completedAt: job.completedAt,
    progress: progress ?? null,
  };
}
