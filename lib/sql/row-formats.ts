import type { Act } from '../accounts/act-store.ts';
import type { SessionRecord } from '../accounts/session-store.ts';
import type { KeyUse } from '../keys/key-use-store.ts';
import type { Grant, LedgerAccount, LedgerEntry } from '../ledger/ledger-store.ts';
import type { AssignmentCopy, AssignmentRecord } from '../model/assignment.ts';
import type { ClassLinkRecord, ClassSeatRecord } from '../model/class-link.ts';
import type { IdempotentRequest, JobRecord } from '../model/job.ts';
import type { FileRecord, FileSet } from '../model/owner-file.ts';
import type { Play } from '../model/renderer-messages.ts';
import type { DraftRecord, SceneRecord, VersionRecord } from '../model/scene.ts';
import type { ShareRecord } from '../model/share.ts';
import type { SnapshotRecord } from '../model/snapshot.ts';
import type { DeliveryRecord } from '../storage/delivery.ts';
import type { Claim } from '../storage/queue/queue.ts';
import { RowFormat } from './row-format.ts';

export const JOBS: RowFormat<JobRecord> = new RowFormat<JobRecord>(
  'jobs',
  {
    jobId: 'text',
    owner: 'text',
    phase: 'text',
    className: 'sealed',
    quality: 'text',
    aspectRatio: 'text',
    fps: 'number',
    title: 'sealed',
    tags: 'sealed',
    seed: 'sealed',
    metadataJson: 'sealed',
    webhookUrl: 'sealed',
    keyId: 'text',
    webhookSecretSealed: 'optionalText',
    reserveCredits: 'number',
    attempts: 'number',
    interruptions: 'optionalNumber',
    token: 'optionalNumber',
    createdAtMs: 'whole',
    startedAtMs: 'whole',
    completedAtMs: 'whole',
    durationMs: 'whole',
    creditsCost: 'number',
    outcome: 'sealed',
    artifacts: 'json',
    error: 'sealed',
    usage: 'sealed',
    failedBy: 'optionalText',
    forgottenAtMs: 'optionalNumber',
    diagnosis: 'sealed',
    // Last, because the texts of rows from before end with the ones above.
    traceContext: 'sealed',
    params: 'sealed',
    formats: 'sealed',
    selection: 'sealed',
    audio: 'sealed',
    starred: 'sealed',
    project: 'sealed',
    captions: 'sealed',
  },
  {
    derived: {
      has_outcome: ({ outcome }) => Number(outcome !== null),
      has_error: ({ error }) => Number(error !== null),
    },
  },
);

export const SOURCES: RowFormat<{ jobId: string; code: string }> = new RowFormat<{
  jobId: string;
  code: string;
}>('sources', { jobId: 'text', code: 'sealed' });

interface TraceRow {
  jobId: string;
  plays: Play[];
  output: string;
}
export const TIMELINES: RowFormat<TraceRow> = new RowFormat<TraceRow>('timelines', {
  jobId: 'text',
  plays: 'sealed',
  output: 'sealed',
});

export const SNAPSHOTS: RowFormat<SnapshotRecord> = new RowFormat<SnapshotRecord>('snapshots', {
  snapshotId: 'text',
  owner: 'text',
  phase: 'text',
  reserveCredits: 'number',
  costCredits: 'number',
  createdAtMs: 'whole',
  dueAtMs: 'whole',
  files: 'json',
});

export const FILES: RowFormat<FileRecord> = new RowFormat<FileRecord>('files', {
  fileId: 'text',
  owner: 'text',
  name: 'text',
  phase: 'text',
  kind: 'text',
  sizeBytes: 'number',
  sha256: 'text',
  contentId: 'text',
  createdAtMs: 'whole',
  dueAtMs: 'whole',
});
export const FILE_SETS: RowFormat<FileSet> = new RowFormat<FileSet>(
  'file_sets',
  {
    setId: 'text',
    owner: 'text',
    entries: 'json',
  },
  { derived: { size: ({ entries }) => entries.length } },
);
interface JobFilesRow {
  jobId: string;
  setId: string;
}
export const JOB_FILES: RowFormat<JobFilesRow> = new RowFormat<JobFilesRow>('job_files', {
  jobId: 'text',
  setId: 'text',
});

