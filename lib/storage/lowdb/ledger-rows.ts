import type { LedgerEntry } from '../../ledger/ledger-store.ts';

export const ENTRIES = 'ledgerEntries';

/** Entries stand together by job, so that books can be read along with reserves and jobs. */
export function rowIdOf({ jobId, entryId }: LedgerEntry): string {
  return `${jobId ?? ''}\0${entryId}`;
}
