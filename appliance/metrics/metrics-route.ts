import { createHash, timingSafeEqual } from 'node:crypto';
import { Boom, notFound } from '@hapi/boom';
import type { ServerRoute } from '@hapi/hapi';
import { CONTENT_TYPE, type Metrics } from './metrics.ts';

/** `/metrics`, protected by the token; 404 if none is configured, because metrics are confidential. */
export function metricsRoute(metrics: Metrics, token: string | undefined): ServerRoute {
  return {
    method: 'GET',
    path: '/metrics',
    handler: async (request, h) => {
      if (token === undefined) throw notFound();
      const given = /^Bearer +(\S+) *$/i.exec(request.raw.req.headers.authorization ?? '')?.[1];
      if (given === undefined || !timingSafeEqual(hashOf(given), hashOf(token))) {
        const error = new Boom('The token is invalid or missing.', { statusCode: 401 });
        error.output.headers['WWW-Authenticate'] = 'Bearer';
        throw error;
      }
      return h.response(await metrics.text()).header('Content-Type', CONTENT_TYPE);
    },
  };
}

/** Hashes have equal length, as the constant-time comparison requires. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
