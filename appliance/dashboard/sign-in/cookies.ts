import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Addresses } from '../../config/addresses.ts';
import { LANGUAGE_COOKIE, type Language } from '../language/texts.ts';
import { BASE, type Told } from '../route.ts';
import { SECOND_STEP_MS } from './second-step.ts';

const SESSION = 'scenepress_session';
/** The server ends sessions, earlier. */
const YEAR_MS = 365 * 86_400_000;
/** Proves that a user has signed in here before. */
const DEVICE = 'scenepress_device';
/** The right password was given; the code of the second factor is not yet. */
const SECOND_STEP = 'scenepress_second_step';
/** What a form tells the page that follows it. */
const TOLD = 'scenepress_told';
const TOLD_MS = 60_000;
/** Encrypted, because it may have a secret that is shown once: no server stores that, and another may serve the page. */
const SEALED = { saltBits: 256, iterations: 1, minPasswordlength: 32 };

/** Identifies the browser for forms before a user signs in. */
const FORM = 'scenepress_form';

/**
 * The cookies of the dashboard, signed where they prove something: invisible to scripts and to other sites, and sent over HTTPS only exactly when the
 * public URL has it, so that signing in works on a plain local network.
 */
export class Cookies {
  readonly #addresses: Addresses;

  constructor(
    server: Server,
    { signingKey, toldKey, addresses }: { signingKey: string; toldKey: string; addresses: Addresses },
  ) {
    this.#addresses = addresses;
    for (const [name, ttl] of [
      [SESSION, YEAR_MS],
      [DEVICE, YEAR_MS],
      [FORM, null],
      [SECOND_STEP, SECOND_STEP_MS],
    ] as const) {
      server.state(name, {
        ttl,
        path: BASE,
        // With 'none' hapi doesn't verify signatures.
        encoding: 'base64',
        sign: { password: signingKey },
        isHttpOnly: true,
        isSecure: false,
        // Strict would show the sign-in page to users who follow a link from another site.
        isSameSite: 'Lax',
        ignoreErrors: true,
      });
    }
    // Not signed: it is no secret, and of an unknown one nothing is taken.
    server.state(LANGUAGE_COOKIE, {
      ttl: YEAR_MS,
      path: BASE,
      encoding: 'none',
      isHttpOnly: true,
      isSecure: false,
      isSameSite: 'Lax',
      ignoreErrors: true,
    });
    server.state(TOLD, {
      ttl: TOLD_MS,
      path: BASE,
      encoding: 'iron',
      password: toldKey,
      iron: {
        encryption: { ...SEALED, algorithm: 'aes-256-cbc' },
        integrity: { ...SEALED, algorithm: 'sha256' },
        ttl: TOLD_MS,
        timestampSkewSec: 60,
        localtimeOffsetMsec: 0,
      },
      isHttpOnly: true,
      isSecure: false,
      isSameSite: 'Lax',
      ignoreErrors: true,
    });
  }

  setLanguage(request: Request, h: ResponseToolkit, language: Language): void {
    h.state(LANGUAGE_COOKIE, language, { isSecure: this.#isSecure(request) });
  }

  /** Tells a path, with its query, something for the session with this form token. */
  tell(request: Request, h: ResponseToolkit, told: Told & { to: string; csrf: string }): void {
    h.state(TOLD, told, { isSecure: this.#isSecure(request) });
  }

  /** What the path of a request was told, once. */
  toldTo(request: Request, h: ResponseToolkit, csrf: string): Told {
    const told = request.state?.[TOLD] as (Told & { to: string; csrf: string }) | undefined;
    const { method, path, url } = request;
    if (method !== 'get' || told?.to !== path + url.search || told.csrf !== csrf) return {};
    h.unstate(TOLD);
    return told;
  }

  sessionTokenIn(request: Request): string | undefined {
    return tokenIn(request, SESSION);
  }

  deviceTokenIn(request: Request): string | undefined {
    return tokenIn(request, DEVICE);
  }

  formTokenIn(request: Request): string | undefined {
    return tokenIn(request, FORM);
  }

  secondStepTokenIn(request: Request): string | undefined {
    return tokenIn(request, SECOND_STEP);
  }

  setSecondStep(request: Request, h: ResponseToolkit, token: string): void {
    h.state(SECOND_STEP, token, { isSecure: this.#isSecure(request) });
  }

  endSecondStep(h: ResponseToolkit): void {
    h.unstate(SECOND_STEP);
  }

  /** The tokens of a session and of the browser in which it began. */
  setSession(request: Request, h: ResponseToolkit, tokens: { session: string; device: string }): void {
    const isSecure = this.#isSecure(request);
    h.state(SESSION, tokens.session, { isSecure });
    h.state(DEVICE, tokens.device, { isSecure });
    h.unstate(FORM);
  }

  setFormToken(request: Request, h: ResponseToolkit, token: string): void {
    h.state(FORM, token, { isSecure: this.#isSecure(request) });
  }

  /** The browser remains one in which the user has signed in before. */
  endSession(h: ResponseToolkit): void {
    h.unstate(SESSION);
  }

  #isSecure(request: Request): boolean {
    return this.#addresses.publicUrl(request).startsWith('https:');
  }
}

function tokenIn({ state }: Request, name: string): string | undefined {
  const value: unknown = state?.[name];
  return typeof value === 'string' ? value : undefined;
}
