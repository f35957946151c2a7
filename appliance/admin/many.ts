import type { ErrorCode } from '../../lib/index.ts';
import { isScenepressError } from '../../lib/internal.ts';

/** Jobs of a selection for which an operation failed. */
export interface Problem {
  jobId: string;
  code: ErrorCode;
  message: string;
}

const AT_ONCE = 8;

/** Applies an operation to each of several jobs; one that fails doesn't stop the others. */
export async function forEachJob(
  jobIds: string[],
  operation: (request: { jobId: string }) => Promise<unknown>,
): Promise<{ done: string[]; problems: Problem[] }> {
  const done: string[] = [];
  const problems: Problem[] = [];
  const apply = async (jobId: string) => {
    try {
      await operation({ jobId });
      done.push(jobId);
    } catch (error) {
      if (!isScenepressError(error)) throw error;
      problems.push({ jobId, code: error.code, message: error.message });
    }
  };
  const waiting = [...new Set(jobIds)];
  while (waiting.length > 0) await Promise.all(waiting.splice(0, AT_ONCE).map(apply));
  return { done, problems };
}
