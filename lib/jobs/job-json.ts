import { ARTIFACT_NAMES, ARTIFACTS } from '../artifacts.ts';
import type { Job } from './job.ts';

/**
 * A job as JSON text (contract §2.3), the body of `GET` responses and webhooks. Text instead of an object, so the
 * metadata is embedded verbatim. `assetUrl`: the base URL of links, without a trailing slash.
 */
export function jobJson(job: Job, assetUrl: string): string {
  const { status, creditsCost, durationMs, error, metadataJson, createdAt, completedAt } = job;
  const jobId = JSON.stringify(job.jobId);
  const result = status === 'completed' ? resultJson(job, assetUrl) : 'null';
  return (
    `{"jobId":${jobId},"endpoint":"render","status":"${status}","creditsCost":${JSON.stringify(creditsCost)},` +
    `"durationMs":${JSON.stringify(durationMs)},"result":${result},"error":${JSON.stringify(error)},` +
    `"metadata":${metadataJson ?? 'null'},"createdAt":"${createdAt}",` +
    `"completedAt":${completedAt === null ? 'null' : `"${completedAt}"`}}`
  );
}

/** Links to the existing artifacts: a job without captions has no `captions`. */
function resultJson({ jobId, artifacts }: Job, assetUrl: string): string {
  const start = JSON.stringify(`${assetUrl}/artifacts/${jobId}/`).slice(0, -1);
  let links = '';
  for (const name of ARTIFACT_NAMES) {
    if (artifacts.some((artifact) => artifact.name === name))
      links += `${links === '' ? '' : ','}"${ARTIFACTS[name].field}":${start}${name}"`;
  }
  return `{${links}}`;
}
