import type { Server } from '@hapi/hapi';

/**
 * A path like `/api/v2/render/%zz` can't be decoded, and hapi would answer it with an error of its own before asking
 * for a key. Below the prefix such paths are taken as they are written instead: like any other that names nothing.
 */
export function takeBrokenEscapesLiterally(server: Server, prefix: string): void {
  const taken = takenPrefixes.get(server.events) ?? [];
  if (taken.some((other) => prefix.startsWith(other))) return;
  takenPrefixes.set(server.events, [...taken, prefix]);
  server.ext('onRequest', (request, h) => {
    if (request.path.startsWith(prefix) && !canDecode(request.path)) {
      // A host of our own, because setUrl would build a URL with the client's Host header, which may be broken too.
      request.setUrl(`http://localhost${request.path.replaceAll('%', '%25')}`);
    }
    return h.continue;
  });
}

/** What is looked after already, by what is the same for a server and all its plugins, and for no other server. */
const takenPrefixes = new WeakMap<Server['events'], string[]>();

function canDecode(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
