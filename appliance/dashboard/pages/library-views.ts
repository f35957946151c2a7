import type { JobInfo } from '../../admin/administration-views.ts';
import { EXAMPLES } from '../assets/examples.ts';
import { shownLength, shownQuality, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { firstLine, progressText, stateOf } from './job-views.ts';

/** Of the gallery, in the empty library. */
const SHOWN_EXAMPLES = ['02-fourier', '03-pythagoras', '06-lorenz'];
const STAR = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="m12 3.6 2.6 5.3 5.8.8-4.2 4.1 1 5.8-5.2-2.7-5.2 2.7 1-5.8L3.6 9.7l5.8-.8z"/></svg>`;
/** The form that all stars of a page belong to. */
const STARS = 'stars';
const LOOKS = { queued: '', running: 'busy', completed: 'good', failed: 'bad', canceled: '', forgotten: '' };

/** The name of a video: its title, or its class. */
export function videoName({ title, className }: Pick<JobInfo, 'title' | 'className'>): string {
  return title ?? (className || texts().job.forgottenJob);
}

/** The form that the boxes of the cards belong to. */
const SELECTION = 'selection';

/** The cards of videos, and what is done with the selected ones. */
export function grid(jobs: JobInfo[], visit: Visit): Html {
  return html`${starForm(visit)}<ul class="videos">${jobs.map((job) => card(job, visit))}</ul>`;
}

/** What is done with selected videos: shown while there are some. */
export function selectionBar({ csrf, request }: Visit, projects: readonly string[]): Html {
  const { library, shares } = texts();
  return html`<form method="post" action="${BASE}/jobs/selection" id="${SELECTION}" class="card selection" aria-label="${library.selected}">${csrfField(csrf)}<input type="hidden" name="page" value="library"><input type="hidden" name="back" value="${request.url.search}">
<strong>${library.selected}</strong><button name="action" value="star">${library.starSelected}</button>
<span class="join"><input name="tagTo" placeholder="${library.tag}" aria-label="${library.tags}" maxlength="200" autocomplete="off"><button name="action" value="tag">${library.addTag}</button></span>
<span class="join"><input name="moveTo" list="projects" placeholder="${library.project}" aria-label="${library.project}" maxlength="100" autocomplete="off"><button name="action" value="move">${library.move}</button></span><datalist id="projects">${projects.map((name) => html`<option value="${name}"></option>`)}</datalist>
<button name="action" value="share">${shares.share}</button><button name="action" value="retry">${library.again}</button><button name="action" value="forget" class="danger">${library.forget}</button></form>`;
}

function card(job: JobInfo, visit: Visit): Html {
  const { jobId, account, quality, createdAt, project, error, progress, videoSeconds } = job;
  const state = stateOf(job);
  const name = videoName(job);
  const isPortrait = job.aspectRatio === '9:16';
  return html`<li class="video ${isPortrait && 'portrait'}">
<a class="frame" href="${BASE}/jobs/${jobId}" tabindex="-1" aria-hidden="true">${picture(job, visit)}${videoSeconds !== null && html`<span class="length number">${shownLength(videoSeconds)}</span>`}</a>
${state !== 'completed' && html`<span class="tag ${LOOKS[state]} over">${texts().library.states[state]}</span>`}
<label class="select-video"><input type="checkbox" name="jobId" value="${jobId}" form="${SELECTION}" aria-label="${texts().library.select(name)}"></label>
<div class="about"><div><a class="name" href="${BASE}/jobs/${jobId}">${name}</a>
<p class="small muted">${visit.viewer.role === 'admin' && html`<span class="by">${account}</span> · `}${shownTime(createdAt)} · ${shownQuality(quality)}${project !== null && html` · ${project}`}</p>
${state === 'running' && html`<p class="small">${progressText(jobId, progress)}</p>`}${state === 'failed' && html`<p class="small muted clip">${firstLine(error ?? '')}</p>`}</div>
<div class="tools">${starOf(job)}${cardMenu(job, visit)}</div></div></li>`;
}

/** The thumbnail of a video, its newest frame while it renders, or an empty frame. */
export function picture(
  { jobId, status, artifacts, aspectRatio, ...job }: JobInfo,
  { assetUrl }: Pick<Visit, 'assetUrl'>,
): Value {
  if (status === 'running') return html`<span class="thumbnail" data-picture="${jobId}"></span>`;
  const has = (name: string) => artifacts.some((artifact) => artifact.name === name);
  if (!has('thumbnail.jpg')) return html`<span class="thumbnail none">${job.className}</span>`;
  const [width, height] = aspectRatio === '9:16' ? [360, 640] : [640, 360];
  const video = has('video.mp4') && `${assetUrl}/artifacts/${jobId}/video.mp4`;
  return html`<img class="thumbnail" src="${assetUrl}/artifacts/${jobId}/thumbnail.jpg" alt="" width="${width}" height="${height}" loading="lazy" decoding="async" data-video="${video}">`;
}

/** Stars a video, or removes its star. */
export function starButton(job: JobInfo, visit: Visit): Html | false {
  return job.forgottenAt === null && html`${starForm(visit)}${starOf(job)}`;
}

/** The form of all stars of a page. */
function starForm({ csrf, request }: Visit): Html {
  return html`<form method="post" id="${STARS}" hidden>${csrfField(csrf)}${backField(request)}</form>`;
}

function starOf(job: JobInfo): Html {
  const { library } = texts();
  const name = videoName(job);
  const label = job.starred ? library.unstar(name) : library.star(name);
  return html`<span class="star"><button form="${STARS}" formaction="${BASE}/jobs/${job.jobId}/star" name="starred" value="${job.starred ? 'no' : 'yes'}" aria-label="${label}" aria-pressed="${job.starred ? 'true' : 'false'}">${STAR}</button></span>`;
}

/** The page that a form returns to. */
function backField({ path, url }: Visit['request']): Html {
  return html`<input type="hidden" name="back" value="${path}${url.search}">`;
}

/** The library without videos: examples that are rendered with one click. */
export function firstVideos({ csrf }: Visit): Html {
  const { library } = texts();
  const examples = EXAMPLES.filter(({ name }) => SHOWN_EXAMPLES.includes(name));
  return html`<section class="first"><h2>${library.emptyTitle}</h2><p class="muted">${library.emptyText}</p>
<form method="post" action="${BASE}/library/example">${csrfField(csrf)}<ul class="videos">${examples.map(
    ({ name, title, picture: path }) =>
      html`<li class="video"><button class="example" name="example" value="${name}" aria-label="${library.render(title)}"><img class="thumbnail" src="${path}" alt="" width="640" height="360"><span class="name">${title}</span></button></li>`,
  )}</ul></form><p><a href="${BASE}/playground">${library.own}</a></p></section>`;
}

/** Opens the form that changes the labels of a card. */
function cardMenu(job: JobInfo, visit: Visit): Html {
  const label = texts().library.options(videoName(job));
  return html`<details class="menu"><summary id="menu-${job.jobId}" aria-label="${label}">⋮</summary><div class="card">${labelFields(job, visit, backField(visit.request))}</div></details>`;
}

/** The form that changes title, tags and project of a job. */
export function labelForm(job: JobInfo, visit: Pick<Visit, 'csrf'>): Html | false {
  if (job.forgottenAt !== null) return false;
  return html`<details class="card more"><summary>${texts().library.rename}</summary>${labelFields(job, visit)}</details>`;
}

/** `back`: the page that it returns to; otherwise that of the job. */
function labelFields(job: JobInfo, { csrf }: Pick<Visit, 'csrf'>, back?: Html): Html {
  const { library } = texts();
  return html`<form method="post" action="${BASE}/jobs/${job.jobId}/labels" class="fields">${csrfField(csrf)}${back}
<label>${library.name}<input name="title" value="${job.title}" placeholder="${job.className}" maxlength="200" autocomplete="off"></label>
<label>${library.project}<input name="project" value="${job.project}" maxlength="100" autocomplete="off"></label>
<label>${library.tags}<input name="tags" value="${job.tags.join(', ')}" autocomplete="off"></label>
<div class="actions"><button class="primary">${library.save}</button></div></form>`;
}