type ShareRow = Omit<ShareRecord, 'jobIds' | 'views'>;
export const SHARES: RowFormat<ShareRow> = new RowFormat<ShareRow>('shares', {
  shareId: 'text',
  owner: 'text',
  tokenHash: 'text',
  visibility: 'text',
  allowDownload: 'number',
  createdAtMs: 'whole',
  expiresAtMs: 'whole',
  revokedAtMs: 'whole',
  token: 'sealed',
  title: 'sealed',
  description: 'sealed',
  poster: 'sealed',
});
interface ShareJobRow {
  shareId: string;
  place: number;
  jobId: string;
}
export const SHARE_JOBS: RowFormat<ShareJobRow> = new RowFormat<ShareJobRow>(
  'share_jobs',
  { shareId: 'text', place: 'number', jobId: 'text' },
  { keyColumns: 2 },
);
interface ShareViewsRow {
  shareId: string;
  views: number;
}
export const SHARE_VIEWS: RowFormat<ShareViewsRow> = new RowFormat<ShareViewsRow>('share_views', {
  shareId: 'text',
  views: 'number',
});
export const SCENES: RowFormat<SceneRecord> = new RowFormat<SceneRecord>('scenes', {
  sceneId: 'text',
  owner: 'text',
  name: 'sealed',
  revision: 'number',
  draftBytes: 'number',
  createdAtMs: 'whole',
  changedAtMs: 'whole',
});
export const SCENE_DRAFTS: RowFormat<DraftRecord> = new RowFormat<DraftRecord>(
  'scene_drafts',
  {
    sceneId: 'text',
    revision: 'number',
    savedAtMs: 'whole',
    sizeBytes: 'number',
    className: 'sealed',
    code: 'sealed',
    settings: 'sealed',
  },
  { keyColumns: 2 },
);
export const SCENE_VERSIONS: RowFormat<VersionRecord> = new RowFormat<VersionRecord>('scene_versions', {
  jobId: 'text',
  sceneId: 'text',
  number: 'number',
  revision: 'number',
});

export const ASSIGNMENTS: RowFormat<AssignmentRecord> = new RowFormat<AssignmentRecord>('assignments', {
  assignmentId: 'text',
  owner: 'text',
  tokenHash: 'text',
  classLinkId: 'text',
  createdAtMs: 'whole',
  expiresAtMs: 'whole',
  revokedAtMs: 'whole',
  token: 'sealed',
  title: 'sealed',
  instructions: 'sealed',
  className: 'sealed',
  code: 'sealed',
  settings: 'sealed',
});
export const ASSIGNMENT_COPIES: RowFormat<AssignmentCopy> = new RowFormat<AssignmentCopy>(
  'assignment_copies',
  { assignmentId: 'text', owner: 'text', sceneId: 'text', openedAtMs: 'whole' },
  { keyColumns: 2 },
);
export const CLASS_LINKS: RowFormat<ClassLinkRecord> = new RowFormat<ClassLinkRecord>('class_links', {
  classLinkId: 'text',
  owner: 'text',
  tokenHash: 'text',
  seats: 'number',
  creditsPerSeat: 'number',
  createdAtMs: 'whole',
  expiresAtMs: 'whole',
  revokedAtMs: 'whole',
  token: 'sealed',
  name: 'sealed',
});
export const CLASS_SEATS: RowFormat<ClassSeatRecord> = new RowFormat<ClassSeatRecord>(
  'class_seats',
  { classLinkId: 'text', accountId: 'text', takenAtMs: 'whole', joinedAtMs: 'whole' },
  { keyColumns: 2 },
);

