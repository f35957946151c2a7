import type { JobInfo } from '../../admin/administration-views.ts';
import { shownNumber } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { emptyState, note, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { firstLine, jobName, jobTable, progressText, stateTag } from './job-views.ts';

/** Failures that are grouped; more would make the page slow. */
const MOST_FAILURES = 100;
const MOST_SHOWN = 8;
/** Maximum count per status; counting 100,000 takes as long as all the rest. */
const MOST_COUNTED = 10_000;

/** The figures of today. */
export function overviewRoutes(): Route[] {
  return [{ method: 'GET', path: '/overview', for: 'members', handler: overviewPage }];
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
  const { overview: t, common, counts } = texts();
  return page(
    {
      title: t.title,
      section: 'overview',
      viewer,
      csrf,
      lead: isAdmin ? t.leadOfAdministrator : t.lead,
    },
    html`<div id="live" data-live class="stack">
${queue.pausedAt !== null && note('warn', t.queueIsPaused)}
<dl class="figures">
<div><dt>${t.rendersToday}</dt><dd>${shownCount(total)}<small>${t.outcomes(shownCount(today.completed), shownCount(today.failed))}${canceled > 0 && t.canceled(shownCount(canceled))}</small></dd></div>
<div><dt>${t.running}</dt><dd>${shownNumber(running.length)}${running.length === MOST_SHOWN && '+'}<small>${isAdmin ? `${counts.workers(queue.workers)}${queue.ready ? '' : t.notReady}` : t.ofYours}</small></dd></div>
<div><dt>${t.queued}</dt><dd>${isAdmin ? shownNumber(queue.queued) : shownNumber(queued.length)}${!isAdmin && queued.length === MOST_SHOWN && '+'}<small>${queue.pausedAt === null ? t.waiting : t.waitingPaused}</small></dd></div>
<div><dt>${common.credits}</dt><dd>${prices ? shownNumber(balance.total) : t.free}<small>${prices ? t.freeAndPaid(shownNumber(balance.free), shownNumber(balance.paid)) : common.rendersAreFree}</small></dd></div>
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
  return html`<section class="card flush"><header><h2>${texts().overview.runningNow}</h2></header><ul class="list">${items}</ul></section>`;
}

function recentCard(recent: JobInfo[], accounts: boolean): Html {
  const { overview: t } = texts();
  return html`<section class="card flush"><header><h2>${t.latest}</h2><a href="${BASE}/jobs">${t.allJobs}</a></header>${jobTable(recent, { accounts })}</section>`;
}

function firstSteps(): Html {
  const { overview: t, common } = texts();
  return html`<section class="card">${emptyState(
    t.nothingYet,
    t.nothingYetText,
    html`<a class="button primary" href="${BASE}/keys/new">${common.createKey}</a>`,
  )}</section>`;
}

/** Failures of today by kind of error, the most frequent first. */
function failuresCard(failed: JobInfo[]): Html | false {
  if (failed.length === 0) return false;
  const { overview: t, counts } = texts();
  const groups = Map.groupBy(failed, ({ error }) => kindOf(error ?? ''));
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length).slice(0, MOST_SHOWN);
  const items = sorted.map(([kind, [latest, ...others]]) =>
    latest
      ? html`<li><span><strong>${kind}</strong> <span class="muted">${filled(t.latestFailure, { job: jobName(latest) })}</span></span><span class="tag bad">${counts.jobs(others.length + 1)}</span></li>`
      : undefined,
  );
  return html`<section class="card flush"><header><h2>${t.failuresToday}</h2><a href="${BASE}/jobs?status=failed">${t.allFailedJobs}</a></header><ul class="list">${items}</ul></section>`;
}

/** The type of a Python exception, or the first line of another message. */
export function kindOf(error: string): string {
  const line = firstLine(error);
  return (
    /^([A-Za-z_.]*(?:Error|Exception|Interrupt|Warning))\b/.exec(line)?.[1] ??
    (line || texts().overview.unknownFailure)
  );
}
