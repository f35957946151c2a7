import { ScenepressError } from '../base/errors.ts';
import type { ShareChanges } from '../model/share-requests.ts';
import { MOST_JOBS_OF_SHARE } from './share-rules.ts';

/**
 * The jobs of a share after changes of its videos, in their order. Errors: `not_found` for a video to move that it does not have;
 * `conflict` without a video or with too many.
 */
export function changedVideos(
  before: readonly string[],
  { jobIds = [...before], addJobIds = [], removeJobIds = [], moveJob }: ShareChanges,
): string[] {
  const removed = new Set(removeJobIds);
  const changed = [...new Set([...jobIds.filter((jobId) => !removed.has(jobId)), ...addJobIds])];
  if (changed.length === 0)
    throw new ScenepressError('conflict', 'A share has at least one video. Revoke or remove it instead.');
  if (changed.length > MOST_JOBS_OF_SHARE)
    throw new ScenepressError(
      'conflict',
      `A share has at most ${MOST_JOBS_OF_SHARE} videos. Take some out, or make another one.`,
    );
  if (!moveJob) return changed;
  const { jobId, place } = moveJob;
  if (!changed.includes(jobId)) throw new ScenepressError('not_found', 'The share has no such video.');
  return changed.filter((each) => each !== jobId).toSpliced(place, 0, jobId);
}
