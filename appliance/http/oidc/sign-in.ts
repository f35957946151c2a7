import type { JWTPayload } from 'jose';
import type { Accounts, Clock, Logger } from '../../../lib/index.ts';
import { KEY_SCOPES, type KeyScope } from '../../../lib/internal.ts';
import { type Caller, HttpRejection } from '../../../lib/web/index.ts';
import { type IssuerAddress, keysOfIssuer } from './issuer-documents.ts';
import { IssuerKeys, IssuerUnreachable } from './issuer-keys.ts';

/** Options of {@link SignIn}. */
export interface SignInOptions extends IssuerAddress {
  /** The `aud` of its tokens for this service; default: the URL of the endpoint. */
  audience?: string | undefined;
  accounts: Pick<Accounts, 'ofIdentity'>;
  logger: Logger;
  clock: Clock;
}

/** Signatures by keys that verifiers do not have: with `none` or a shared secret, anybody could make a token. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Clocks of machines differ. */
const TOLERANCE_SECONDS = 30;
const LONGEST_TOKEN = 16 * 1024;
/** Keys have no dots; the last part of an unsigned token is empty. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Accepts access tokens of an OpenID Connect issuer: JWTs (RFC 9068) for accounts that are linked to their subjects. */
export class SignIn {
  readonly issuer: string;
  readonly #audience: string | undefined;
  readonly #keys: IssuerKeys;
  readonly #accounts: SignInOptions['accounts'];
  readonly #logger: Logger;
  readonly #clock: Clock;

  constructor({ issuer, authorities, audience, accounts, logger, clock }: SignInOptions) {
    this.issuer = issuer;
    this.#audience = audience;
    this.#keys = new IssuerKeys({
      fetch: () => keysOfIssuer({ issuer, authorities }),
      clock,
      onFailure: (err) =>
        logger.warn({ err, issuer }, 'The keys of the issuer of access tokens can not be fetched.'),
    });
    this.#accounts = accounts;
    this.#logger = logger;
    this.#clock = clock;
  }

  /**
   * The caller behind an access token for a `resource`; undefined for what is no JWT, such as an API key. Error:
   * {@link HttpRejection}; `challenge` makes its `WWW-Authenticate`.
   */
  async callerOf(token: string, { resource, challenge }: Resource): Promise<Caller | undefined> {
    if (token.length > LONGEST_TOKEN || !TOKEN.test(token)) return undefined;
    const payload = await this.#verified(token, { resource, challenge });
    const scopes = scopesIn(payload);
    if (scopes.length === 0) {
      const scope = KEY_SCOPES.join(' ');
      const message = `The access token has none of the scopes of this service: ${scope}.`;
      const headers = { 'www-authenticate': challenge({ error: 'insufficient_scope', scope }) };
      throw new HttpRejection(403, { error: 'insufficient_scope', message }, headers);
    }
    const { sub: subject = '' } = payload;
    const account = await this.#accounts.ofIdentity({ issuer: this.issuer, subject });
    if (!account) {
      // Clients seldom show the answer to their users.
      this.#logger.info(
        { issuer: this.issuer, subject },
        'No account is linked to the subject of an access token.',
      );
      throw unknown(subject);
    }
    return { owner: account.accountId, keyId: null, keyPrefix: 'access token', webhookUrl: null, scopes };
  }

  async #verified(token: string, { resource, challenge }: Resource): Promise<JWTPayload> {
    const { errors, jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#keys.find, {
        issuer: this.issuer,
        audience: this.#audience ?? resource,
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (error instanceof IssuerUnreachable) throw unreachable();
      if (!(error instanceof errors.JOSEError)) throw error;
      const why =
        error instanceof errors.JWTExpired
          ? 'it has expired'
          : error instanceof errors.JWTClaimValidationFailed
            ? `its ${error.claim} is missing or not that of this service`
            : 'it is not signed by a key of the issuer';
      const message = `The access token is not valid: ${why}.`;
      const headers = {
        'www-authenticate': challenge({ error: 'invalid_token', error_description: message }),
      };
      throw new HttpRejection(401, { error: 'Unauthorized', message }, headers);
    }
  }
}

/** What a token is for, and how its refusal is explained to clients. */
export interface Resource {
  resource: string;
  /** The value of `WWW-Authenticate`. */
  challenge: (parameters?: Record<string, string>) => string;
}

/** Those of this service, from `scope` (RFC 9068) or `scp`. */
function scopesIn({ scope, scp }: JWTPayload): KeyScope[] {
  const words = [scope, scp].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
  return KEY_SCOPES.filter((name) => words.includes(name));
}

/** No 401: another sign-in would end here again. */
function unknown(subject: string): HttpRejection {
  const message =
    `No account that is enabled is linked to the subject ${JSON.stringify(subject)} of this issuer. ` +
    'Ask the administrator of this service to link one.';
  return new HttpRejection(403, { error: 'Forbidden', message });
}

function unreachable(): HttpRejection {
  const message = 'The issuer of access tokens can not be reached. Try again shortly, or use an API key.';
  return new HttpRejection(503, { error: 'Service Unavailable', message }, { 'retry-after': '30' });
}
