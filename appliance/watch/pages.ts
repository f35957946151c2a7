import type { ArtifactName } from '../../lib/index.ts';
import { ARTIFACTS } from '../../lib/internal.ts';
import { type Html, html, longText, type Value } from '../dashboard/html.ts';
import { language, texts } from '../dashboard/language/texts.ts';
import { embedUrl, watchUrl } from '../dashboard/share-links.ts';
import { SCRIPT_ASSET, STYLESHEET_ASSET } from './assets/assets.ts';
import { shownClock } from './chapters.ts';
import { CHAPTERS_FILE } from './media.ts';
import { filesOf, type ShownVideo } from './shown-video.ts';

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
/** Offered first; of the others a page lists at most so many. */
const MOST_FILES = 20;

/** The page of a link: a video with its chapters, its playlist and what belongs to it. `base`: the public URL. */
export function watchPage(video: ShownVideo, base: string): Html {
  const { share, place, titles } = video;
  const words = texts().watch;
  const title = video.title ?? words.untitled;
  const isList = titles.length > 1;
  return document(
    `${title}${isList && share.title ? ` – ${share.title}` : ''}`,
    html`${card(video, base)}`,
    html`<body class="watch"><main>
<div class="stage">${player(video)}</div>
<div class="below"><article>
<header><div>${isList && html`<p class="muted">${share.title && html`${share.title} · `}${words.place(place, titles.length)}</p>`}<h1>${title}</h1></div>
<div class="tools"><label class="speed" hidden>${words.speed} <select id="speed">${SPEEDS.map((speed) => html`<option value="${speed}" ${speed === 1 && 'selected'}>${speed}×</option>`)}</select></label>${downloads(video)}</div></header>
${isList && html`<nav class="turns" aria-label="${words.playlist}">${turn(video, place - 1, words.previous, 'prev')}${turn(video, place + 1, words.next, 'next')}</nav>`}
${share.description !== null && html`<p class="description">${longText(share.description, 32_000)}</p>`}
<details class="keys" hidden><summary>${words.keys}</summary><dl>${words.keyList.map(([key, does]) => html`<dt>${key}</dt><dd>${does}</dd>`)}</dl></details>
</article>
<aside>${isList && playlist(video)}${chapterList(video)}</aside></div>
</main></body>`,
  );
}

/** The page with the player alone. */
export function embedPage(video: ShownVideo, base: string): Html {
  const title = video.title ?? texts().watch.untitled;
  const page = watchUrl(base, video.share.token) + query(video.place);
  return document(
    title,
    html`<link rel="canonical" href="${page}">`,
    html`<body class="embed">${player(video)}<a class="title" href="${page}" target="_blank" rel="noopener" aria-label="${texts().watch.watchOn}">${title}</a></body>`,
  );
}

/** The page of a link that shows nothing. */
export function noVideoPage(title: string, sentences: string[]): Html {
  return document(
    title,
    html`<meta name="robots" content="noindex">`,
    html`<body class="watch"><main class="none"><h1>${title}</h1>${sentences.map((sentence) => html`<p>${sentence}</p>`)}</main></body>`,
  );
}

function document(title: string, head: Html, body: Html): Html {
  return html`<!doctype html>
<html lang="${language()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}
<link rel="stylesheet" href="${STYLESHEET_ASSET.path}">
<script type="module" src="${SCRIPT_ASSET.path}"></script>
</head>
${body}
</html>`;
}

