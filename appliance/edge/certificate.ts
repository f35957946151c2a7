import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../../lib/index.ts';
import { systemClock } from '../../lib/internal.ts';
import type { Logger } from '../support/log.ts';
import { UserError } from '../support/user-error.ts';

const DAY_MS = 24 * 60 * 60_000;
const POLL_MS = 10_000;
/**
 * Certificates are renewed a month before they expire, short-lived ones in their last third; later means a failure.
 */
const SOON_MS = 14 * DAY_MS;

/** TLS 1.3, and the TLS 1.2 ciphers with forward secrecy. */
const PROTOCOL: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
};

/** A validated certificate with its key. */
export interface Credentials {
  /** PEM; may include intermediate certificates. */
  cert: string;
  key: string;
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * The service's certificate, from two files. When they change, or {@link reload} is called, new connections use the
 * new certificate and open ones continue. Invalid files leave the old certificate in use.
 */
export class Certificate {
  readonly #files: { certFile: string; keyFile: string };
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #pollMs: number;
  #credentials: Credentials | undefined;
  /** Content of the files, or the read error, at the last poll, whether it was valid or not. */
  #seen = '';
  #timer: NodeJS.Timeout | undefined;
  #warnedDay = '';
  /** Called when {@link options} have changed. */
  onChange: () => void = () => {};

  constructor(options: {
    certFile: string;
    keyFile: string;
    logger: Logger;
    clock?: Clock;
    /** Poll interval; default 10 seconds. */
    pollMs?: number;
  }) {
    this.#files = { certFile: options.certFile, keyFile: options.keyFile };
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#pollMs = options.pollMs ?? POLL_MS;
  }

  /** Reads the files and starts polling them. Throws a {@link UserError} if they are invalid. */
  async start(): Promise<void> {
    try {
      const [cert, key] = await this.#read();
      this.#seen = cert + key;
      this.#credentials = readCredentials(cert, key);
    } catch (cause) {
      const { message } = cause as Error;
      throw new UserError(`The TLS certificate (tlsCert, tlsKey) can't be used: ${message}.`, { cause });
    }
    this.#warn();
    // Polled, because file watches miss changed links, renamed folders and new mounts.
    this.#timer = setInterval(() => void this.reload(), this.#pollMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** TLS options with the current certificate. Only after {@link start}. */
  get options(): SecureContextOptions {
    assert(this.#credentials, 'started');
    const { cert, key } = this.#credentials;
    return { ...PROTOCOL, cert, key };
  }

  /** Expiry in epoch milliseconds. */
  get notAfterMs(): number | undefined {
    return this.#credentials?.notAfterMs;
  }

  /** Warnings about its validity. Public: they contain no paths. */
  warnings(): string[] {
    return this.#credentials ? expiryWarnings(this.#credentials, this.#clock.now()) : [];
  }

  /** Applies the files if they have changed and contain a currently valid certificate. */
  async reload(): Promise<void> {
    const read = await this.#read().catch((error: Error) => error);
    const found = read instanceof Error ? read.message : read.join('');
    if (found === this.#seen) return this.#warn();
    this.#seen = found;
    try {
      if (read instanceof Error) throw read;
      this.#takeUp(readCredentials(...read));
    } catch (error) {
      this.#logger.error({ ...this.#files, reason: (error as Error).message }, REFUSED);
    }
  }

  #takeUp(credentials: Credentials): void {
    const now = this.#clock.now();
    if (now >= credentials.notAfterMs) throw new UserError('it has expired');
    if (now < credentials.notBeforeMs) throw new UserError('it is not valid yet');
    this.#credentials = credentials;
    this.onChange();
    this.#warnedDay = '';
    const notAfter = new Date(credentials.notAfterMs).toISOString();
    this.#logger.info({ notAfter }, 'The new certificate is in use.');
  }

  async #read(): Promise<[cert: string, key: string]> {
    const { certFile, keyFile } = this.#files;
    return Promise.all([certFile, keyFile].map(readText)) as Promise<[string, string]>;
  }

  /** Once a day. */
  #warn(): void {
    const day = new Date(this.#clock.now()).toISOString().slice(0, 10);
    if (day === this.#warnedDay) return;
    this.#warnedDay = day;
    for (const warning of this.warnings()) this.#logger.warn({ certFile: this.#files.certFile }, warning);
  }
}

const REFUSED =
  "The new certificate can't be used; the old one stays in use. Fix the files: they are read again.";

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: Error) => {
    throw new UserError(`${path} can't be read (${cause.message})`, { cause });
  });
}

/** Parses PEM text. Throws a {@link UserError} if it is invalid or the key doesn't match the certificate. */
export function readCredentials(cert: string, key: string): Credentials {
  const certificate = attempt(() => new X509Certificate(cert), 'the certificate is not a PEM certificate');
  if (key.includes('ENCRYPTED'))
    throw new UserError('the key is protected by a passphrase: use a key without one');
  const privateKey = attempt(() => createPrivateKey(key), 'the key is not a PEM private key');
  if (!certificate.checkPrivateKey(privateKey)) throw new UserError('the key belongs to another certificate');
  attempt(() => createSecureContext({ ...PROTOCOL, cert, key }), "they can't be used for TLS");
  return {
    cert,
    key,
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  };
}

function attempt<T>(make: () => T, problem: string): T {
  try {
    return make();
  } catch (cause) {
    throw new UserError(`${problem} (${(cause as Error).message})`, { cause });
  }
}

/** Warns if a certificate has expired, expires soon or isn't valid yet. */
export function expiryWarnings({ notBeforeMs, notAfterMs }: Credentials, nowMs: number): string[] {
  const notAfter = new Date(notAfterMs).toISOString();
  if (nowMs >= notAfterMs)
    return [`The TLS certificate expired at ${notAfter}: clients reject it. Renew it.`];
  if (nowMs < notBeforeMs) return ['The TLS certificate is not valid yet. Check the clock of this machine.'];
  const soonMs = Math.min(SOON_MS, (notAfterMs - notBeforeMs) / 3);
  return notAfterMs - nowMs < soonMs ? [`The TLS certificate expires at ${notAfter}. Renew it.`] : [];
}
