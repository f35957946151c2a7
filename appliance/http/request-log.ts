import type { Server } from '@hapi/hapi';
import { remoteAddressOf } from '../config/addresses.ts';
import { loggedPath } from '../edge/logged-path.ts';
import type { Logger } from '../support/log.ts';
import { callerOf } from './render-api/bearer.ts';
import { requestIdOf } from './request-id.ts';

/** Logs one line per request, without headers, query and bodies: they contain keys and scenes. Paths are redacted. */
export function logRequests(server: Server, logger: Logger, trustProxy: boolean): void {
  server.events.on('response', (request) => {
    const { method, path, info, raw } = request;
    const level = path.startsWith('/health/') || path === '/metrics' ? 'debug' : 'info';
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        requestId: requestIdOf(request),
        method: method.toUpperCase(),
        path: loggedPath(path),
        // 499, as proxies log it: the client disconnected before the response began.
        status: raw.res.headersSent ? raw.res.statusCode : 499,
        ms: (info.responded || Date.now()) - info.received,
        remoteAddress: remoteAddressOf(request, trustProxy),
        keyPrefix: callerOf(request)?.keyPrefix,
      },
      'request',
    );
  });
}
