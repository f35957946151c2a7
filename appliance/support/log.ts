import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { loggedError } from './log-error.ts';
import { type TextTarget, textLine } from './log-text.ts';
import { UserError } from './user-error.ts';

export type { Logger } from 'pino';

const POLL_MS = 5_000;
/** Lines that can't be written now are kept up to this size, and further ones dropped. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** The log of the process. */
export interface Log {
  logger: Logger;
  /** Reopens the log file; no effect on stderr. */
  reopen: () => void;
}

/**
 * Logs to stderr, or to a file with mode 640; stdout is reserved for command output. Without a `format`, a terminal
 * gets text, anything else JSON lines.
 */
export function openLog({ logLevel: level, logFormat: format, logFile: file }: LogConfig): Log {
  if (file === undefined) {
    // There is no other place to report that it can't be written.
    const lines = openDestination({ fd: 2 }, () => {});
    const isText = format === undefined ? isatty(2) : format === 'text';
    return { logger: loggerTo(level, isText ? asText(lines, terminal) : lines), reopen: () => {} };
  }
  const lines = openFile(file);
  const reopen = () => {
    try {
      lines.reopen();
    } catch {
      // The destination emits the error; the old file stays open.
    }
  };
  // Detects rotation without SIGHUP.
  setInterval(() => wasMoved(file, lines) && reopen(), POLL_MS).unref();
  return { logger: loggerTo(level, format === 'text' ? asText(lines, plainFile) : lines), reopen };
}

type LogConfig = Pick<Config, 'logLevel' | 'logFormat' | 'logFile'>;
type Destination = ReturnType<typeof destination>;

const plainFile = (): TextTarget => ({ isColoured: false, columns: Number.POSITIVE_INFINITY });

/** Standard error. NO_COLOR and TERM=dumb switch colours off. */
function terminal(): TextTarget {
  const { isTTY, columns } = process.stderr;
  if (!isTTY) return plainFile();
  return { isColoured: process.stderr.hasColors(), columns: columns || Number.POSITIVE_INFINITY };
}

function asText(lines: Destination, target: () => TextTarget): DestinationStream {
  return { write: (line) => void lines.write(textLine(line, target())) };
}

function loggerTo(level: string, lines: DestinationStream): Logger {
  const serializers = { err: loggedError };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers }, lines);
}

function openFile(file: string): Destination {
  try {
    let reported = false;
    return openDestination({ dest: file, mode: 0o640 }, ({ message }) => {
      if (!reported) process.stderr.write(`scenepress: the log file ${file} can't be written (${message})\n`);
      reported = true;
    });
  } catch (cause) {
    const { message } = cause as Error;
    throw new UserError(`The log file can't be opened: ${message}. Choose another with --log-file.`, {
      cause,
    });
  }
}

/** A full disk must not stop the service: lines are kept for a while, and then lost. */
function openDestination(
  target: { fd: number } | { dest: string; mode: number },
  onError: (error: Error) => void,
): Destination {
  const lines = destination({ ...target, sync: true, maxLength: MOST_KEPT_BYTES });
  lines.on('error', onError);
  // Writes what is kept, if there is space again; nothing else would try. `flushSync` would wait for it.
  lines.on('drop', () => void lines.write(''));
  return lines;
}

function wasMoved(file: string, lines: Destination): boolean {
  try {
    const [named, open] = [statSync(file), fstatSync((lines as unknown as { fd: number }).fd)];
    return named.ino !== open.ino || named.dev !== open.dev;
  } catch {
    return true; // Moved, and not yet replaced.
  }
}
