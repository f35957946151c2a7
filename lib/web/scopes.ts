import type { KeyScope } from '../keys/key-scopes.ts';
import type { Caller } from './caller.ts';
import { unauthorized } from './http-errors.ts';

/** What creates, changes or cancels jobs needs one of these. */
export const TO_RENDER: readonly KeyScope[] = ['render'];
/** What shows a job needs one of these: who renders may poll. */
export const TO_READ: readonly KeyScope[] = ['render', 'read'];

/**
 * Whether a caller has at least one of the scopes. One without `scopes` has all.
 *
 * ```ts
 * if (!hasScope(caller, 'check')) return new Response(null, { status: 403 });
 * ```
 */
export function hasScope({ scopes }: Caller, ...anyOf: readonly KeyScope[]): boolean {
  return scopes === undefined || anyOf.some((scope) => scopes.includes(scope));
}

/** The contract has no 403: a key without any of the scopes gets the response of an invalid one. */
export function assertScope(caller: Caller, anyOf: readonly KeyScope[]): void {
  if (!hasScope(caller, ...anyOf)) throw unauthorized();
}
