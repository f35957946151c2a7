import { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName, CONTRACT_ARTIFACTS } from './artifacts.ts';
import type { Job } from './job.ts';

/** Makes the link to an artifact in `result`. Called in the transaction that ends a job, so it is synchronous. */
export type ArtifactUrl = (artifact: {
  jobId: string;
  owner: string;
  name: ArtifactName;
  /** Its key in the asset store. */
  assetKey: string;
}) => string;

/** Base URL of artifact links, without a trailing slash, or a function that makes each link. */
export type ArtifactLinks = string | ArtifactUrl;

/** What {@link jobJson} needs of a job. */
export type JobContent = Pick<
  Job,
  | 'jobId'
  | 'owner'
  | 'status'
  | 'creditsCost'
  | 'durationMs'
  | 'artifacts'
  | 'error'
  | 'metadataJson'
  | 'createdAt'
  | 'completedAt'
>;

/**
 * A job as JSON text (contract §2.3), the body of `GET` responses and webhooks. Text instead of an object, so the
 * metadata is embedded verbatim. `links`: `<base URL>/artifacts/<jobId>/<name>`, or what a function returns.
 *
 * ```ts
 * const text = jobJson(await service.get(jobId), 'https://renders.example.org');
 * ```
 */
export function jobJson(job: JobContent, links: ArtifactLinks): string {
  return jobJsonWith(CONTRACT_ARTIFACTS, job, links);
}

/** As {@link jobJson}, with links to all artifacts. */
export function jobJsonOfAll(job: JobContent, links: ArtifactLinks): string {
  return jobJsonWith(ARTIFACT_NAMES, job, links);
}

function jobJsonWith(names: readonly ArtifactName[], job: JobContent, links: ArtifactLinks): string {
  const { status, creditsCost, durationMs, error, metadataJson, createdAt, completedAt } = job;
  const jobId = JSON.stringify(job.jobId);
  const result = status === 'completed' ? resultJson(names, job, links) : 'null';
  return (
    `{"jobId":${jobId},"endpoint":"render","status":"${status}","creditsCost":${JSON.stringify(creditsCost)},` +
    `"durationMs":${JSON.stringify(durationMs)},"result":${result},"error":${JSON.stringify(error)},` +
    `"metadata":${metadataJson ?? 'null'},"createdAt":"${createdAt}",` +
    `"completedAt":${completedAt === null ? 'null' : `"${completedAt}"`}}`
  );
}

/** Links to those of these artifacts that exist: a job without captions has no `captions`. */
function resultJson(
  names: readonly ArtifactName[],
  { jobId, owner, artifacts }: JobContent,
  links: ArtifactLinks,
): string {
  const start = typeof links === 'string' ? JSON.stringify(`${links}/artifacts/${jobId}/`).slice(0, -1) : '';
  let members = '';
  for (const name of names) {
    const assetKey = artifacts.find((artifact) => artifact.name === name)?.assetKey;
    if (assetKey === undefined) continue;
    const link =
      typeof links === 'string'
        ? `${start}${name}"`
        : JSON.stringify(String(links({ jobId, owner, name, assetKey })));
    members += `${members === '' ? '' : ','}"${ARTIFACTS[name].field}":${link}`;
  }
  return `{${members}}`;
}
