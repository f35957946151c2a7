import type { ArtifactName, Job } from './job.ts';

/** The fields of `result`, and the artifacts they link to (contract §2.3). */
const RESULT_FIELDS: Record<string, ArtifactName> = {
  video: 'video.mp4',
  thumbnail: 'thumbnail.jpg',
  captions: 'captions.vtt',
};

/**
 * A job as JSON text (contract §2.3): what `GET` answers, and what a webhook carries. Text, not an object, because the
 * metadata goes in as the text it was received as. `assetUrl`: what links begin with, without a slash at the end.
 */
export function jobJson(job: Job, assetUrl: string): string {
  const { jobId, status, creditsCost, durationMs, error, createdAt, completedAt } = job;
  const result = status === 'completed' ? resultOf(job, assetUrl) : null;
  const before = JSON.stringify({
    jobId,
    endpoint: 'render',
    status,
    creditsCost,
    durationMs,
    result,
    error,
  });
  const after = JSON.stringify({ createdAt, completedAt });
  return `${before.slice(0, -1)},"metadata":${job.metadataJson ?? 'null'},${after.slice(1)}`;
}

/** Links to the artifacts that are there: a job without captions has no `captions`. */
function resultOf({ jobId, artifacts }: Job, assetUrl: string): Record<string, string> {
  const links = Object.entries(RESULT_FIELDS)
    .filter(([, name]) => artifacts.some((artifact) => artifact.name === name))
    .map(([field, name]) => [field, `${assetUrl}/artifacts/${jobId}/${name}`]);
  return Object.fromEntries(links);
}
