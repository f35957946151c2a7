import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** A failure with a message for the user. */
export class SetupError extends Error {
  name = 'SetupError';
}

/** Messages of npm, pip and apt-get about a server that they can't reach. */
const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b|Temporary failure|Name or service not known|Could not (?:resolve|connect)|Failed to establish a new connection|Connection (?:refused|timed out)|operation timed out|Network is unreachable/i;
const SERVER = /(?:https?:\/\/|host='|resol(?:ving|ve) '|connect to |getaddrinfo \w+ )([\w-]+(?:\.[\w-]+)+)/;
const SHOWN_LINES = 15;
/** apt-get prints some lines per package after the cause. */
const SEARCHED_LINES = 60;

/**
 * The error for the user: one sentence for a common cause, otherwise the last lines of the log.
 *
 * @param {Error} error
 * @param {import('./step.mjs').Step} step
 * @param {{ logPath: string, fullLogPath: string }} logs that of the step, and the one in which it ends
 */
export function failureOf(error, step, { logPath, fullLogPath }) {
  if (error instanceof SetupError) return error;
  const denied = deniedMessage(error);
  if (denied) return new SetupError(`${step.title}: ${denied}`, { cause: error });
  const lines = outputOf(logPath);
  const complaints = lines.slice(-SEARCHED_LINES).filter((line) => UNREACHABLE.test(line));
  const message = complaints.length
    ? `${step.title}: ${step.source}${hostIn(complaints)} can't be reached. Check the network connection and the ` +
      `proxy settings, then run this command again; it continues here. Log: ${fullLogPath}`
    : [
        `${step.title}: ${error.message}`,
        ...lines.slice(-SHOWN_LINES).map((line) => `  | ${line}`),
        `Full log: ${fullLogPath}`,
      ].join('\n');
  return new SetupError(message, { cause: error });
}

/** A sentence for a file that can't be written; undefined for other errors. */
export function deniedMessage({ code, path, dest }) {
  const place = dest ?? path;
  if (place === undefined) return undefined;
  if (code === 'EROFS') return `${place} can't be written: its disk is read-only. Mount it writable.`;
  if (code === 'ENOSPC') return `${place} can't be written: the disk is full. Free some space and try again.`;
  if (code !== 'EACCES' && code !== 'EPERM') return undefined;
  return (
    `${place} can't be written by this user (user id ${process.getuid?.()}). ` +
    'Run this command as the owner of the folder, or give it to this user with chown -R.'
  );
}

function hostIn(complaints) {
  const [, host] = SERVER.exec(complaints.findLast((line) => SERVER.test(line)) ?? '') ?? [];
  return host ? ` (${host})` : '';
}

/** The last lines of a log. */
function outputOf(logPath) {
  return tail(logPath)
    .split('\n')
    .filter((line) => line.trim());
}

function tail(path, bytes = 32768) {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    const length = readSync(file, buffer, 0, bytes, Math.max(0, statSync(path).size - bytes));
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
