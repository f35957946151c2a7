import { fstatSync, statSync } from 'node:fs';
import type { Server } from '@hapi/hapi';
import { destination, type Logger, pino } from 'pino';
import { remoteAddressOf } from '../config/addresses.ts';
import { loggedPath } from '../edge/logged-path.ts';
import { callerOf } from '../http/render-api/bearer.ts';
import { requestIdOf } from '../http/request-id.ts';
import { UserError } from '../user-error.ts';

export type { Logger } from 'pino';

const LOOK_MS = 5_000;

/** Where log lines go, for as long as the program runs. */
export interface Log {
  logger: Logger;
  /** Opens the file anew; nothing on stderr. */
  reopen: () => void;
}

/** Logs as JSON lines on stderr; stdout is for what people and scripts asked for. Or in a file, made for its owner only. */
export function openLog({ level, file }: { level: string; file?: string | undefined }): Log {
  if (file === undefined)
    return { logger: loggerTo(level, destination({ fd: 2, sync: true })), reopen: () => {} };
  const lines = openFile(file);
  const reopen = () => {
    try {
      lines.reopen();
    } catch {
      // Reported as an error of the destination; the old file goes on.
    }
  };
  // A rotation that moves the file and says nothing.
  setInterval(() => isElsewhere(file, lines) && reopen(), LOOK_MS).unref();
  return { logger: loggerTo(level, lines), reopen };
}

type Destination = ReturnType<typeof destination>;

function loggerTo(level: string, lines: Destination): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
}

function openFile(file: string): Destination {
  try {
    const lines = destination({ dest: file, sync: true, mode: 0o640 });
    let said = false;
    // A full disk must not end the service; its lines are lost, which is said once.
    lines.on('error', (error: Error) => {
      if (!said)
        process.stderr.write(`scenepress: the log file ${file} can't be written (${error.message})\n`);
      said = true;
    });
    return lines;
  } catch (cause) {
    const { message } = cause as Error;
    throw new UserError(`The log file can't be opened: ${message}. Name another with --log-file.`, { cause });
  }
}

function isElsewhere(file: string, lines: Destination): boolean {
  try {
    const [named, open] = [statSync(file), fstatSync((lines as unknown as { fd: number }).fd)];
    return named.ino !== open.ino || named.dev !== open.dev;
  } catch {
    return true; // Moved away, and nothing in its place yet.
  }
}

/** One line per request, without headers, query and bodies: those hold keys and scenes. So may a path, by mistake. */
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
