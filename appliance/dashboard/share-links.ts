import { escapeHtml } from './html.ts';

/** The page of a share, as its owner passes it on. `base`: the public URL. */
export function watchUrl(base: string, token: string): string {
  return `${base}/w/${token}`;
}

/** The page with the player alone, for frames of other sites. */
export function embedUrl(base: string, token: string): string {
  return `${base}/embed/${token}`;
}

/** What another site puts on its page. The frame needs no cookies, no storage and no origin. */
export function embedCode(
  url: string,
  { title, widthPx, heightPx }: { title: string; widthPx: number; heightPx: number },
): string {
  return `<iframe src="${escapeHtml(url)}" width="${widthPx}" height="${heightPx}" title="${escapeHtml(title)}" sandbox="allow-scripts" allow="fullscreen" loading="lazy" style="border:0;max-width:100%"></iframe>`;
}
