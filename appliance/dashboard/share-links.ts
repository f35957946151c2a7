import { escapeHtml } from './html.ts';

/** A size in pixels. */
export interface Size {
  widthPx: number;
  heightPx: number;
}

/** The page of a share, as its owner passes it on. `base`: the public URL. */
export function watchUrl(base: string, token: string): string {
  return `${base}/w/${token}`;
}

/** The page with the player alone, for frames of other sites. */
export function embedUrl(base: string, token: string): string {
  return `${base}/embed/${token}`;
}

/**
 * What another site puts on its page. The frame needs no cookies, no storage and no origin, opens the page of the share in a tab, and
 * keeps its shape on a phone.
 */
export function embedCode(url: string, { title, widthPx, heightPx }: { title: string } & Size): string {
  const style = `border:0;max-width:100%;height:auto;aspect-ratio:${widthPx}/${heightPx}`;
  return `<iframe src="${escapeHtml(url)}" width="${widthPx}" height="${heightPx}" title="${escapeHtml(title)}" sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" allow="fullscreen" loading="lazy" style="${style}"></iframe>`;
}

/** A size of the same shape, within another one. */
export function fitted({ widthPx, heightPx }: Size, most: Size): Size {
  const scale = Math.min(1, most.widthPx / widthPx, most.heightPx / heightPx);
  return { widthPx: Math.round(widthPx * scale), heightPx: Math.round(heightPx * scale) };
}
