import { X509Certificate } from 'node:crypto';
import { ScenepressError } from './errors.ts';

/**
 * Certificate authorities in PEM, as a list. Validated, because OpenSSL silently ignores invalid ones. `whose` is named
 * in the error (`invalid_request`).
 */
export function certificateAuthorities(ca: string | readonly string[] | undefined, whose: string): string[] {
  const all = ca === undefined ? [] : [ca].flat();
  for (const pem of all) {
    try {
      new X509Certificate(pem);
    } catch (cause) {
      const message = `A certificate authority for ${whose} is not a PEM certificate.`;
      throw new ScenepressError('invalid_request', message, { cause });
    }
  }
  return all;
}