/** What other sites show of a link. */
function card({ share, job, place, widthPx, heightPx, title: own }: ShownVideo, base: string): Html {
  const title = own ?? texts().watch.untitled;
  const page = watchUrl(base, share.token) + query(place);
  const frame = embedUrl(base, share.token) + query(place);
  const picture = `${watchUrl(base, share.token)}/${place}/thumbnail.jpg`;
  const hasPicture = job.artifacts.some(({ name }) => name === 'thumbnail.jpg');
  const oembed = `${base}/oembed?format=json&url=${encodeURIComponent(page)}`;
  return html`${share.visibility !== 'public' && html`<meta name="robots" content="noindex">`}
<link rel="canonical" href="${page}">
<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}">
<meta name="description" content="${share.description ?? title}">
<meta property="og:type" content="video.other">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${share.description ?? title}">
<meta property="og:url" content="${page}">
${hasPicture && html`<meta property="og:image" content="${picture}"><meta name="twitter:image" content="${picture}">`}
<meta property="og:video" content="${frame}">
<meta property="og:video:type" content="text/html">
<meta property="og:video:width" content="${widthPx}">
<meta property="og:video:height" content="${heightPx}">
<meta name="twitter:card" content="player">
<meta name="twitter:title" content="${title}">
<meta name="twitter:player" content="${frame}">
<meta name="twitter:player:width" content="${widthPx}">
<meta name="twitter:player:height" content="${heightPx}">`;
}

function player(video: ShownVideo): Html {
  const { job, share, posterSeconds, widthPx, heightPx, chapters } = video;
  const has = (name: ArtifactName) => job.artifacts.some((artifact) => artifact.name === name);
  const words = texts().watch;
  if (!has('video.mp4')) return html`<p class="gone">${words.removed}</p>`;
  return html`<video controls playsinline preload="metadata" crossorigin="anonymous" width="${widthPx}" height="${heightPx}" data-kept="${share.allowDownload ? '' : 'here'}" data-fps="${job.fps}" data-poster="${posterSeconds ?? ''}" poster="${has('thumbnail.jpg') ? path(video, 'thumbnail.jpg') : ''}" src="${path(video, 'video.mp4')}">${has('captions.vtt') && html`<track kind="captions" label="${words.captions}" src="${path(video, 'captions.vtt')}" default>`}${chapters.length > 0 && html`<track kind="chapters" label="${words.chapters}" src="${path(video, CHAPTERS_FILE)}">`}</video>`;
}

function downloads(video: ShownVideo): Value {
  if (!video.share.allowDownload) return false;
  const names = filesOf(video).slice(0, MOST_FILES);
  if (names.length === 0) return false;
  const items = names.map(
    (name) =>
      html`<li><a href="${path(video, name)}?download" download>${name}</a><span class="muted">${ARTIFACTS[name].contentType.split(';')[0]}</span></li>`,
  );
  return html`<details class="menu"><summary class="button">${texts().watch.download}</summary><ul>${items}</ul></details>`;
}

function chapterList(video: ShownVideo): Value {
  if (video.chapters.length === 0) return false;
  const items = video.chapters.map(
    ({ title, startSeconds }) =>
      html`<li><a href="${path(video, 'video.mp4')}#t=${startSeconds.toFixed(2)}" data-seek="${startSeconds.toFixed(3)}"><time>${shownClock(startSeconds)}</time><span>${title}</span></a></li>`,
  );
  return html`<section><h2>${texts().watch.chapters}</h2><ol class="chapters">${items}</ol></section>`;
}

function playlist({ titles, place, share }: ShownVideo): Html {
  const items = titles.map(
    (title, at) =>
      html`<li><a href="/w/${share.token}${query(at + 1)}" aria-current="${at + 1 === place ? 'page' : 'false'}"><span class="number">${at + 1}</span><span>${title ?? texts().watch.untitled}</span></a></li>`,
  );
  return html`<section><h2>${texts().watch.playlist}</h2><ol class="playlist">${items}</ol></section>`;
}

function turn({ share, titles }: ShownVideo, place: number, label: string, rel: 'prev' | 'next'): Value {
  if (place < 1 || place > titles.length) return false;
  return html`<a class="button" rel="${rel}" href="/w/${share.token}${query(place)}">${label}</a>`;
}

function path({ share, place }: ShownVideo, name: string): string {
  return `/w/${share.token}/${place}/${name}`;
}

function query(place: number): string {
  return place === 1 ? '' : `?v=${place}`;
}
