import type { JobDetails } from '../../admin/administration-views.ts';
import { shownSize } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { note } from '../layout.ts';
import { progressText, statusTag } from './job-views.ts';

const STAGES = ['loading', 'rendering', 'finishing', 'checking'] as const;

/** What became of a job: its video or its error; its progress until then. */
export function outcome(job: JobDetails, assetUrl: string): Value {
  const { status, error, artifacts, jobId, forgottenAt } = job;
  if (forgottenAt !== null) return note('', 'The content of this job was forgotten. What it cost is kept.');
  if (error !== null) {
    return html`<section class="card"><h2>${error === 'Canceled' ? 'Canceled' : 'Error'}</h2>${error !== 'Canceled' && html`<pre class="wrap">${error}</pre>`}</section>`;
  }
  if (status === 'queued' || status === 'running') return progress(job);
  const urlOf = (name: string) => `${assetUrl}/artifacts/${jobId}/${name}`;
  const has = (name: string) => artifacts.some((artifact) => artifact.name === name);
  if (!has('video.mp4')) return undefined;
  const links = artifacts.map(
    ({ name, sizeBytes }) =>
      html`<span><a href="${urlOf(name)}">${name}</a> <span class="muted">${shownSize(sizeBytes)}</span></span>`,
  );
  return html`<section class="card"><video controls preload="metadata" src="${urlOf('video.mp4')}" poster="${urlOf('thumbnail.jpg')}">${
    has('captions.vtt') &&
    html`<track kind="captions" src="${urlOf('captions.vtt')}" label="Captions" default>`
  }</video><div class="actions small">${links}</div></section>`;
}

function progress({ jobId, status, progress, aspectRatio }: JobDetails): Html {
  const text = status === 'queued' ? 'Waiting for a worker.' : progressText(jobId, progress);
  const shape = aspectRatio === '9:16' ? 'picture portrait' : 'picture';
  return html`<section class="card"><div class="${shape}" data-picture="${jobId}">${statusTag(status)}</div>
<ol class="stages small" data-stages="${jobId}" data-stage="${progress?.stage}">${STAGES.map(
    (stage) => html`<li data-stage="${stage}">${stage}</li>`,
  )}</ol><p class="small">${text}</p></section>`;
}

/** The line of the author's code that an error names. */
export function lineOf(error: string | null): number | undefined {
  const found = /\bline (\d+)/.exec(error ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}
