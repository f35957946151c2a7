import type { SharedVideo, ShareInfo } from '../../admin/share-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { copyable } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { embedCode, embedUrl, fitted, watchUrl } from '../share-links.ts';

const LOOKS = { open: 'good', private: '', expired: 'warn', revoked: '' };
/** Of a frame; the page that shows it may make it smaller. */
const LARGEST_FRAME = { widthPx: 800, heightPx: 800 };
/** Characters of the name of a video: a class may have any number. */
const LONGEST_NAME = 200;

/** The path of a share's page, below {@link BASE}. */
export function sharePath(shareId: string): string {
  return `/shares/${encodeURIComponent(shareId)}`;
}

/** What a share is called: its title, or the name of its first video. */
export function shareName({ title, first }: Pick<ShareInfo, 'title' | 'first'>): string {
  return title ?? videoName(first);
}

export function videoName(video: Pick<SharedVideo, 'name'> | null): string {
  return video?.name.slice(0, LONGEST_NAME).toWellFormed() || texts().watch.untitled;
}

export function shareTag({ state }: Pick<ShareInfo, 'state'>): Html {
  return html`<span class="tag ${LOOKS[state]}">${texts().shares.states[state]}</span>`;
}

/** The picture of a video in a list. */
export function thumbnailOf(
  video: Pick<SharedVideo, 'jobId' | 'hasThumbnail'> | null,
  { assetUrl }: Pick<Visit, 'assetUrl'>,
): Html {
  return html`<span class="thumb" aria-hidden="true">${
    video?.hasThumbnail &&
    html`<img src="${assetUrl}/artifacts/${video.jobId}/thumbnail.jpg" alt="" loading="lazy" width="112" height="63">`
  }</span>`;
}

/** The link to copy, and the code that embeds it; for one that does not work, the reason. */
export function linkOf(share: ShareInfo, { publicUrl }: Pick<Visit, 'publicUrl'>): Value {
  const { shares: t } = texts();
  const { token, state, first, jobIds } = share;
  const reason = state !== 'open' && html`<p class="muted">${t.reasons[state]}</p>`;
  if (state === 'revoked') return reason;
  const size = fitted(first ?? { widthPx: 1600, heightPx: 900 }, LARGEST_FRAME);
  const code = embedCode(embedUrl(publicUrl, token), { title: shareName(share), ...size });
  return [
    reason,
    copyable(t.address, 'share-link', watchUrl(publicUrl, token)),
    html`<details><summary class="small">${t.embed}</summary><div class="embed">${copyable(jobIds.length === 1 ? t.embedCode : t.embedFirst, 'share-embed', code)}</div></details>`,
  ];
}

/** Opens the page of the link in a tab of its own; not for one that does not work. */
export function openButton({ state, token }: ShareInfo, { publicUrl }: Pick<Visit, 'publicUrl'>): Value {
  return (
    state === 'open' &&
    html`<a class="button" href="${watchUrl(publicUrl, token)}" target="_blank" rel="noopener">${texts().shares.open}</a>`
  );
}

export function revokeButton({ state, shareId }: ShareInfo): Value {
  return (
    state !== 'revoked' &&
    html`<a class="button" href="${BASE}${sharePath(shareId)}/revoke">${texts().shares.revoke}</a>`
  );
}

/** How often a link was opened, and what it permits; without what the form beside it shows. */
export function shareFacts(share: ShareInfo, { settings }: { settings: boolean }): Html {
  const { shares: t, common } = texts();
  const { visibility, revokedAt, views, allowDownload, createdAt } = share;
  return html`<dt>${t.views}</dt><dd class="number">${shownNumber(views)}</dd>
${
  settings &&
  html`<dt>${t.visibility}</dt><dd>${t.visibilities[visibility]}</dd>
<dt>${t.expires}</dt><dd>${endOf(share)}</dd>
<dt>${t.poster}</dt><dd>${posterText(share)}</dd>
<dt>${t.downloads}</dt><dd>${allowDownload ? t.allowed : t.notAllowed}</dd>`
}
<dt>${common.created}</dt><dd>${shownTime(createdAt)}</dd>
${revokedAt !== null && html`<dt>${t.revoked}</dt><dd>${shownTime(revokedAt)}</dd>`}`;
}

/** When a link stops working, or has stopped. */
export function endOf({ expiresAt, revokedAt }: ShareInfo): Html {
  const end = revokedAt ?? expiresAt;
  return end === null ? html`${texts().shares.untilRevoked}` : shownTime(end);
}

function posterText({ poster }: ShareInfo): string {
  const { shares: t } = texts();
  if (poster === null) return t.thumbnail;
  return 'seconds' in poster ? t.atSeconds(shownNumber(poster.seconds)) : t.afterPlayNumber(poster.play + 1);
}
