import type { DraftState } from '../model/scene.ts';

/** Drafts that are kept besides the current one. */
export const MOST_EARLIER = 50;
/** Bytes of all earlier drafts of a scene. */
export const MOST_EARLIER_BYTES: number = 4 * 1024 ** 2;
/** A draft that was current for a shorter time is a step of typing. */
const STEP_MS = 10_000;
/** Of these steps, one is kept after so much time. */
const BETWEEN_STEPS_MS = 60_000;

/**
 * The revisions that a new draft displaces. `drafts`: those that there are, the newest first. What was current for a while is
 * kept, of autosaved steps only one a minute; then the newest ones that fit. `keepsLast`: the newest is no such step.
 */
export function displacedBy(
  drafts: readonly DraftState[],
  { savedAtMs, keepsLast }: { savedAtMs: number; keepsLast: boolean },
): number[] {
  const [last, before] = drafts;
  const isStep =
    !keepsLast &&
    last !== undefined &&
    before !== undefined &&
    savedAtMs - last.savedAtMs < STEP_MS &&
    last.savedAtMs - before.savedAtMs < BETWEEN_STEPS_MS;
  let [count, bytes] = [0, 0];
  const displaced: number[] = [];
  for (const [index, { revision, sizeBytes }] of drafts.entries()) {
    const isKept =
      !(isStep && index === 0) && count < MOST_EARLIER && bytes + sizeBytes <= MOST_EARLIER_BYTES;
    if (!isKept) displaced.push(revision);
    else {
      count += 1;
      bytes += sizeBytes;
    }
  }
  return displaced;
}
