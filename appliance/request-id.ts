import { randomUUID } from 'node:crypto';
import type { Request } from '@hapi/hapi';

const ids = new WeakMap<Request, string>();

/**
 * The id that a request's answer and log lines carry. Always our own: one that a client could choose would let it
 * write into the logs, and hapi's names the host and the process.
 */
export function requestIdOf(request: Request): string {
  let id = ids.get(request);
  if (!id) {
    id = randomUUID();
    ids.set(request, id);
  }
  return id;
}
