import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import type { QueueInfo } from '../../admin/service-views.ts';
import { shownDecimal, shownDuration, shownSize, shownTime } from '../format.ts';
import { type Html, html, longText, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { note, POLLED } from '../layout.ts';
import { BASE } from '../route.ts';
import { progressText, stateOf, stateTag } from './job-views.ts';
import { textBox } from './texts.ts';

/** An error has at most 4,096 characters. */
const ERROR_BYTES = 25_000;

const STAGES = ['loading', 'rendering', 'finishing'] as const;

/** The outcome of a job: its video or its error; until then its progress, or why it waits. */
export async function outcome(
  job: JobDetails,
  { admin, assetUrl }: { admin: Pick<RemoteAdministration, 'queue'>; assetUrl: string },
): Promise<Value> {
  const { job: t } = texts();
  const { status, error, diagnosis, artifacts, jobId, forgottenAt } = job;
  if (forgottenAt !== null) return note('', t.isForgotten);
  if (error !== null) {
    const line = diagnosis?.line;
    const isCanceled = stateOf(job) === 'canceled';
    return html`<section class="card"><header><h2>${isCanceled ? t.states.canceled : t.error}</h2>${
      line && html`<a class="small" href="#line-${line}" data-go="${line}">${t.goToLine(line)}</a>`
    }</header>${!isCanceled && html`<pre class="wrap">${longText(error, ERROR_BYTES)}</pre>`}${diagnosis?.hint && html`<p class="hint">${withCode(diagnosis.hint)}</p>`}${printed(job)}</section>`;
  }
  if (status === 'queued' || status === 'running') return progress(job, await admin.queue.show());
  const video = player(job, assetUrl);
  if (!video) return undefined;
  const links = artifacts.map(
    ({ name, sizeBytes }) =>
      html`<span><a href="${assetUrl}/artifacts/${jobId}/${name}">${name}</a> <span class="muted">${shownSize(sizeBytes)}</span></span>`,
  );
  return html`<section class="card">${video}${timeline(job)}<div class="actions small">${links}</div>${printed(job)}</section>`;
}

/** The video of an earlier job, below a job that has none. */
export function lastVideo(job: JobDetails, assetUrl: string): Html | undefined {
  const { job: t } = texts();
  const video = player(job, assetUrl);
  return (
    video &&
    html`<section class="card"><header><h2>${t.lastVideo}</h2><a class="small" href="${BASE}/jobs/${job.jobId}">${filled(t.lastVideoOf, { time: shownTime(job.createdAt) })}</a></header>${video}</section>`
  );
}

function player({ jobId, artifacts }: JobDetails, assetUrl: string): Html | undefined {
  const urlOf = (name: string) => `${assetUrl}/artifacts/${jobId}/${name}`;
  const has = (name: string) => artifacts.some((artifact) => artifact.name === name);
  if (!has('video.mp4')) return undefined;
  return html`<video controls preload="metadata" src="${urlOf('video.mp4')}" poster="${urlOf('thumbnail.jpg')}">${
    has('captions.vtt') &&
    html`<track kind="captions" src="${urlOf('captions.vtt')}" label="${texts().job.captions}" default>`
  }</video>`;
}

/** Output of the scene, and warnings. */
function printed({ jobId, output }: JobDetails): Html | false {
  if (output === '') return false;
  return html`<details open><summary class="small">${texts().common.output}</summary>${textBox(output, { whole: `/jobs/${jobId}/output` })}</details>`;
}

function progress(job: JobDetails, queue: QueueInfo): Html {
  const { jobId, status, startedAt, progress, aspectRatio } = job;
  const { job: t } = texts();
  const text = status === 'queued' ? waitingText(queue) : progressText(jobId, progress);
  const shape = aspectRatio === '9:16' ? 'picture portrait' : 'picture';
  // No event tells why a job waits.
  return html`<section class="card">${status === 'queued' && POLLED}<div class="${shape}" data-picture="${jobId}">${stateTag(job)}</div>
<ol class="stages small" data-stages="${jobId}" data-stage="${progress?.stage}">${STAGES.map(
    (stage) => html`<li data-stage="${stage}">${t.stages[stage]}</li>`,
  )}</ol><p class="small">${text}</p>${
    startedAt !== null &&
    status === 'running' &&
    html`<p class="small number"><span data-since="${startedAt}">${filled(t.since, { time: shownTime(startedAt) })}</span>${t.atMost(shownDuration(queue.renderTimeoutSeconds * 1000))}</p>`
  }</section>`;
}

/** Why a job waits. */
function waitingText({ pausedAt, ready }: QueueInfo): string {
  const { job: t } = texts();
  if (pausedAt !== null) return t.queueIsPaused;
  return ready ? t.waitsForWorker : t.waitsForService;
}

/** The width of the whole strip, in the units of its picture. */
const STRIP = 1000;
/** What is shown of the plays, which may be 1,000: enough for some 300. */
const PLAYS_BYTES = 130_000;
/** Plays that are shorter than this are drawn as if they were not, so that they can be seen. */
const THINNEST = 2;

/** The plays of the scene, to seek in the video and to find their lines. */
function timeline({ plays }: JobDetails): Html | false {
  const last = plays.at(-1);
  if (!last) return false;
  const { job: t, counts } = texts();
  const whole = Math.max(last.startSeconds + last.seconds, 0.001);
  const place = (seconds: number) => Number(((seconds / whole) * STRIP).toFixed(1));
  const bars: Html[] = [];
  const items: Html[] = [];
  let room = PLAYS_BYTES;
  for (const [index, { startSeconds, seconds, shows, line }] of plays.entries()) {
    const bar = html`<rect class="${shows === 'wait' ? 'wait' : ''}" data-seek="${startSeconds}" data-play="${index}" x="${place(startSeconds)}" y="0" width="${Math.max(THINNEST, place(seconds) - 2)}" height="24"><title>${shows}${line > 0 && t.lineOfPlay(line)}</title></rect>`;
    const item = html`<li data-play="${index}" data-start="${startSeconds}" data-line="${line}"><button type="button" data-seek="${startSeconds}"><span class="number">${clock(startSeconds)}</span><span>${shows}</span></button>${line > 0 && html`<a href="#line-${line}" data-go="${line}">${t.line(line)}</a>`}</li>`;
    room -= bar.text.length + item.text.length;
    if (room < 0) break;
    bars.push(bar);
    items.push(item);
  }
  return html`<div class="timeline" data-timeline>
<svg viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true" data-seconds="${whole}">${bars}<rect class="head" x="-4" y="0" width="3" height="24"/></svg>
<details open><summary class="small">${items.length < plays.length && t.firstOf(items.length)}${counts.plays(plays.length)}</summary><ol class="plays small" tabindex="0" aria-label="${t.playsLabel}">${items}</ol></details></div>`;
}

/** `0:03.2`. */
function clock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = shownDecimal((tenths % 600) / 10);
  return `${Math.floor(tenths / 600)}:${rest.padStart(4, '0')}`;
}

/** A sentence with code in backticks. */
export function withCode(sentence: string): Value {
  return sentence.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
