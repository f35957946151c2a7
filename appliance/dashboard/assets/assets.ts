import { gzipSync } from 'node:zlib';
import type { ServerRoute } from '@hapi/hapi';
import { type Asset, asset } from './asset.ts';
import { EXAMPLE_ASSETS } from './examples.ts';
import { COMPARE_SCRIPT } from './generated/compare-script.ts';
import { FILES_SCRIPT } from './generated/files-script.ts';
import { PLAYGROUND_SCRIPT } from './generated/playground-script.ts';
import { LIBRARY_SCRIPT } from './library-script.ts';
import { LIBRARY_STYLE } from './library-style.ts';
import { SCENES_STYLE } from './scenes-style.ts';
import { SCRIPT } from './script.ts';
import { SHARE_STYLE } from './share-style.ts';
import { STYLESHEET } from './stylesheet.ts';

export const STYLESHEET_ASSET: Asset = asset(
  'dashboard',
  'css',
  'text/css',
  compact(STYLESHEET + LIBRARY_STYLE + SCENES_STYLE + SHARE_STYLE),
);
export const SCRIPT_ASSET: Asset = asset('dashboard', 'js', 'text/javascript', compact(SCRIPT));
export const PLAYGROUND_ASSET: Asset = asset('playground', 'js', 'text/javascript', PLAYGROUND_SCRIPT);
export const COMPARE_ASSET: Asset = asset('compare', 'js', 'text/javascript', COMPARE_SCRIPT);
export const FILES_ASSET: Asset = asset('files', 'js', 'text/javascript', FILES_SCRIPT);

export const LIBRARY_ASSET: Asset = asset('library', 'js', 'text/javascript', compact(LIBRARY_SCRIPT));

const ASSETS = [
  LIBRARY_ASSET,
  STYLESHEET_ASSET,
  SCRIPT_ASSET,
  PLAYGROUND_ASSET,
  FILES_ASSET,
  COMPARE_ASSET,
  ...EXAMPLE_ASSETS,
];

/** Without indentation, blank lines and lines of comments: what is written by hand has a fifth of them. */
function compact(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !/^(?:\/\/|\/\*\*? .*\*\/$)/.test(line)).join('\n');
}

/** Routes of the assets, which need no session. */
export const ASSET_ROUTES: ServerRoute[] = ASSETS.map(({ path, type, content }) => {
  const isText = typeof content === 'string';
  let compressed: Buffer | undefined;
  return {
    method: 'GET',
    path,
    options: { cache: false },
    handler(request, h) {
      const isCompressed = isText && /\bgzip\b/.test(String(request.headers['accept-encoding']));
      if (isCompressed) compressed ??= gzipSync(content, { level: 9 });
      const response = h.response(isCompressed ? compressed : content);
      if (isCompressed) response.header('Content-Encoding', 'gzip');
      if (isText) response.vary('Accept-Encoding');
      return response
        .type(type)
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .header('X-Content-Type-Options', 'nosniff');
    },
  };
});
