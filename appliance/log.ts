import type { Server } from '@hapi/hapi';
import { destination, type Logger, pino } from 'pino';
import { remoteAddressOf } from './addresses.ts';
import { callerOf } from './render-api/bearer.ts';
import { requestIdOf } from './request-id.ts';

export type { Logger } from 'pino';

/** Logs as JSON lines on stderr; stdout is for what people and scripts asked for. */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ fd: 2, sync: true }),
  );
}

/** One line per request, without headers, query and bodies: those hold keys and scenes. */
export function logRequests(server: Server, logger: Logger, trustProxy: boolean): void {
  server.events.on('response', (request) => {
    const { method, path, info, raw } = request;
    const level = path.startsWith('/health/') ? 'debug' : 'info';
    logger[level](
      {
        requestId: requestIdOf(request),
        method: method.toUpperCase(),
        path,
        // A client that left before its answer began gets none; 499 is what proxies log for that.
        status: raw.res.headersSent ? raw.res.statusCode : 499,
        ms: (info.responded || Date.now()) - info.received,
        remoteAddress: remoteAddressOf(request, trustProxy),
        keyPrefix: callerOf(request)?.keyPrefix,
      },
      'request',
    );
  });
}
