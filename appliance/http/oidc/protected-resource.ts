import type { Request, ServerRoute } from '@hapi/hapi';
import { KEY_SCOPES } from '../../../lib/internal.ts';
import type { Addresses } from '../../config/addresses.ts';
import type { Resource } from './sign-in.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** An endpoint that takes access tokens, for a request to it. */
export function resourceAt(path: string, addresses: Addresses, request: Request): Resource {
  const publicUrl = addresses.publicUrl(request);
  return {
    resource: `${publicUrl}${path}`,
    challenge(parameters = {}) {
      const all = { ...parameters, resource_metadata: `${publicUrl}${WELL_KNOWN}${path}` };
      const texts = Object.entries(all).map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, '')}"`);
      return `Bearer ${texts.join(', ')}`;
    },
  };
}

/** The metadata of the endpoint (RFC 9728), which leads clients to its issuer; also where the path is left out. */
export function metadataRoutes(
  path: string,
  { addresses, issuer }: { addresses: Addresses; issuer: string },
): ServerRoute[] {
  return [`${WELL_KNOWN}${path}`, WELL_KNOWN].map((place) => ({
    method: 'GET',
    path: place,
    options: { cors: { origin: ['*'] } },
    handler: (request) => ({
      resource: resourceAt(path, addresses, request).resource,
      resource_name: 'Scenepress',
      authorization_servers: [issuer],
      scopes_supported: KEY_SCOPES,
      bearer_methods_supported: ['header'],
    }),
  }));
}
