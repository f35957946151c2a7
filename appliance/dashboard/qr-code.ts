import { encode } from 'uqr';
import { type Html, html } from './html.ts';

/** Light modules around the code, without which readers don't find it. */
const QUIET = 4;
/** As in the template. */
const SIDE = 240;

/** A QR code of a text as SVG, without styles, which the policy forbids. Black on white also where pages are dark. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: QUIET });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return html`<svg class="qr" viewBox="0 0 240 240" width="240" height="240" shape-rendering="crispEdges" role="img" aria-label="${label}"><rect width="240" height="240" fill="#fff"/><path transform="scale(${SIDE / size})" d="${path}" fill="#000"/></svg>`;
}
