import { isScenepressError, ScenepressError } from '../../base/errors.ts';

/** Codes of Postgres (SQLSTATE). */
const CONFLICTS = ['40001', '40P01']; // serialization_failure, deadlock_detected
const DUPLICATE = '23505';
const UNKNOWN = '40003'; // statement_completion_unknown
const DISK_FULL = '53100';
const NO_CONNECTION_LEFT = '53300'; // too_many_connections
/**
 * `admin_shutdown`, `crash_shutdown`, `cannot_connect_now`, `idle_session_timeout`, `too_many_connections`,
 * `idle_in_transaction_session_timeout`, `transaction_timeout`; `read_only_sql_transaction`: the server became, or still
 * is, a replica; `feature_not_supported`: the same at the beginning of a transaction, or prepared statements of a table
 * that was migrated since.
 */
const ENDED = ['57P01', '57P02', '57P03', '57P05', NO_CONNECTION_LEFT, '25P03', '25P04', '25006', '0A000'];
const DAMAGED = ['XX001', 'XX002'];
/** Time-outs, too little memory, a system error. */
const FAILED = ['57014', '55P03', '53200', '58030'];
const BUSY = '55P03'; // lock_not_available
const NOT_STORABLE = '22021'; // character_not_in_repertoire
/** Wrong passwords, databases and privileges, which the administrator of the database can correct meanwhile. */
const REFUSED_CLASSES = ['28', '3D', '42501'];
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Messages of the driver for connections that ended or did not open, which have no code. */
const DRIVER_MESSAGES =
  /^Connection terminated|^timeout (exceeded|expired)|^Query read timeout|not queryable/;
const DRIVER_TIMEOUT = /^timeout (exceeded|expired)|^Query read timeout/;
/** Codes of OpenSSL and Node for certificates, and the driver's message for a server without TLS. */
const NOT_SECURE = /CERT|SIGNATURE|^ERR_(TLS|SSL)/;
const NO_TLS = /does not support SSL/;
const NETWORK_CODES = /^(E[A-Z]+|ERR_[A-Z_]+)$/;

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && !isScenepressError(error) ? code : '';
}

/** Two transactions conflicted, and this one was rolled back. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error));
}

/** A row with the same unique value exists, perhaps because another transaction has inserted it meanwhile. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === DUPLICATE;
}

/** The server had no space for what was written. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === DISK_FULL;
}

/** A lock was not free within `lock_timeout`. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY;
}

/**
 * The server refused the commit, or a statement before it, because of a row or a conflicting transaction. After any
 * other error the commit may have happened.
 */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return /^(23|40)...$/.test(code) && code !== UNKNOWN;
}

/** The connection failed, could not be opened, or has prepared statements of a table that was migrated since. */
export function isDisconnection(error: unknown): boolean {
  const code = codeOf(error);
  if (SQLSTATE.test(code) && !NETWORK_CODES.test(code)) return code.startsWith('08') || ENDED.includes(code);
  if (isScenepressError(error) || !(error instanceof Error)) return false;
  return NETWORK_CODES.test(code) ? isNetwork(code) : DRIVER_MESSAGES.test(error.message);
}

/** Assertions and other errors of Node have codes of the same form. */
function isNetwork(code: string): boolean {
  return code.startsWith('E') && !code.startsWith('ERR_');
}

/** How long to wait before work is tried again that failed because the database was not available. */
export const RETRY_AFTER_MS = 5_000;

/**
 * Converts failures of server and network to {@link ScenepressError}, with `retryAfterMs` if they may pass; returns
 * others, such as refused rows, unchanged.
 */
export function explained(error: unknown): unknown {
  const code = codeOf(error);
  const message = (error as Error).message || code;
  const because = (what: string) => `Nothing was changed: ${what} (${message}).`;
  const cause = { cause: error };
  const passing = { ...cause, retryAfterMs: RETRY_AFTER_MS };
  if (code === NO_CONNECTION_LEFT)
    return new ScenepressError(
      'storage_failed',
      because(
        'Postgres has no connection left. Raise its max_connections, or let each process open fewer: ' +
          'maxConnections, --database-connections',
      ),
      passing,
    );
  if (DRIVER_TIMEOUT.test(message))
    return new ScenepressError(
      'storage_failed',
      because(
        'Postgres did not answer in time. It may be overloaded, or a pooler before it may have too few connections',
      ),
      passing,
    );
  if (isDisconnection(error))
    return new ScenepressError('storage_failed', because('the connection to Postgres failed'), passing);
  if (isDiskFull(error))
    return new ScenepressError('storage_full', because('the disk of Postgres is full'), passing);
  if (DAMAGED.includes(code))
    return new ScenepressError(
      'storage_damaged',
      `Data of Postgres is damaged (${message}). Restore a backup.`,
      cause,
    );
  const isRefused = REFUSED_CLASSES.some((start) => code.startsWith(start));
  if (FAILED.includes(code) || isRefused || isConflict(error))
    return new ScenepressError('storage_failed', because('Postgres refused the work'), passing);
  if (NOT_SECURE.test(code) || NO_TLS.test(message))
    return new ScenepressError(
      'storage_failed',
      because('the connection to Postgres is not secure'),
      passing,
    );
  if (code === NOT_STORABLE)
    return new ScenepressError('invalid_request', 'A text contains the character NUL (U+0000).', cause);
  return error;
}
