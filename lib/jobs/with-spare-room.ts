import { isScenepressError } from '../errors.ts';

/** Runs a step that ends something, once more where it found the disk full: by then the spare room is given up for it. */
export async function withSpareRoom<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isScenepressError(error, 'storage_full')) throw error;
    return step();
  }
}
