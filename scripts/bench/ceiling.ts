import { createServer } from 'node:http';
import { server as createHapi } from '@hapi/hapi';
import Joi from 'joi';
import { ASPECT_RATIOS, type RenderRequest } from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/model/qualities.ts';

const ARTIFACTS = 'http://127.0.0.1:8080/artifacts/01a201c05c7b00453407bd7b5e7d62449c0bc62c4bfb66c9';

/** The rules of a render request, as a hapi application states them. */
const REQUEST = Joi.object({
  code: Joi.string().required(),
  className: Joi.string()
    .pattern(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .required(),
  quality: Joi.string()
    .valid(...QUALITY_NAMES)
    .default('medium'),
  aspectRatio: Joi.string()
    .valid(...ASPECT_RATIOS)
    .default('16:9'),
  fps: Joi.number().integer().min(1),
  metadata: Joi.any(),
  webhookUrl: Joi.string().uri({ scheme: 'https' }).allow(null),
});

/** The response for every job; as large as that of a stored job. */
const COMPLETED = {
  endpoint: 'render',
  status: 'completed',
  creditsCost: 3,
  durationMs: 2500,
  result: { video: `${ARTIFACTS}/video.mp4`, thumbnail: `${ARTIFACTS}/thumbnail.jpg` },
  error: null,
  metadata: { lesson: '2cd95aca-bf8f-4c58-9d3e-830fd9bfe665' },
  createdAt: '2026-01-01T00:00:00.000Z',
  completedAt: '2026-01-01T00:00:01.000Z',
};

/**
 * A server with the same framework, settings and schema. Without work for a POST, it is the upper limit of the
 * throughput. Resolves with its port.
 */
export async function startHapi(add: (request: RenderRequest) => Promise<unknown>): Promise<number> {
  const hapi = createHapi({
    host: '127.0.0.1',
    port: 0,
    listener: createServer({
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
    }),
    compression: false,
    debug: false,
    routes: { state: { parse: false, failAction: 'ignore' }, response: { ranges: false } },
  });
  hapi.auth.scheme('any', () => ({
    authenticate: (request, h) => h.authenticated({ credentials: { app: request.headers['authorization'] } }),
  }));
  hapi.auth.strategy('any', 'any');
  hapi.route([
    {
      method: 'POST',
      path: '/api/v2/render',
      options: { auth: 'any', validate: { payload: REQUEST, options: { convert: false } } },
      async handler(request, h) {
        await add(request.payload as RenderRequest);
        return h.response({ jobId: 'none', status: 'queued', endpoint: 'render' }).code(202);
      },
    },
    {
      method: 'GET',
      path: '/api/v2/render/{jobId}',
      options: { auth: 'any', validate: { params: Joi.object({ jobId: Joi.string() }) } },
      handler: (request) => ({ jobId: request.params['jobId'], ...COMPLETED }),
    },
  ]);
  await hapi.start();
  return Number(hapi.info.port);
}