type RequestRow = Omit<IdempotentRequest, 'key'> & { keyHash: string };
export const REQUESTS: RowFormat<RequestRow> = new RowFormat<RequestRow>(
  'idempotent_requests',
  {
    owner: 'text',
    keyHash: 'text',
    fingerprint: 'text',
    jobId: 'text',
    createdAtMs: 'whole',
  },
  { keyColumns: 2 },
);

/** A waiting job, or a running one when `worker` is set. */
export interface QueueRow extends Claim {
  notBeforeMs: number | null;
  worker: string | null;
  lapsesAtMs: number | null;
}
export const QUEUE: RowFormat<QueueRow> = new RowFormat<QueueRow>('queue', {
  jobId: 'text',
  owner: 'text',
  interruptions: 'number',
  notBeforeMs: 'whole',
  token: 'number',
  worker: 'text',
  lapsesAtMs: 'whole',
});

export function claimOf({ jobId, owner, token, interruptions }: QueueRow): Claim {
  return { jobId, owner, token, interruptions };
}

export const DELIVERIES: RowFormat<DeliveryRecord> = new RowFormat<DeliveryRecord>('deliveries', {
  deliveryId: 'text',
  jobId: 'text',
  owner: 'text',
  keyId: 'text',
  secretSealed: 'optionalText',
  event: 'text',
  url: 'sealed',
  host: 'text',
  createdAtMs: 'whole',
  repeats: 'text',
  mostAttempts: 'number',
  token: 'number',
  attempts: 'json',
  dueAtMs: 'whole',
  deliveredAtMs: 'whole',
  traceContext: 'sealed',
});
export const BODIES: RowFormat<{ deliveryId: string; body: string }> = new RowFormat<{
  deliveryId: string;
  body: string;
}>('delivery_bodies', {
  deliveryId: 'text',
  body: 'sealed',
});
export const EXCHANGES: RowFormat<{ deliveryId: string; exchanges: string }> = new RowFormat<{
  deliveryId: string;
  /** JSON. */
  exchanges: string;
}>('delivery_exchanges', {
  deliveryId: 'text',
  exchanges: 'sealed',
});

type AccountRow = Omit<LedgerAccount, 'grants'>;
export const ACCOUNTS: RowFormat<AccountRow> = new RowFormat<AccountRow>('ledger_accounts', {
  owner: 'text',
  period: 'text',
});
type GrantRow = Grant & { owner: string };
export const GRANTS: RowFormat<GrantRow> = new RowFormat<GrantRow>(
  'grants',
  { owner: 'text', grantId: 'text', source: 'text', period: 'text', remainingCredits: 'number' },
  { keyColumns: 2, derived: { is_spent: ({ remainingCredits }) => Number(remainingCredits === 0) } },
);
export const ENTRIES: RowFormat<LedgerEntry> = new RowFormat<LedgerEntry>(
  'ledger_entries',
  {
    owner: 'text',
    entryId: 'text',
    kind: 'text',
    amountCredits: 'number',
    chargedCredits: 'number',
    jobId: 'text',
    parts: 'json',
    note: 'json',
    atMs: 'whole',
  },
  {
    keyColumns: 2,
    derived: { grant_id: ({ kind, parts }) => (kind === 'grant' ? (parts[0]?.grantId ?? null) : null) },
  },
);

export const SESSIONS: RowFormat<SessionRecord> = new RowFormat<SessionRecord>(
  'sessions',
  {
    tokenHash: 'text',
    accountId: 'text',
    createdAtMs: 'whole',
    expiresAtMs: 'whole',
    browser: 'text',
    address: 'text',
  },
  { added: { browser: null, address: null } },
);
export const ACTS: RowFormat<Act> = new RowFormat<Act>('acts', {
  actId: 'text',
  atMs: 'whole',
  actor: 'text',
  action: 'text',
  subject: 'text',
  address: 'text',
});
export const KEY_USES: RowFormat<KeyUse> = new RowFormat<KeyUse>('key_uses', {
  keyId: 'text',
  usedAtMs: 'whole',
});
