import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Addresses } from '../../config/addresses.ts';
import { BASE } from '../route.ts';

const SESSION = 'scenepress_session';
/** The server ends sessions, earlier. */
const LONGEST_MS = 365 * 86_400_000;
/** Proves that a user has signed in here before. */
const DEVICE = 'scenepress_device';
/** Identifies the browser for forms before a user signs in. */
const FORM = 'scenepress_form';

/**
 * The signed cookies of the dashboard: invisible to scripts and to other sites, and sent over HTTPS only exactly when the
 * public URL has it, so that signing in works on a plain local network.
 */
export class Cookies {
  readonly #addresses: Addresses;

  constructor(server: Server, { signingKey, addresses }: { signingKey: string; addresses: Addresses }) {
    this.#addresses = addresses;
    for (const [name, ttl] of [
      [SESSION, LONGEST_MS],
      [DEVICE, LONGEST_MS],
      [FORM, null],
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
