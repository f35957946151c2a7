import { randomUUID } from 'node:crypto';
import type { Request } from '@hapi/hapi';

declare module '@hapi/hapi' {
  interface PluginsStates {
    scenepress?: { requestId: string };
  }
}

/**
 * The id in a request's response and log lines. Always generated here: a client-supplied id could inject text into
 * the logs, and hapi's id discloses host and process.
 */
export function requestIdOf({ plugins }: Request): string {
  plugins.scenepress ??= { requestId: randomUUID() };
  return plugins.scenepress.requestId;
}
