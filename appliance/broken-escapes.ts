import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';

/** A request's target: scheme and host where a proxy is asked, the path, and what follows it. */
const TARGET = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(.*)$/is;

/**
 * A path like `/api/v2/render/%zz` can't be decoded, and hapi would answer it with an error of its own before asking
 * for a key. Below the prefix such paths are taken as they are written instead: like any other that names nothing.
 *
 * Done before hapi sees the request, because an `onRequest` extension costs every request several times as much. So it
 * isn't done for `server.inject`.
 */
export function takeBrokenEscapesLiterally({ listener }: Server, prefix: string): void {
  const take = (request: IncomingMessage) => {
    if (!request.url?.includes('%')) return;
    const [, origin = '', path = '', rest = ''] = TARGET.exec(request.url) ?? [];
    if (path.startsWith(prefix) && !canDecode(path))
      request.url = origin + path.replaceAll('%', '%25') + rest;
  };
  listener.prependListener('request', take);
  listener.prependListener('checkContinue', take);
}

function canDecode(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
