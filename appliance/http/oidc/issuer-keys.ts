import type { createLocalJWKSet, JSONWebKeySet } from 'jose';
import type { Clock } from '../../../lib/index.ts';

/** Older keys are fetched again, so that removed ones are not accepted for long. */
const FRESH_MS = 10 * 60_000;
/** Older keys are not used, even while the issuer can't be reached. */
const LONGEST_USE_MS = 60 * 60_000;
/** Between two attempts: tokens with keys that do not exist must not make this server ask as often as they come. */
const PAUSE_MS = 30_000;

/** The keys of an issuer can't be had. */
export class IssuerUnreachable extends Error {}

type Find = ReturnType<typeof createLocalJWKSet>;

interface Fetched {
  find: Find;
  atMs: number;
}

/** The keys of an issuer, fetched when they are needed, and again when they are old or a token names another. */
export class IssuerKeys {
  readonly #fetch: () => Promise<JSONWebKeySet>;
  readonly #clock: Pick<Clock, 'uptimeMs'>;
  readonly #onFailure: (error: unknown) => void;
  #fetched: Fetched | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;

  /** `onFailure`: called when the keys could not be fetched. */
  constructor(options: {
    fetch: () => Promise<JSONWebKeySet>;
    clock: Pick<Clock, 'uptimeMs'>;
    onFailure: (error: unknown) => void;
  }) {
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#onFailure = options.onFailure;
  }

  /** The key of a token. Errors: {@link IssuerUnreachable}; those of jose if the issuer has no such key. */
  readonly find = async (...token: Parameters<Find>): Promise<Awaited<ReturnType<Find>>> => {
    const { errors } = await import('jose');
    const fetched = await this.#current();
    try {
      return await fetched.find(...token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      if (!this.#fetched || this.#fetched === fetched) throw error;
      return this.#fetched.find(...token);
    }
  };

  async #current(): Promise<Fetched> {
    if (this.#age() > FRESH_MS) await this.#refresh();
    if (this.#fetched && this.#age() <= LONGEST_USE_MS) return this.#fetched;
    throw new IssuerUnreachable('The keys of the issuer are not known.');
  }

  #age(): number {
    return this.#clock.uptimeMs() - (this.#fetched?.atMs ?? Number.NEGATIVE_INFINITY);
  }

  /** Fetches the keys, unless that was tried a moment ago. Never rejects. */
  async #refresh(): Promise<void> {
    if (!this.#pending && this.#clock.uptimeMs() - this.#triedAtMs < PAUSE_MS) return;
    this.#pending ??= this.#try().finally(() => {
      this.#pending = undefined;
    });
    await this.#pending;
  }

  async #try(): Promise<void> {
    this.#triedAtMs = this.#clock.uptimeMs();
    try {
      const jose = await import('jose');
      const find = jose.createLocalJWKSet(await this.#fetch());
      this.#fetched = { find, atMs: this.#clock.uptimeMs() };
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
