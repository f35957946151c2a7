import { hash } from 'node:crypto';
import type { ServerRoute } from '@hapi/hapi';
import { SCRIPT } from './script.ts';
import { STYLESHEET } from './stylesheet.ts';

/** A file of the pages of shared videos. */
export interface Asset {
  /** Contains a hash of the content, so that it can be cached forever. */
  path: string;
  type: string;
  content: string;
}

export const STYLESHEET_ASSET: Asset = asset('css', 'text/css', STYLESHEET);
export const SCRIPT_ASSET: Asset = asset('js', 'text/javascript', SCRIPT);

/** Frames in a sandbox have no origin, from which a script is loaded only if its headers allow it. */
export const ASSET_ROUTES: ServerRoute[] = [STYLESHEET_ASSET, SCRIPT_ASSET].map(
  ({ path, type, content }) => ({
    method: 'GET',
    path,
    options: { cache: false },
    handler: (_, h) =>
      h
        .response(content)
        .type(type)
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .header('Access-Control-Allow-Origin', '*')
        .header('Cross-Origin-Resource-Policy', 'cross-origin')
        .header('X-Content-Type-Options', 'nosniff'),
  }),
);

function asset(extension: string, type: string, content: string): Asset {
  return { path: `/watch/watch.${hash('sha256', content).slice(0, 16)}.${extension}`, type, content };
}
