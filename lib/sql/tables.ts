import type { IdempotentRequest, JobRecord } from '../jobs/job.ts';
import type { KeyUse } from '../keys/key-use-store.ts';
import type { Grant, LedgerAccount, LedgerEntry } from '../ledger/ledger-store.ts';
import type { Claim } from '../queue/queue.ts';
import type { Play } from '../render/run/messages.ts';
import type { Act } from '../sign-in/act-store.ts';
import type { SessionRecord } from '../sign-in/session-store.ts';
import type { DeliveryRecord } from '../webhooks/delivery.ts';
import { RowFormat } from './row-format.ts';

export const JOBS: RowFormat<JobRecord> = new RowFormat<JobRecord>(
  'jobs',
  {
    jobId: 'plain',
    owner: 'plain',
    phase: 'plain',
    className: 'sealed',
    quality: 'plain',
    aspectRatio: 'plain',
    fps: 'plain',
    metadataJson: 'sealed',
    webhookUrl: 'sealed',
    keyId: 'plain',
    webhookSecretSealed: 'optional',
    reserveCredits: 'plain',
    attempts: 'plain',
    interruptions: 'optional',
    token: 'optional',
    createdAtMs: 'whole',
    startedAtMs: 'whole',
    completedAtMs: 'whole',
    durationMs: 'whole',
    creditsCost: 'plain',
    outcome: 'sealed',
    artifacts: 'json',
    error: 'sealed',
    usage: 'sealed',
    failedBy: 'optional',
    forgottenAtMs: 'optional',
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
}>('sources', { jobId: 'plain', code: 'sealed' });

interface TraceRow {
  jobId: string;
  plays: Play[];
  output: string;
}
export const TIMELINES: RowFormat<TraceRow> = new RowFormat<TraceRow>('timelines', {
  jobId: 'plain',
  plays: 'sealed',
  output: 'sealed',
});

type RequestRow = Omit<IdempotentRequest, 'key'> & { keyHash: string };
export const REQUESTS: RowFormat<RequestRow> = new RowFormat<RequestRow>(
  'idempotent_requests',
  {
    owner: 'plain',
    keyHash: 'plain',
    fingerprint: 'plain',
    jobId: 'plain',
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
  jobId: 'plain',
  owner: 'plain',
  interruptions: 'plain',
  notBeforeMs: 'whole',
  token: 'plain',
  worker: 'plain',
  lapsesAtMs: 'whole',
});

export function claimOf({ jobId, owner, token, interruptions }: QueueRow): Claim {
  return { jobId, owner, token, interruptions };
}

export const DELIVERIES: RowFormat<DeliveryRecord> = new RowFormat<DeliveryRecord>('deliveries', {
  deliveryId: 'plain',
  jobId: 'plain',
  owner: 'plain',
  keyId: 'plain',
  secretSealed: 'optional',
  event: 'plain',
  url: 'sealed',
  host: 'plain',
  createdAtMs: 'whole',
  repeats: 'plain',
  mostAttempts: 'plain',
  token: 'plain',
  attempts: 'json',
  dueAtMs: 'whole',
  deliveredAtMs: 'whole',
});
export const BODIES: RowFormat<{ deliveryId: string; body: string }> = new RowFormat<{
  deliveryId: string;
  body: string;
}>('delivery_bodies', {
  deliveryId: 'plain',
  body: 'sealed',
});
export const EXCHANGES: RowFormat<{ deliveryId: string; exchanges: string }> = new RowFormat<{
  deliveryId: string;
  /** JSON. */
  exchanges: string;
}>('delivery_exchanges', {
  deliveryId: 'plain',
  exchanges: 'sealed',
});

type AccountRow = Omit<LedgerAccount, 'grants'>;
export const ACCOUNTS: RowFormat<AccountRow> = new RowFormat<AccountRow>('ledger_accounts', {
  owner: 'plain',
  period: 'plain',
});
type GrantRow = Grant & { owner: string };
export const GRANTS: RowFormat<GrantRow> = new RowFormat<GrantRow>(
  'grants',
  { owner: 'plain', grantId: 'plain', source: 'plain', period: 'plain', remainingCredits: 'plain' },
  { keyColumns: 2, derived: { is_spent: ({ remainingCredits }) => Number(remainingCredits === 0) } },
);
export const ENTRIES: RowFormat<LedgerEntry> = new RowFormat<LedgerEntry>(
  'ledger_entries',
  {
    owner: 'plain',
    entryId: 'plain',
    kind: 'plain',
    amountCredits: 'plain',
    chargedCredits: 'plain',
    jobId: 'plain',
    parts: 'json',
    note: 'json',
    atMs: 'whole',
  },
  {
    keyColumns: 2,
    derived: { grant_id: ({ kind, parts }) => (kind === 'grant' ? (parts[0]?.grantId ?? null) : null) },
  },
);

export const SESSIONS: RowFormat<SessionRecord> = new RowFormat<SessionRecord>('sessions', {
  tokenHash: 'plain',
  accountId: 'plain',
  createdAtMs: 'whole',
  expiresAtMs: 'whole',
});
export const ACTS: RowFormat<Act> = new RowFormat<Act>('acts', {
  actId: 'plain',
  atMs: 'whole',
  actor: 'plain',
  action: 'plain',
  subject: 'plain',
  address: 'plain',
});
export const KEY_USES: RowFormat<KeyUse> = new RowFormat<KeyUse>('key_uses', {
  keyId: 'plain',
  usedAtMs: 'whole',
});
