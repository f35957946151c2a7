import type { Delivery, JobStatus } from '../../../lib/index.ts';
import { JOB_STATUSES } from '../../admin/administration-requests.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { shownDuration, shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { emptyState, page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { answerOf, deliveryTag } from './delivery-views.ts';
import { jobTable, statusTag } from './job-views.ts';
import { lineOf, outcome } from './outcome.ts';

const ROWS = 50;

/** Jobs: the list, and a page for each. */
export function jobRoutes(): Route[] {
  return [
    { method: 'GET', path: '/jobs', for: 'members', handler: listPage },
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

async function listPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf, query } = visit;
  const status = JOB_STATUSES.find((status) => status === query['status']);
  const account = (viewer.role === 'admin' && query['account']) || undefined;
  const before = query['before'] || undefined;
  // One more shows whether there is another page.
  const found = await admin.jobs.list({ status, account, before, limit: ROWS + 1 });
  const jobs = found.slice(0, ROWS);
  const kept = { ...(account !== undefined && { account }), ...(status && { status }) };
  const last = jobs.at(-1);
  return page(
    {
      title: 'Jobs',
      section: 'jobs',
      viewer,
      csrf,
      actions: viewer.role === 'admin' && accountFilter(account, status),
    },
    html`<nav class="filters" aria-label="Status">${[undefined, ...JOB_STATUSES].map((one) => statusFilter(one, status, account))}</nav>
<section class="card flush" id="live" data-live>${
      jobs.length > 0 ? jobTable(jobs, { accounts: viewer.role === 'admin' }) : noJobs(status, before)
    }</section>
<nav class="paging" aria-label="Pages">
<span>${before !== undefined && html`<a href="${jobsUrl(kept)}">Newest</a>`}</span>
<span>${found.length > ROWS && last && html`<a href="${jobsUrl({ ...kept, before: last.jobId })}" rel="next">Older jobs</a>`}</span>
</nav>`,
  );
}

function noJobs(status: JobStatus | undefined, before: string | undefined): Html {
  if (before !== undefined) return emptyState('No older jobs', 'This is the end of the list.');
  if (status) return emptyState(`No ${status} jobs`, 'No job has this status at the moment.');
  return emptyState(
    'No jobs yet',
    'Each render is listed here. Create an API key; the page that shows it has a command that renders a first scene.',
    html`<a class="button primary" href="${BASE}/keys/new">Create key</a>`,
  );
}

function jobsUrl(query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return `${BASE}/jobs${text && `?${text}`}`;
}

function statusFilter(
  one: JobStatus | undefined,
  status: JobStatus | undefined,
  account: string | undefined,
): Html {
  const label = one === undefined ? 'All' : `${one.slice(0, 1).toUpperCase()}${one.slice(1)}`;
  const url = jobsUrl({ ...(account !== undefined && { account }), ...(one && { status: one }) });
  return one === status
    ? html`<a href="${url}" aria-current="true">${label}</a>`
    : html`<a href="${url}">${label}</a>`;
}

function accountFilter(account: string | undefined, status: JobStatus | undefined): Html {
  return html`<form method="get" action="${BASE}/jobs" class="actions">
<label class="visually-hidden" for="account">Account</label>
<input id="account" name="account" type="text" value="${account}" placeholder="All accounts" size="24" autocomplete="off">
${status && html`<input type="hidden" name="status" value="${status}">`}<button>Filter</button></form>`;
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
    html`<div id="live" data-live class="columns">
<div class="stack">${outcome(job, visit.assetUrl)}${source(job)}</div>
<div class="stack">
<section class="card">${facts(job)}<div class="actions">${actions(job, csrf)}</div></section>
${job.metadataJson !== null && html`<section class="card"><h2>Metadata</h2><pre class="wrap">${job.metadataJson}</pre></section>`}
${deliveryCard(deliveries)}
</div></div>`,
  );
}

function source({ code, error }: JobDetails): Html | false {
  if (code === null) return false;
  const marked = lineOf(error);
  const lines = code
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => {
      const number = html`<span class="line">${index + 1}</span>`;
      return index + 1 === marked
        ? html`<mark id="line-${index + 1}">${number}${line}</mark>\n`
        : html`<span class="code" id="line-${index + 1}">${number}${line}</span>\n`;
    });
  return html`<section class="card"><header><h2>Code</h2><button type="button" data-copy="code" hidden>Copy</button></header><pre tabindex="0">${lines}</pre><div id="code" hidden>${code}</div></section>`;
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
      html`<li><span><a href="${BASE}/webhooks/${delivery.deliveryId}">${delivery.url}</a><span class="clip small muted">${shownTime(delivery.createdAt)} · ${answerOf(delivery)}</span></span>${deliveryTag(delivery)}</li>`,
  );
  return html`<section class="card flush"><header><h2>Webhook</h2></header><ul class="list">${items}</ul></section>`;
}

async function forgetPage({ admin, viewer, csrf, params }: Visit): Promise<Html> {
  const job = await admin.jobs.show({ jobId: params['jobId'] ?? '' });
  return page(
    { title: 'Forget job', section: 'jobs', viewer, csrf },
    html`<section class="card">
<p>Forget <strong>${job.className}</strong>? Its code, metadata, error and artifacts are erased. What it cost is kept. This cannot be undone.</p>
<div class="actions">${postButton({ to: `/jobs/${job.jobId}/forget`, csrf, label: 'Forget job', look: 'danger' })}<a class="button" href="${BASE}/jobs/${job.jobId}">Cancel</a></div>
</section>`,
  );
}
