import { Boom } from '@hapi/boom';
import type { Plugin, Request, ResponseToolkit } from '@hapi/hapi';
import {
  ARTIFACT_NAMES,
  ARTIFACTS,
  type ArtifactName,
  type Logger,
  type RenderService,
  ScenepressError,
} from '../../lib/index.ts';
import { byteRangeOf } from './byte-range.ts';
import { answerErrors } from './http-errors.ts';

export interface ArtifactsOptions {
  service: Pick<RenderService, 'get' | 'openArtifact'>;
  /** Logs the causes of 5xx responses. */
  logger?: Logger;
}

/** Serves artifacts at `/artifacts/<jobId>/<name>` without authentication: job ids can't be guessed. */
export const artifacts: Plugin<ArtifactsOptions> = {
  name: 'scenepress-artifacts',
  register(server, { service, logger }) {
    server.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });
    server.route({
      method: 'GET',
      path: '/artifacts/{jobId}/{name}',
      options: {
        auth: false,
        state: { parse: false, failAction: 'ignore' },
        cache: false,
        // hapi's ranges read the whole file and discard most of it.
        response: { ranges: false },
        cors: {
          origin: 'ignore',
          headers: ['Accept', 'If-None-Match', 'If-Range', 'Range'],
          exposedHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag', 'Request-Id'],
        },
      },
      handler: (request, h) => serve(service, request, h),
    });
  },
};

async function serve(service: ArtifactsOptions['service'], request: Request, h: ResponseToolkit) {
  const jobId = String(request.params['jobId']);
  const name = ARTIFACT_NAMES.find((name) => name === request.params['name']);
  const artifact = name && (await findArtifact(service, jobId, name));
  if (!artifact) throw new ScenepressError('not_found', 'There is no such artifact.');

  // Artifacts are immutable, so the URL identifies the content.
  const etag = `"${jobId}-${artifact.name}"`;
  const wholeOnly = request.headers['if-range'] !== undefined && request.headers['if-range'] !== etag;
  const range = wholeOnly ? undefined : byteRangeOf(request.raw.req.headers.range, artifact.sizeBytes);
  if (range === 'unsatisfiable') {
    const error = new Boom('The artifact ends before this range.', { statusCode: 416 });
    error.output.headers['Content-Range'] = `bytes */${artifact.sizeBytes}`;
    throw error;
  }
  const { stream, sizeBytes } = await service.openArtifact(jobId, artifact.name, range ? { range } : {});
  const response = h
    .response(stream)
    .type(ARTIFACTS[artifact.name].contentType)
    .bytes(range ? range.end - range.start + 1 : sizeBytes)
    .header('ETag', etag)
    .header('Accept-Ranges', 'bytes')
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('X-Content-Type-Options', 'nosniff');
  if (range) response.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  return response;
}

/** The artifact's record; undefined if the job or the artifact doesn't exist. */
async function findArtifact(service: ArtifactsOptions['service'], jobId: string, name: ArtifactName) {
  const job = await service.get(jobId).catch((error: unknown) => {
    if (error instanceof ScenepressError && error.code === 'not_found') return undefined;
    throw error;
  });
  return job?.artifacts.find((artifact) => artifact.name === name);
}
