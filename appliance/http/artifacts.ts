import type { Plugin, Request, ResponseToolkit } from '@hapi/hapi';
import type { Logger, RenderService } from '../../lib/index.ts';
import { ARTIFACT_EXPOSED_HEADERS, artifactAnswer, known, type RedirectTo } from '../../lib/web/index.ts';
import { answerErrors } from './http-errors.ts';

/** Options of the plugin {@link artifacts}. */
export interface ArtifactsOptions {
  /** The service whose artifacts are served. */
  service: Pick<RenderService, 'get' | 'openArtifact'>;
  /** Where GET requests are redirected to (307), such as a presigned link of S3; undefined: served from here. */
  redirectTo?: RedirectTo;
  /** Logs the causes of 5xx responses. */
  logger?: Logger;
}

/**
 * Serves artifacts at `/artifacts/<jobId>/<name>` without authentication: job ids can't be guessed.
 *
 * ```ts
 * await server.register({ plugin: artifacts, options: { service } });
 * ```
 */
export const artifacts: Plugin<ArtifactsOptions> = {
  name: 'scenepress-artifacts',
  register(server, options) {
    known('artifacts', options, { service: true, redirectTo: true, logger: true });
    server.ext('onPreResponse', answerErrors(options.logger), { sandbox: 'plugin' });
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
          exposedHeaders: ARTIFACT_EXPOSED_HEADERS,
        },
      },
      handler: (request, h) => serve(options, request, h),
    });
  },
};

async function serve(options: ArtifactsOptions, request: Request, h: ResponseToolkit) {
  const { jobId, name } = request.params;
  const { range, 'if-range': ifRange } = request.raw.req.headers;
  const opened = await artifactAnswer(options, String(jobId), String(name), {
    isHead: request.method === 'head',
    range,
    ifRange: ifRange === undefined ? undefined : String(ifRange),
  });
  const response = h.response(opened.stream).code(opened.status);
  if (opened.stream) response.bytes(opened.sizeBytes);
  for (const [name, value] of Object.entries(opened.headers)) response.header(name, value);
  return response;
}
