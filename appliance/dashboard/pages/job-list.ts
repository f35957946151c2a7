import { isScenepressError } from '../../../lib/internal.ts';
import type { JobPage } from '../../admin/administration-views.ts';
import { shownNumber } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
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
  return page({ title: 'Jobs', section: 'jobs', viewer, csrf }, filterBar(visit, filters), content);
}

/** Without `autocomplete`, a browser that returns to the list ticks the same rows, which may be those of other jobs. */
function jobCard({ viewer, csrf, query, request }: Visit, filters: JobFilters, { jobs }: JobPage): Html {
  if (jobs.length === 0) {
    return html`<section class="card flush" id="live" data-live>${noJobs(filters, query['before'])}</section>`;
  }
  return html`<form method="post" action="${BASE}/jobs/selection" class="card flush" autocomplete="off">
${csrfField(csrf)}<input type="hidden" name="back" value="${request.url.search}">
<div class="bulk" role="group" aria-label="Selected jobs">
<label class="check" hidden><input type="checkbox" data-all="jobId"> All on this page</label>
<button name="action" value="cancel">Cancel</button><button name="action" value="retry">Render again</button><button name="action" value="forget">Forget …</button>
</div>
<div id="live" data-live>${jobTable(jobs, { accounts: viewer.role === 'admin', select: true })}</div></form>`;
}

function noJobs({ error, ...filters }: JobFilters, before: string | undefined): Html {
  if (error !== undefined) {
    return emptyState(
      'No such error here',
      'None of the failed jobs that were looked through contains this text.',
    );
  }
  if (before) return emptyState('No older jobs', 'This is the end of the list.');
  const { status, ...others } = filters;
  if (Object.keys(others).length > 0) return emptyState('No such jobs', 'No job matches all of the filters.');
  if (status) return emptyState(`No ${status} jobs`, 'No job has this state at the moment.');
  return emptyState(
    'No jobs yet',
    'Each render is listed here. Create an API key; the page that shows it has a command that renders a first scene.',
    html`<a class="button primary" href="${BASE}/keys/new">Create key</a>`,
  );
}

function paging(filters: JobFilters, before: string | undefined, { jobs, examined, next }: JobPage): Html {
  const older = next !== null && jobsUrl({ ...(filters as Record<string, string>), before: next });
  const isCutShort = examined !== null && next !== null && jobs.length < ROWS;
  return html`${
    examined !== null &&
    html`<p class="small muted">Looked through ${examined === 1 ? '1 failed job' : `${shownNumber(examined)} failed jobs`}: errors are stored encrypted, so each is read. Found: ${jobs.length}.${isCutShort && ' There are older ones.'}</p>`
  }<nav class="paging" aria-label="Pages">
<span>${before !== undefined && html`<a href="${jobsUrl(filters)}">Newest</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">${isCutShort ? 'Continue with older jobs' : 'Older jobs'}</a>`}</span>
</nav>`;
}
