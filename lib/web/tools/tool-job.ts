import type { Job } from '../../model/job.ts';
import { type ArtifactLinks, jobJsonOfAll } from '../../model/job-json.ts';

/** A job as JSON text: that of the contract, and what the tools API adds. */
export function toolJobJson(job: Job, links: ArtifactLinks, more: Record<string, unknown> = {}): string {
  const {
    className,
    quality,
    aspectRatio,
    fps,
    title,
    tags,
    starred,
    project,
    seed,
    params,
    audio,
    formats,
  } = job;
  const { fromPlay, toPlay, poster, stills } = job;
  const { attempts, startedAt, diagnosis } = job;
  const failure =
    job.failedBy === null ? null : { kind: job.failedBy === 'cancel' ? 'canceled' : job.failedBy };
  const added = {
    ...{ className, quality, aspectRatio, fps, title, tags, starred, project, seed, params, audio, formats },
    ...{ fromPlay, toPlay, poster, stills },
    ...{ attempts, startedAt, failure, diagnosis },
    ...more,
  };
  // Text, because the metadata is passed on verbatim.
  return `${jobJsonOfAll(job, links).slice(0, -1)},${JSON.stringify(added).slice(1)}`;
}
