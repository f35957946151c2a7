import type { Plugin, Request, ResponseToolkit } from '@hapi/hapi';
import type { Logger, RenderService } from '../../lib/index.ts';
import { ARTIFACT_EXPOSED_HEADERS, artifactAnswer } from '../../lib/web/rules.ts';
import { answerErrors } from './http-errors.ts';

/** Options of the plugin {@link artifacts}. */
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
          exposedHeaders: ARTIFACT_EXPOSED_HEADERS,
        },
      },
      handler: (request, h) => serve(service, request, h),
    });
  },
};

async function serve(service: ArtifactsOptions['service'], request: Request, h: ResponseToolkit) {
  const { jobId, name } = request.params;
  const { range, 'if-range': ifRange } = request.raw.req.headers;
  const opened = await artifactAnswer(service, String(jobId), String(name), {
    range,
    ifRange: ifRange === undefined ? undefined : String(ifRange),
  });
  const response = h.response(opened.stream).code(opened.status).bytes(opened.sizeBytes);
  for (const [name, value] of Object.entries(opened.headers)) response.header(name, value);
  return response;
}
