import { randomUUID } from 'node:crypto';
import type { Request } from '@hapi/hapi';

declare module '@hapi/hapi' {
  interface PluginsStates {
    scenepress?: { requestId: string };
  }
}

/**
 * The id that a request's answer and log lines carry. Always our own: one that a client could choose would let it
 * write into the logs, and hapi's names the host and the process.
 */
export function requestIdOf({ plugins }: Request): string {
  plugins.scenepress ??= { requestId: randomUUID() };
  return plugins.scenepress.requestId;
}
