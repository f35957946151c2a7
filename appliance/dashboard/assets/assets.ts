import { hash } from 'node:crypto';
import type { ServerRoute } from '@hapi/hapi';
import { BASE } from '../route.ts';
import { SCRIPT } from './script.ts';
import { STYLESHEET } from './stylesheet.ts';

interface Asset {
  /** Contains a hash of the content, so it can be cached forever. */
  path: string;
  type: string;
  content: string;
}

export const STYLESHEET_ASSET: Asset = asset('dashboard', 'css', 'text/css', STYLESHEET);
export const SCRIPT_ASSET: Asset = asset('dashboard', 'js', 'text/javascript', SCRIPT);

function asset(name: string, extension: string, type: string, content: string): Asset {
  const digest = hash('sha256', content).slice(0, 16);
  return { path: `${BASE}/assets/${name}.${digest}.${extension}`, type, content };
}

/** Routes of the stylesheet and the script, which need no session. */
export const ASSET_ROUTES: ServerRoute[] = [STYLESHEET_ASSET, SCRIPT_ASSET].map(
  ({ path, type, content }) => ({
    method: 'GET',
    path,
    options: { cache: false },
    handler: (_request, h) =>
      h
        .response(content)
        .type(type)
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .header('X-Content-Type-Options', 'nosniff'),
  }),
);
