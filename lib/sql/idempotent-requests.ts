import { createHash } from 'node:crypto';
import type { IdempotentRequest } from '../model/job.ts';
import type { SqlTransaction } from '../storage/sql.ts';
import { REQUESTS } from './row-formats.ts';

/** Requests removed by a statement, which has a time limit. */
const MOST_REMOVED = 1000;

/** The first request of an owner with a key; locks it, or its absence. */
export async function idempotentRequest(
  inside: SqlTransaction,
  owner: string,
  key: string,
): Promise<IdempotentRequest | undefined> {
  const keyHash = hashOf(key);
  // A missing row cannot be locked, and a new request would replace one that is added at the same time.
  const [, row] = await Promise.all([
    inside.lock(`request ${keyHash} of ${owner}`),
    inside.get(REQUESTS.byKey, owner, keyHash),
  ]);
  if (!row) return undefined;
  const { keyHash: _, ...request } = REQUESTS.record(row);
  return { ...request, key };
}

/** Replaces an earlier request with the same key. */
export function putIdempotentRequest(inside: SqlTransaction, { key, ...rest }: IdempotentRequest): void {
  const keyHash = hashOf(key);
  inside.write('DELETE FROM idempotent_requests WHERE owner = ? AND key_hash = ?', rest.owner, keyHash);
  inside.write(REQUESTS.insert, ...REQUESTS.row({ ...rest, keyHash }));
}

/** Returns whether there may be more. */
export async function removeIdempotentRequests(
  inside: SqlTransaction,
  createdBeforeMs: number,
): Promise<boolean> {
  const removed = await inside.run(
    `DELETE FROM idempotent_requests WHERE (owner, key_hash) IN (
       SELECT owner, key_hash FROM idempotent_requests WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?)`,
    createdBeforeMs,
    MOST_REMOVED,
  );
  return removed === MOST_REMOVED;
}

/** Keys are hashed, because they may contain confidential data. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
