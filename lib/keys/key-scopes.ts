/** What a key may be used for. */
export const KEY_SCOPES: readonly ['render', 'check', 'read'] = Object.freeze(['render', 'check', 'read']);

/**
 * One use of a key. `render`: creates jobs, and reads them; `check`: has scenes checked, without jobs; `read`: reads jobs.
 */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether it is a list of at least one scope, each once. */
export function areScopes(value: unknown): value is KeyScope[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const known: readonly unknown[] = KEY_SCOPES;
  return value.every((scope, index) => known.includes(scope) && value.indexOf(scope) === index);
}
