import { isScenepressError } from '../../base/errors.ts';

/**
 * Runs a step that finishes work, and retries it once when the disk is full: by then the reserved space has been
 * released.
 */
export async function withSpareSpace<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isScenepressError(error, 'storage_full')) throw error;
    return step();
  }
}
