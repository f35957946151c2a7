import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';

/** Escaped letters and digits, which are equivalent to unescaped ones. */
const NEEDLESS_ESCAPE = /%(3\d|[46][1-9a-f]|[57][\da])/gi;

/**
 * Treats paths that can't be decoded, like `/api/v2/render/%zz`, literally below the prefix: they are unknown paths
 * like any other. hapi would answer them with its own error before authentication.
 *
 * Runs before hapi sees the request, because an `onRequest` extension costs several times as much per request. It
 * therefore doesn't apply to `server.inject`.
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

/** The path of a request target, as hapi parses it: the target is a path or, in requests to proxies, a URL. */
function pathOf(target: string): string | undefined {
  const path = target.startsWith('/') ? target.replace(/[?#].*/s, '') : URL.parse(target)?.pathname;
  return path?.replace(NEEDLESS_ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function canDecode(path: string): boolean {
  try {
    // No text of a database may contain NUL.
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}
