import { createHash, timingSafeEqual } from 'node:crypto';
import { notFound } from '@hapi/boom';
import type { ServerRoute } from '@hapi/hapi';
import { unauthorized } from '../../lib/web/index.ts';
import { CONTENT_TYPE, type Metrics } from '../metrics/metrics.ts';
import { bearerToken } from './render-api/bearer.ts';

/** `/metrics`, protected by the token; 404 if none is configured, because metrics are confidential. */
export function metricsRoute(metrics: Metrics, token: string | undefined): ServerRoute {
  return {
    method: 'GET',
    path: '/metrics',
    handler: async (request, h) => {
      if (token === undefined) throw notFound();
      const given = bearerToken(request.raw.req);
      if (given === undefined || !timingSafeEqual(hashOf(given), hashOf(token))) {
        throw unauthorized('The token is invalid or missing.');
      }
      return h.response(await metrics.text()).header('Content-Type', CONTENT_TYPE);
    },
  };
}

/** Hashes have equal length, as the constant-time comparison requires. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
