import type { JobInfo } from '../../admin/administration-views.ts';
import { counted, shownNumber } from '../format.ts';
import { type Html, html } from '../html.ts';
import { emptyState, note, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { firstLine, jobName, jobTable, progressText, stateTag } from './job-views.ts';

/** Failures that are grouped; more would make the page slow. */
const MOST_FAILURES = 100;
const MOST_SHOWN = 8;
/** Maximum count per status; counting 100,000 takes as long as all the rest. */
const MOST_COUNTED = 10_000;

/** The page that opens first. */
export function overviewRoutes(): Route[] {
  return [{ method: 'GET', path: '', for: 'members', handler: overviewPage }];
}

async function overviewPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf } = visit;
  const midnight = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;
  const [today, { failed: canceled }, recent, failed, running, queued, queue, prices, balance] =
    await Promise.all([
      admin.jobs.count({ since: midnight, canceled: false, limit: MOST_COUNTED }),
      admin.jobs.count({ since: midnight, canceled: true, limit: MOST_COUNTED }),
      admin.jobs.list({ limit: MOST_SHOWN }),
      admin.jobs.list({ status: 'failed', canceled: false, since: midnight, limit: MOST_FAILURES }),
      admin.jobs.list({ status: 'running', limit: MOST_SHOWN }),
      admin.jobs.list({ status: 'queued', limit: MOST_SHOWN }),
      admin.queue.show(),
      admin.credits.showPrices(),
      admin.credits.balance({ account: viewer.accountId }),
    ]);
  const total = today.queued + today.running + today.completed + today.failed + canceled;
  const isAdmin = viewer.role === 'admin';
  return page(
    {
      title: 'Overview',
      section: 'overview',
      viewer,
      csrf,
      lead: isAdmin ? 'The renders of all accounts.' : 'Your renders.',
    },
    html`<div id="live" data-live class="stack">
${queue.pausedAt !== null && note('warn', 'The queue is paused: renders are accepted, but none starts.')}
<dl class="figures">
<div><dt>Renders today</dt><dd>${shownCount(total)}<small>${shownCount(today.completed)} completed, ${shownCount(today.failed)} failed${canceled > 0 && `, ${shownCount(canceled)} canceled`}</small></dd></div>
<div><dt>Running</dt><dd>${shownNumber(running.length)}${running.length === MOST_SHOWN && '+'}<small>${isAdmin ? `${counted(queue.workers, 'worker')}${queue.ready ? '' : ', not ready'}` : 'of yours'}</small></dd></div>
<div><dt>Queued</dt><dd>${isAdmin ? shownNumber(queue.queued) : shownNumber(queued.length)}${!isAdmin && queued.length === MOST_SHOWN && '+'}<small>${queue.pausedAt === null ? 'waiting for a worker' : 'waiting: the queue is paused'}</small></dd></div>
<div><dt>Credits</dt><dd>${prices ? shownNumber(balance.total) : 'Free'}<small>${prices ? `${shownNumber(balance.free)} free, ${shownNumber(balance.paid)} paid` : 'renders cost nothing here'}</small></dd></div>
</dl>
${runningCard(running)}
${recent.length === 0 ? firstSteps() : [failuresCard(failed), recentCard(recent, isAdmin)]}
</div>`,
  );
}

/** `1,234`, `10,000+`. */
function shownCount(count: number): string {
  return count < MOST_COUNTED ? shownNumber(count) : `${shownNumber(MOST_COUNTED)}+`;
}

function runningCard(running: JobInfo[]): Html | false {
  if (running.length === 0) return false;
  const items = running.map(
    (job) =>
      html`<li class="running"><div class="thumb" data-picture="${job.jobId}"></div><span>${jobName(job)} ${progressText(job.jobId, job.progress)}</span>${stateTag(job)}</li>`,
  );
  return html`<section class="card flush"><header><h2>Running now</h2></header><ul class="list">${items}</ul></section>`;
}

function recentCard(recent: JobInfo[], accounts: boolean): Html {
  return html`<section class="card flush"><header><h2>Latest renders</h2><a href="${BASE}/jobs">All jobs</a></header>${jobTable(recent, { accounts })}</section>`;
}

function firstSteps(): Html {
  return html`<section class="card">${emptyState(
    'Nothing rendered yet',
    'Create an API key. The page that shows it has a command that renders a first scene.',
    html`<a class="button primary" href="${BASE}/keys/new">Create key</a>`,
  )}</section>`;
}

/** Failures of today by kind of error, the most frequent first. */
function failuresCard(failed: JobInfo[]): Html | false {
  if (failed.length === 0) return false;
  const groups = Map.groupBy(failed, ({ error }) => kindOf(error ?? ''));
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length).slice(0, MOST_SHOWN);
  const items = sorted.map(([kind, [latest, ...others]]) =>
    latest
      ? html`<li><span><strong>${kind}</strong> <span class="muted">latest: ${jobName(latest)}</span></span><span class="tag bad">${counted(others.length + 1, 'job')}</span></li>`
      : undefined,
  );
  return html`<section class="card flush"><header><h2>Failures today</h2><a href="${BASE}/jobs?status=failed">All failed jobs</a></header><ul class="list">${items}</ul></section>`;
}

/** The type of a Python exception, or the first line of another message. */
export function kindOf(error: string): string {
  const line = firstLine(error);
  return /^([A-Za-z_.]*(?:Error|Exception|Interrupt|Warning))\b/.exec(line)?.[1] ?? (line || 'Unknown');
}
