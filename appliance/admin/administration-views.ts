import type {
  Account,
  FailedBy,
  Finding,
  Job,
  JobStatus,
  LedgerEntry,
  Play,
  Quality,
  RenderProgress,
  RenderUsage,
} from '../../lib/index.ts';
import {
  type AccountRole,
  type Charges,
  type Identity,
  isoTime,
  isSnapshotId,
  type JobFormat,
  type KeyRecord,
  type KeyScope,
  type KeyState,
  recoveryCodesLeft,
} from '../../lib/internal.ts';

/** An account as administration shows it. */
export interface AccountInfo {
  userId: string;
  email: string;
  createdAt: string;
  /** Time since which its keys are rejected; null while they are accepted. */
  disabledAt: string | null;
  /** Its role in the dashboard. */
  role: AccountRole;
  /** Whether it can sign in to the dashboard. */
  hasPassword: boolean;
  /** Whether signing in also needs a code. */
  hasTwoFactor: boolean;
  /** Number of its unused recovery codes. */
  recoveryCodes: number;
  /** How many of its jobs may wait; null: as many as of any account. */
  maxQueued: number | null;
  maxFilesMb: number | null;
  /** How many scenes it may have; null: as many as any account. */
  maxScenes: number | null;
  /** The person whose access tokens act for it; null without a link. */
  identity: Identity | null;
}

/** A page of a list of accounts. */
export interface AccountPage {
  accounts: AccountInfo[];
  /** Continues as `after` of the next page; null at the end. */
  next: string | null;
}

/** A recorded operation: actor, operation, time and address. */
export interface ActInfo {
  actId: string;
  at: string;
  /** The e-mail address or, if deleted, the user id of an account; null for the command line. */
  actor: string | null;
  /** The operation, such as `keys.revoke`. */
  action: string;
  /** The credits that it added or took back; null for others. */
  amountCredits: number | null;
  /** How many equal acts it stands for: those that followed another within a short time are one entry. */
  count: number;
  /** The id of its object. */
  subject: string | null;
  /** The address of an account, the name of a key, file or scene, or the class of a job; null if it has none any more. */
  subjectName: string | null;
  address: string | null;
}

/** A link for choosing the password of an account. */
export interface Invitation {
  url: string;
  expiresAt: string;
}

/** Result of the deletion of an account. */
export interface DeletedAccount {
  /** Identifies its entries in the books. */
  userId: string;
  revokedKeys: number;
  forgottenJobs: number;
}

/** A key as administration shows it, without secrets. */
export interface KeyInfo {
  keyId: string;
  keyPrefix: string;
  name: string;
  /** The e-mail address of its account. */
  account: string;
  webhookUrl: string | null;
  createdAt: string;
  /** What it may be used for. */
  scopes: readonly KeyScope[];
  /** From when on it is rejected; null: never. */
  expiresAt: string | null;
  revokedAt: string | null;
  /** Whether it is accepted now, or why not. */
  state: KeyState;
  /** When a request with it was last accepted, to the minute; null if none was. */
  lastUsedAt: string | null;
}

/** A page of a list of keys. */
export interface KeyPage {
  keys: KeyInfo[];
  /** Continues as `after` of the next page; null at the end. */
  next: string | null;
}

/** A key with its secrets, which are shown only once. */
export interface NewKey extends KeyInfo {
  key: string;
  webhookSecret: string;
}

/** The prices of renders. */
export interface Prices {
  creditsPerSecond: Record<Quality, number>;
  reserveSeconds: number;
  freeCreditsPerMonth: number;
}

/** The charges of an account on one day. */
export interface DaySpending extends Charges {
  /** The day (UTC), as `2026-11-23`. */
  day: string;
}

/** One line of an account's history. */
export interface StatementLine {
  entryId: string;
  /** ISO 8601, UTC. */
  at: string;
  kind: LedgerEntry['kind'];
  /** Change of the balance. */
  amountCredits: number;
  /** The cost of a render that is charged; 0 otherwise. */
  chargedCredits: number;
  jobId: string | null;
  note: string | null;
}

/** One line of an account's history for people: a job has one, as far as it is known. */
export interface HistoryLine {
  entryId: string;
  /** ISO 8601, UTC. */
  at: string;
  kind: LedgerEntry['kind'];
  /** What it cost or added in all: for a job that was charged its cost, not the rest of its reserve. */
  changeCredits: number;
  note: string | null;
  job: HistoryJob | null;
  /** It is of pictures of a scene, without a job. */
  isOfPictures: boolean;
}

/** The job of a line; of a forgotten one without a name. */
export interface HistoryJob
  extends Pick<
    JobInfo,
    'jobId' | 'status' | 'failedBy' | 'forgottenAt' | 'className' | 'quality' | 'durationMs'
  > {}

/** A job as administration shows it. */
export interface JobInfo {
  jobId: string;
  /** The e-mail address of its account, or the user id of a deleted one. */
  account: string;
  status: JobStatus;
  className: string;
  /** A name for people; null: none. */
  title: string | null;
  tags: string[];
  starred: boolean;
  /** The project that it is part of; null: none. */
  project: string | null;
  quality: string;
  aspectRatio: string;
  fps: number;
  attempts: number;
  creditsCost: number;
  /** Milliseconds; null until it has ended. */
  durationMs: number | null;
  /** Length of its video; null without one. */
  videoSeconds: number | null;
  artifacts: { name: string; sizeBytes: number; url: string }[];
  error: string | null;
  /** What it failed by, such as `scene`, `tex`, `limit:time` or `cancel`; null unless it failed. */
  failedBy: FailedBy | null;
  webhookUrl: string | null;
  createdAt: string;
  completedAt: string | null;
  /** When its content was forgotten; null in most jobs. */
  forgottenAt: string | null;
  /** Progress of the render; null while there is none. */
  progress: RenderProgress | null;
}

