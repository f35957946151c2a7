import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type Clock, systemClock } from '../lib/index.ts';
import type { Logger } from './support/log.ts';
import { UserError } from './user-error.ts';

const DAY_MS = 24 * 60 * 60_000;
const LOOK_MS = 10_000;
/** Certificates are renewed a month before their end, short-lived ones in their last third: later, it has failed. */
const SOON_MS = 14 * DAY_MS;

/** What every TLS connection is made with. TLS 1.3, and of 1.2 what keeps past traffic secret. */
const PROTOCOL: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
};

/** A certificate with its key, read and checked. */
export interface Credentials {
  /** PEM; the certificate may be followed by those of its authorities. */
  cert: string;
  key: string;
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * The certificate that the service shows, from two files. When they change on the disk, or {@link reload} is called,
 * new connections get the new one and those that are open go on. Files that make no certificate leave the old one.
 */
export class Certificate {
  readonly #files: { certFile: string; keyFile: string };
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #lookMs: number;
  #credentials: Credentials | undefined;
  /** What the files held when they were last looked at, taken up or not. */
  #seen = '';
  #timer: NodeJS.Timeout | undefined;
  #warnedDay = '';
  /** Called when there are new {@link options}. */
  onChange: () => void = () => {};

  constructor(options: {
    certFile: string;
    keyFile: string;
    logger: Logger;
    clock?: Clock;
    /** How often the files are looked at; default 10 seconds. */
    lookMs?: number;
  }) {
    this.#files = { certFile: options.certFile, keyFile: options.keyFile };
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#lookMs = options.lookMs ?? LOOK_MS;
  }

  /** Reads the files and looks at them from now on. A {@link UserError} says what is wrong with them. */
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
    // Read, not watched: renewal programs change links, rename folders and mount volumes.
    this.#timer = setInterval(() => void this.reload(), this.#lookMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** What connections are to be made with now. After {@link start}. */
  get options(): SecureContextOptions {
    assert(this.#credentials, 'started');
    const { cert, key } = this.#credentials;
    return { ...PROTOCOL, cert, key };
  }

  /** When it ends, in epoch milliseconds. */
  get notAfterMs(): number | undefined {
    return this.#credentials?.notAfterMs;
  }

  /** What will be a problem soon, for everyone to read. */
  warnings(): string[] {
    return this.#credentials ? expiryWarnings(this.#credentials, this.#clock.now()) : [];
  }

  /** Takes up what the files hold, if that is something new and a certificate that is in force. */
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
    if (now < credentials.notBeforeMs) throw new UserError('it is not in force yet');
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
  'The new certificate can’t be used; the old one stays. Put the files right: they are read again.';

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: Error) => {
    throw new UserError(`${path} can't be read (${cause.message})`, { cause });
  });
}

/** A certificate and its key of PEM text; a {@link UserError} when they aren't, or don't belong together. */
export function readCredentials(cert: string, key: string): Credentials {
  const certificate = attempt(() => new X509Certificate(cert), 'the certificate is no PEM certificate');
  if (key.includes('ENCRYPTED'))
    throw new UserError('the key is protected by a passphrase: give one without');
  const privateKey = attempt(() => createPrivateKey(key), 'the key is no PEM private key');
  if (!certificate.checkPrivateKey(privateKey)) throw new UserError('the key belongs to another certificate');
  attempt(() => createSecureContext({ ...PROTOCOL, cert, key }), 'they can’t be used for TLS');
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

/** What there is to say of a certificate's time; nothing while there is enough of it. */
export function expiryWarnings({ notBeforeMs, notAfterMs }: Credentials, nowMs: number): string[] {
  const notAfter = new Date(notAfterMs).toISOString();
  if (nowMs >= notAfterMs)
    return [`The TLS certificate expired at ${notAfter}: clients refuse it. Renew it.`];
  if (nowMs < notBeforeMs)
    return ['The TLS certificate is not in force yet. Check the clock of this machine.'];
  const soonMs = Math.min(SOON_MS, (notAfterMs - notBeforeMs) / 3);
  return notAfterMs - nowMs < soonMs ? [`The TLS certificate expires at ${notAfter}. Renew it.`] : [];
}
