import { type Clock, delay } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import type { Confirmation, Confirmations } from './confirmations.ts';
import type { Connections } from './connections.ts';
import { RETRY_AFTER_MS } from './errors.ts';

const LOOK_AGAIN_MS = 50;

/**
 * Finds out whether the transaction with this id was committed, whose commit failed. Error: `storage_failed` when the
 * database cannot be reached for `retryForMs`.
 */
export async function isCommitted(
  { id, confirmation }: { id: string; confirmation: Confirmation },
  { confirmations, connections }: { confirmations: Confirmations; connections: Connections },
  { clock, retryForMs, connectTimeoutMs }: { clock: Clock; retryForMs: number; connectTimeoutMs: number },
): Promise<boolean> {
  const untilMs = clock.uptimeMs() + retryForMs;
  let cause: unknown;
  do {
    try {
      const fate = await connections.alone((client) =>
        confirmations.find(client, id, confirmation, { query_timeout: connectTimeoutMs }),
      );
      if (fate) return fate === 'committed';
    } catch (error) {
      cause = error;
    }
    await delay(clock, LOOK_AGAIN_MS);
  } while (clock.uptimeMs() < untilMs);
  const message =
    'The connection to Postgres failed during a commit; it is unknown whether anything was changed.';
  throw new ScenepressError('storage_failed', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
