import type { Delivery } from '../../../lib/index.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { shownDuration, shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { page, postButton } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { answerText, deliveryTag } from './delivery-views.ts';
import { statusTag } from './job-views.ts';
import { lineOf, outcome } from './outcome.ts';
import { usageCard } from './usage-view.ts';

/** The page of each job. */
export function jobRoutes(): Route[] {
  return [
    { method: 'GET', path: '/jobs/{jobId}', for: 'members', handler: jobPage },
    {
      method: 'POST',
      path: '/jobs/{jobId}/cancel',
      for: 'members',
      async handler({ admin, params }) {
        const { jobId } = await admin.jobs.cancel({ jobId: params['jobId'] ?? '' });
        return { to: `/jobs/${jobId}` };
      },
    },
    {
      method: 'POST',
      path: '/jobs/{jobId}/render-again',
      for: 'members',
      async handler({ admin, params }) {
        const { jobId } = await admin.jobs.renderAgain({ jobId: params['jobId'] ?? '' });
        return { to: `/jobs/${jobId}` };
      },
    },
    { method: 'GET', path: '/jobs/{jobId}/forget', for: 'members', handler: forgetPage },
    {
      method: 'POST',
      path: '/jobs/{jobId}/forget',
      for: 'members',
      async handler({ admin, params }) {
        const { jobId } = await admin.jobs.forget({ jobId: params['jobId'] ?? '' });
        return { to: `/jobs/${jobId}` };
      },
    },
  ];
}

async function jobPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf, params } = visit;
  const jobId = params['jobId'] ?? '';
  const job = await admin.jobs.showDetails({ jobId });
  const deliveries = await admin.deliveries.list({ jobId, limit: 20 });
  return page(
    {
      title: job.className || 'Forgotten job',
      section: 'jobs',
      viewer,
      csrf,
      lead: html`<code>${jobId}</code>`,
    },
    html`<div class="columns">
<div class="stack">${region('outcome', outcome(job, visit.assetUrl))}${region('source', source(job))}</div>
<div class="stack">
${region('facts', html`<section class="card">${facts(job)}<div class="actions">${actions(job, csrf)}</div></section>`)}
${region('times', usageCard(job))}
${region('metadata', job.metadataJson !== null && html`<section class="card"><h2>Metadata</h2><pre class="wrap">${job.metadataJson}</pre></section>`)}
${region('deliveries', deliveryCard(deliveries))}
</div></div>`,
  );
}

/** A part of the page that is replaced alone, so that a video goes on playing while other parts change. */
function region(id: string, content: Value): Html {
  return html`<div id="${id}" data-live class="part">${content}</div>`;
}

function source({ code, error }: JobDetails): Html | false {
  if (code === null) return false;
  const marked = lineOf(error);
  const lines = code
    .replace(/(?:\r\n?|\n)$/, '')
    .split(/\r\n?|\n/)
    .map((text, index) => {
      const line = withEscapes(text);
      const number = html`<span class="line">${index + 1}</span>`;
      return index + 1 === marked
        ? html`<mark id="line-${index + 1}">${number}${line}</mark>\n`
        : html`<span class="code" id="line-${index + 1}">${number}${line}</span>\n`;
    });
  return html`<section class="card"><header><h2>Code</h2><button type="button" data-copy="code" hidden>Copy</button></header><pre tabindex="0">${lines}</pre><div id="code" hidden>${code}</div></section>`;
}

/** Characters that are invisible or reorder others. */
const HIDDEN = /([\p{Bidi_Control}\u2028\u2029\ufeff]|(?!\t)\p{Cc})/u;

/** Shows hidden characters as `⟨U+202E⟩`. */
function withEscapes(line: string): Value[] {
  return line.split(HIDDEN).map((part, index) => {
    if (index % 2 === 0) return part;
    const code = part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return html`<span class="hidden-character">⟨U+${code}⟩</span>`;
  });
}

function facts(job: JobDetails): Html {
  return html`<dl class="details">
<dt>Status</dt><dd>${statusTag(job.status)}</dd>
<dt>Account</dt><dd>${job.account}</dd>
<dt>Quality</dt><dd>${job.quality}, ${job.aspectRatio}, ${job.fps} fps</dd>
<dt>Created</dt><dd>${shownTime(job.createdAt)}</dd>
${job.startedAt !== null && html`<dt>Started</dt><dd>${shownTime(job.startedAt)}</dd>`}
${job.completedAt !== null && html`<dt>Ended</dt><dd>${shownTime(job.completedAt)}</dd>`}
<dt>Render time</dt><dd>${shownDuration(job.durationMs)}</dd>
<dt>Credits</dt><dd>${shownNumber(job.creditsCost)}</dd>
<dt>Attempts</dt><dd>${job.attempts}</dd>
<dt>Webhook</dt><dd>${job.webhookUrl ?? '–'}</dd>
</dl>`;
}

function actions({ jobId, status, code, forgottenAt }: JobDetails, csrf: string): Value {
  if (status === 'queued' || status === 'running') {
    return postButton({ to: `/jobs/${jobId}/cancel`, csrf, label: 'Cancel' });
  }
  return [
    code !== null &&
      postButton({ to: `/jobs/${jobId}/render-again`, csrf, label: 'Render again', look: 'primary' }),
    code !== null && html`<a class="button" href="${BASE}/playground?job=${jobId}">Open in playground</a>`,
    forgottenAt === null && html`<a class="button" href="${BASE}/jobs/${jobId}/forget">Forget …</a>`,
  ];
}

function deliveryCard(deliveries: Delivery[]): Html | false {
  if (deliveries.length === 0) return false;
  const items = deliveries.map(
    (delivery) =>
      html`<li><span><a href="${BASE}/webhooks/${delivery.deliveryId}">${delivery.url}</a><span class="clip small muted">${delivery.event}${delivery.repeats !== null && ', sent again'}</span></span>${deliveryTag(delivery)}${attemptList(delivery)}</li>`,
  );
  return html`<section class="card flush"><header><h2>Webhook</h2></header><ul class="list">${items}</ul></section>`;
}

function attemptList({ attempts }: Delivery): Html {
  if (attempts.length === 0) return html`<p class="small muted">Not sent yet.</p>`;
  const items = attempts.map(
    ({ startedAt, endedAt, status, reason }) =>
      html`<li>${shownTime(startedAt)} <span>${answerText(endedAt === null ? null : status, reason)}</span></li>`,
  );
  return html`<ol class="attempts small muted" aria-label="Attempts">${items}</ol>`;
}

async function forgetPage({ admin, viewer, csrf, params }: Visit): Promise<Answer> {
  const job = await admin.jobs.showDetails({ jobId: params['jobId'] ?? '' });
  if (job.forgottenAt !== null) return { to: `/jobs/${job.jobId}` };
  return page(
    { title: 'Forget job', section: 'jobs', viewer, csrf },
    html`<section class="card">
<p>Forget <strong>${job.className}</strong>? Its code, metadata, error and artifacts are erased. What it cost is kept. This cannot be undone.</p>
<div class="actions">${postButton({ to: `/jobs/${job.jobId}/forget`, csrf, label: 'Forget job', look: 'danger' })}<a class="button" href="${BASE}/jobs/${job.jobId}">Cancel</a></div>
</section>`,
  );
}
