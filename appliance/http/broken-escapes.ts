import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';

/** Letters and digits, which mean the same with and without an escape. */
const NEEDLESS_ESCAPE = /%(3\d|[46][1-9a-f]|[57][\da])/gi;

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
    const path = pathOf(request.url);
    if (path?.startsWith(prefix) && !canDecode(path)) request.url = path.replaceAll('%', '%25');
  };
  listener.prependListener('request', take);
  listener.prependListener('checkContinue', take);
}

/** The path as hapi finds it in what a client asks for: mostly a path, or a URL where a proxy is asked. */
function pathOf(target: string): string | undefined {
  const path = target.startsWith('/') ? target.replace(/[?#].*/s, '') : URL.parse(target)?.pathname;
  return path?.replace(NEEDLESS_ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function canDecode(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
