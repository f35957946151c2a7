import { isScenepressError, ScenepressError } from '../base/errors.ts';
import type { Readable } from '../base/node-types.ts';
import { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName } from '../model/artifacts.ts';
import type { Artifact } from '../model/job.ts';
import type { RenderService } from '../service/render-service.ts';
import { byteRangeOf } from './byte-range.ts';
import { HttpRejection } from './http-errors.ts';

/** The response to a request for an artifact. */
export type ArtifactAnswer =
  | {
      status: 200 | 206;
      /** Names in lower case. */
      headers: Record<string, string>;
      /** Must be read to its end or destroyed. */
      stream: Readable;
      /** Number of bytes of the stream. */
      sizeBytes: number;
    }
  | { status: 307; headers: Record<string, string>; stream: undefined };

/** Where clients can fetch an artifact; undefined: here. */
export type RedirectTo = (artifact: Artifact) => Promise<string | undefined> | string | undefined;

/** Of pages: artifacts share the origin of the dashboard, whose cookies and storage no script of them may reach. */
const SANDBOX = 'sandbox allow-scripts allow-modals';

/** Headers of artifacts that pages of any origin may read. */
export const ARTIFACT_EXPOSED_HEADERS: string[] = [
  'Accept-Ranges',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Request-Id',
];

/**
 * Opens an artifact for a request with these headers, or redirects a GET request. Errors: `not_found`,
 * `artifact_gone`, 416.
 */
export async function artifactAnswer(
  { service, redirectTo }: { service: Pick<RenderService, 'get' | 'openArtifact'>; redirectTo?: RedirectTo },
  jobId: string,
  fileName: string,
  headers: { isHead: boolean; range: string | undefined; ifRange: string | undefined },
): Promise<ArtifactAnswer> {
  const name = ARTIFACT_NAMES.find((name) => name === fileName);
  // No text of a database may contain NUL.
  const artifact = name && !jobId.includes('\0') && (await findArtifact(service, jobId, name));
  if (!artifact) throw new ScenepressError('not_found', 'There is no such artifact.');
  const location = headers.isHead ? undefined : await redirectTo?.(artifact);
  if (location !== undefined) {
    return { status: 307, headers: { location, 'cache-control': 'no-store' }, stream: undefined };
  }

  // Artifacts are immutable, so the URL identifies the content.
  const etag = `"${jobId}-${artifact.name}"`;
  const wholeOnly = headers.ifRange !== undefined && headers.ifRange !== etag;
  const range = wholeOnly ? undefined : byteRangeOf(headers.range, artifact.sizeBytes);
  if (range === 'unsatisfiable') {
    throw new HttpRejection(
      416,
      { error: 'Requested Range Not Satisfiable', message: 'The artifact ends before this range.' },
      { 'content-range': `bytes */${artifact.sizeBytes}` },
    );
  }
  const opened = await service.openArtifact(jobId, artifact.name, range ? { range } : {});
  return {
    status: range ? 206 : 200,
    headers: {
      'content-type': ARTIFACTS[artifact.name].contentType,
      etag,
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      ...(isPage(artifact.name) && { 'content-security-policy': SANDBOX }),
      ...(!isShownInline(artifact.name) && {
        'content-disposition': `attachment; filename="${artifact.name}"`,
      }),
      ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${opened.sizeBytes}` }),
    },
    stream: opened.stream,
    sizeBytes: range ? range.end - range.start + 1 : opened.sizeBytes,
  };
}

/** Browsers play and show these; others are saved. Only a page can contain a script. */
function isShownInline(name: ArtifactName): boolean {
  return isPage(name) || /^(?:video|audio|image|text\/vtt)\b/.test(ARTIFACTS[name].contentType);
}

function isPage(name: ArtifactName): boolean {
  return ARTIFACTS[name].contentType.startsWith('text/html');
}

/** The artifact's record; undefined if the job or the artifact doesn't exist. */
async function findArtifact(service: Pick<RenderService, 'get'>, jobId: string, name: ArtifactName) {
  const job = await service.get(jobId).catch((error: unknown) => {
    if (isScenepressError(error, 'not_found')) return undefined;
    throw error;
  });
  return job?.artifacts.find((artifact) => artifact.name === name);
}
