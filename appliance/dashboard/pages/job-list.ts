import { isScenepressError } from '../../../lib/internal.ts';
import type { JobPage } from '../../admin/administration-views.ts';
import { shownNumber } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { filterBar, filtersOf, type JobFilters, jobsUrl, requestOf } from './job-filter.ts';
import { selectionRoute } from './job-selection.ts';
import { jobTable } from './job-views.ts';

const ROWS = 50;

/** The list of jobs. */
export function jobListRoutes(): Route[] {
  return [{ method: 'GET', path: '/jobs', for: 'members', handler: listPage }, selectionRoute()];
}

async function listPage(visit: Visit): Promise<Answer> {
  const { admin, query } = visit;
  const filters = filtersOf(visit);
  const before = query['before'] || undefined;
  try {
    const found = await admin.jobs.search({ ...requestOf(filters), before, limit: ROWS });
    return listOf(visit, filters, [
      toldNote(visit.told),
      jobCard(visit, filters, found),
      paging(filters, before, found),
    ]);
  } catch (error) {
    // Such as a time that isn't one, or an account that doesn't exist.
    if (!isScenepressError(error, 'invalid_request', 'not_found')) throw error;
    const status = error.code === 'not_found' ? 404 : 400;
    return { page: listOf(visit, filters, note('bad', error.message)), status };
  }
}

function listOf(visit: Visit, filters: JobFilters, content: Value): Html {
  const { viewer, csrf } = visit;
  return page(
    { title: texts().jobs.title, section: 'jobs', viewer, csrf },
    filterBar(visit, filters),
    content,
  );
}

/** Without `autocomplete`, a browser that returns to the list ticks the same rows, which may be those of other jobs. */
function jobCard({ viewer, csrf, query, request }: Visit, filters: JobFilters, { jobs }: JobPage): Html {
  if (jobs.length === 0) {
    return html`<section class="card flush" id="live" data-live>${noJobs(filters, query['before'])}</section>`;
  }
  const { jobs: t, shares, common } = texts();
  return html`<form method="post" action="${BASE}/jobs/selection" class="card flush" autocomplete="off">
${csrfField(csrf)}<input type="hidden" name="back" value="${request.url.search}">
<div class="bulk" role="group" aria-label="${t.selected}">
<label class="check" hidden><input type="checkbox" data-all="jobId"> ${t.allOnThisPage}</label>
<button name="action" value="cancel">${common.cancel}</button><button name="action" value="retry">${common.renderAgain}</button><button name="action" value="share">${shares.share}</button><button name="action" value="forget">${t.forget}</button>
</div>
<div id="live" data-live>${jobTable(jobs, { accounts: viewer.role === 'admin', select: true })}</div></form>`;
}

function noJobs({ error, ...filters }: JobFilters, before: string | undefined): Html {
  const { jobs: t, common } = texts();
  if (error !== undefined) return emptyState(t.noSuchError, t.noSuchErrorText);
  if (before) return emptyState(t.noneOlder, common.endOfList);
  const { status, ...others } = filters;
  if (Object.keys(others).length > 0) return emptyState(t.noMatch, t.noMatchText);
  if (status) return emptyState(t.noneWith[status], t.noneWithText);
  return emptyState(
    t.noneYet,
    t.noneYetText,
    html`<a class="button primary" href="${BASE}/keys/new">${common.createKey}</a>`,
  );
}

function paging(filters: JobFilters, before: string | undefined, { jobs, examined, next }: JobPage): Html {
  const { jobs: t, common } = texts();
  const older = next !== null && jobsUrl({ ...(filters as Record<string, string>), before: next });
  const isCutShort = examined !== null && next !== null && jobs.length < ROWS;
  return html`${
    examined !== null &&
    html`<p class="small muted">${t.lookedThrough(examined, shownNumber(examined), jobs.length)}${isCutShort && t.thereAreOlder}</p>`
  }<nav class="paging" aria-label="${common.pages}">
<span>${before !== undefined && html`<a href="${jobsUrl(filters)}">${common.newest}</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">${isCutShort ? t.continueWithOlder : t.older}</a>`}</span>
</nav>`;
}
