import type { Quality } from '../../../lib/index.ts';
import { QUALITY_NAMES } from '../../../lib/internal.ts';
import type { JobFilter } from '../../admin/jobs.ts';
import { shownQuality } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Visit } from '../route.ts';
import { JOB_STATES, type JobState, stateLabel } from './job-views.ts';
import { timeField, utcTime } from './times.ts';

/** The filters of the list of jobs, as its URL has them. */
export interface JobFilters {
  status?: JobState;
  quality?: Quality;
  account?: string;
  error?: string;
  from?: string;
  to?: string;
}

/** The filters in a URL; unknown ones are ignored. */
export function filtersOf({ query, viewer }: Pick<Visit, 'query' | 'viewer'>): JobFilters {
  const status = JOB_STATES.find((one) => one === query['status']);
  const quality = QUALITY_NAMES.find((one) => one === query['quality']);
  const { account, error, from, to } = query;
  return {
    ...(status && { status }),
    ...(quality && { quality }),
    ...(viewer.role === 'admin' && account && { account }),
    ...(error && { error }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** The request of the administration for jobs with these filters. */
export function requestOf({ from, to, status, ...filters }: JobFilters): JobFilter & { error?: string } {
  const isEnded = status === 'failed' || status === 'canceled';
  return {
    ...filters,
    ...(isEnded ? { status: 'failed', canceled: status === 'canceled' } : status && { status }),
    ...(from !== undefined && { since: utcTime(from) }),
    ...(to !== undefined && { until: utcTime(to) }),
  };
}

export function jobsUrl(query: Record<string, string> | JobFilters): string {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return `${BASE}/jobs${text && `?${text}`}`;
}

/** Links to the statuses, and a form with the other filters. */
export function filterBar({ viewer }: Visit, filters: JobFilters): Html {
  const { jobs: t, common } = texts();
  const { status, ...others } = filters;
  const { account, quality, error, from, to } = others;
  const isAdmin = viewer.role === 'admin';
  const count = Object.keys(others).length;
  const options = QUALITY_NAMES.map(
    (name) => html`<option value="${name}" ${name === quality && 'selected'}>${shownQuality(name)}</option>`,
  );
  return html`<div class="stack dense">
<nav class="filters" aria-label="${common.status}">${[undefined, ...JOB_STATES].map((one) => statusLink(one, filters))}</nav>
<details class="card more" ${count > 0 && 'open'}><summary>${t.filters}${count > 0 && html` <span class="tag">${t.set(count)}</span>`}</summary>
<form method="get" action="${BASE}/jobs" class="fields">
${status && html`<input type="hidden" name="status" value="${status}">`}
<label>${t.errorText}<input type="search" name="error" value="${error}" maxlength="200" autocomplete="off"></label>
<label>${common.quality}<select name="quality"><option value="">${t.anyQuality}</option>${options}</select></label>
${isAdmin && html`<label>${common.account}<input type="text" name="account" value="${account}" placeholder="${t.allAccounts}" autocomplete="off"></label>`}
${timeField(t.from, 'from', from)}
${timeField(t.to, 'to', to)}
<div class="actions"><button>${t.filter}</button>${count > 0 && html`<a href="${jobsUrl(status ? { status } : {})}">${t.clear}</a>`}</div>
</form></details></div>`;
}

function statusLink(one: JobState | undefined, { status, ...others }: JobFilters): Html {
  const label = one === undefined ? texts().jobs.all : stateLabel(one);
  const url = jobsUrl({ ...(one && { status: one }), ...others });
  return one === status
    ? html`<a href="${url}" aria-current="true">${label}</a>`
    : html`<a href="${url}">${label}</a>`;
}