/** A job, what its scene printed and what its render took. */
export interface ShownJob extends JobInfo {
  /** Time and memory of the render; null until it has ended by itself. */
  usage: RenderUsage | null;
  /** What is wrong with the scene, where, and what to write instead; null unless the scene failed. */
  diagnosis: Finding | null;
  /** Output of the scene, and warnings; empty until the job has ended. */
  output: string;
}

/** A page of a list of jobs. */
export interface JobPage {
  jobs: JobInfo[];
  /** How many failed jobs were read in search of an error; null when all found jobs are listed. */
  examined: number | null;
  /** Continues as `before` of the next page; null at the end. */
  next: string | null;
}

/** A page of found jobs. */
export interface FoundJobs {
  jobs: JobInfo[];
  /** Continues as `cursor` of the next page; null at the end. */
  next: string | null;
  /** False while older jobs are still being read. */
  isComplete: boolean;
}

/** A job with its source and options. */
export interface JobDetails extends ShownJob {
  startedAt: string | null;
  /** The scene's code; null once it is forgotten. */
  code: string | null;
  /** The JSON text as received; null when there was none. */
  metadataJson: string | null;
  /** Values of parameters of the scene; null: none were given. */
  params: Readonly<Record<string, unknown>> | null;
  /** The plays of its scene, once it has completed. */
  plays: Play[];
  /** What it makes: `mp4`, and the other formats of the request. */
  formats: JobFormat[];
  /** The first play of its video, counted from 0; null: the first one of the scene. */
  fromPlay: number | null;
  /** The last play of its video; null: the last one of the scene. */
  toPlay: number | null;
}

export function accountInfo(account: Account): AccountInfo {
  const {
    accountId,
    email,
    createdAtMs,
    disabledAtMs,
    role = 'member',
    passwordHash,
    totpSecretSealed,
    maxQueued,
    maxFilesMb,
    maxScenes,
    issuer,
    subject,
  } = account;
  return {
    userId: accountId,
    email,
    createdAt: isoTime(createdAtMs),
    disabledAt: disabledAtMs === undefined ? null : isoTime(disabledAtMs),
    role,
    hasPassword: passwordHash !== undefined,
    hasTwoFactor: totpSecretSealed !== undefined,
    recoveryCodes: recoveryCodesLeft(account),
    maxQueued: maxQueued ?? null,
    maxFilesMb: maxFilesMb ?? null,
    maxScenes: maxScenes ?? null,
    identity: issuer === undefined || subject === undefined ? null : { issuer, subject },
  };
}

export function keyInfo(
  record: KeyRecord,
  { account, state, lastUsedAtMs }: Pick<KeyInfo, 'account' | 'state'> & { lastUsedAtMs: number | undefined },
): KeyInfo {
  return {
    keyId: record.keyId,
    keyPrefix: record.prefix,
    name: record.name,
    account,
    webhookUrl: record.webhookUrl,
    createdAt: isoTime(record.createdAtMs),
    scopes: record.scopes,
    expiresAt: record.expiresAtMs === null ? null : isoTime(record.expiresAtMs),
    revokedAt: record.revokedAtMs === null ? null : isoTime(record.revokedAtMs),
    state,
    lastUsedAt: lastUsedAtMs === undefined ? null : isoTime(lastUsedAtMs),
  };
}

export function jobInfo(
  job: Job,
  account: string,
  { assetUrl, progress }: { assetUrl: string; progress: RenderProgress | undefined },
): JobInfo {
  const { jobId, status, className, quality, aspectRatio, fps, attempts, creditsCost, durationMs } = job;
  const { title, tags, starred, project } = job;
  return {
    jobId,
    account,
    status,
    className,
    title,
    tags,
    starred,
    project,
    quality,
    aspectRatio,
    fps,
    attempts,
    creditsCost,
    durationMs,
    videoSeconds: job.usage?.videoSeconds ?? null,
    artifacts: job.artifacts.map(({ name, sizeBytes }) => ({
      name,
      sizeBytes,
      url: `${assetUrl}/artifacts/${jobId}/${name}`,
    })),
    error: job.error,
    failedBy: job.failedBy,
    webhookUrl: job.webhookUrl,
    createdAt: job.createdAt,
    completedAt: job.completedAt,
    forgottenAt: job.forgottenAt ?? null,
    progress: progress ?? null,
  };
}

export function statementLine(entry: LedgerEntry): StatementLine {
  const { entryId, kind, amountCredits, chargedCredits, jobId, note, atMs } = entry;
  return { entryId, at: isoTime(atMs), kind, amountCredits, chargedCredits, jobId, note };
}

export function historyLine(entry: LedgerEntry, job: Job | null): HistoryLine {
  const { entryId, kind, note, atMs } = entry;
  const changes = { settle: -entry.chargedCredits, void: 0 } as Partial<Record<LedgerEntry['kind'], number>>;
  return {
    entryId,
    at: isoTime(atMs),
    kind,
    changeCredits: changes[kind] ?? entry.amountCredits,
    note,
    job: job && {
      jobId: job.jobId,
      status: job.status,
      failedBy: job.failedBy,
      forgottenAt: job.forgottenAt ?? null,
      className: job.className,
      quality: job.quality,
      durationMs: job.durationMs,
    },
    isOfPictures: entry.jobId !== null && isSnapshotId(entry.jobId),
  };
}
