import { notFound } from '@hapi/boom';
import { isScenepressError, QUALITY_NAMES } from '../../../lib/internal.ts';
import type { JobInfo } from '../../admin/administration-views.ts';
import { LIBRARY_ASSET } from '../assets/assets.ts';
import { EXAMPLES } from '../assets/examples.ts';
import { shownQuality } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { emptyState, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, pathWithin, type Route, type Visit } from '../route.ts';
import { filtersOf, requestOf } from './job-filter.ts';
import { tagsIn } from './job-selection.ts';
import { JOB_STATES } from './job-views.ts';
import { firstVideos, grid, selectionBar } from './library-views.ts';

const CARDS = 24;
const MOST_RUNNING = 12;
/** Labels that a menu offers; of others there is the search. */
const MOST_LABELS = 100;
/** Of the menu of times. */
const DAYS = [1, 7, 30, 365] as const;
const DAY_MS = 24 * 3_600_000;

/** The home of the dashboard: a grid of videos. */
export function libraryRoutes(): Route[] {
  return [
    { method: 'GET', path: '', for: 'members', handler: libraryPage },
    { method: 'POST', path: '/library/example', for: 'members', handler: renderExample },
    { method: 'POST', path: '/jobs/{jobId}/star', for: 'members', handler: star },
    { method: 'POST', path: '/jobs/{jobId}/labels', for: 'members', handler: relabel },
  ];
}

/** What the address asks for besides filters of jobs. */
interface Asked {
  text?: string;
  tag?: string;
  project?: string;
  starred?: boolean;
  order?: 'oldest';
}

function askedOf({ query }: Visit): Asked {
  const { text, tag, project } = query;
  return {
    ...(text?.trim() && { text }),
    ...(tag && { tag }),
    ...(project && { project }),
    ...(query['starred'] === 'yes' && { starred: true }),
    ...(query['order'] === 'oldest' && { order: 'oldest' as const }),
  };
}

function timeOf({ query }: Visit): { from?: string } {
  const days = DAYS.find((count) => String(count) === query['days']);
  return days === undefined ? {} : { from: new Date(Date.now() - days * DAY_MS).toISOString() };
}

async function libraryPage(visit: Visit): Promise<Answer> {
  const { admin, query } = visit;
  const asked = askedOf(visit);
  const { error: _, ...filters } = { ...filtersOf(visit), ...timeOf(visit) };
  const isFiltered = Object.keys(asked).length + Object.keys(filters).length > 0;
  const cursor = query['cursor'] || undefined;
  try {
    const request = { ...requestOf(filters), limit: CARDS };
    const isSearch = Object.keys(asked).length > 0;
    const [labels, running, found] = await Promise.all([
      admin.jobs.labels({}),
      isFiltered || cursor ? [] : admin.jobs.list({ status: 'running', limit: MOST_RUNNING }),
      isSearch
        ? admin.jobs.find({ ...request, ...asked, cursor })
        : admin.jobs.search({ ...request, before: cursor }).then((one) => ({ ...one, isComplete: true })),
    ]);
    const ids = new Set(running.map(({ jobId }) => jobId));
    const jobs = [
      ...running,
      ...found.jobs.filter(({ jobId, forgottenAt }) => !ids.has(jobId) && forgottenAt === null),
    ];
    if (jobs.length === 0 && !isFiltered && !cursor && found.next === null) {
      return libraryOf(visit, [toldNote(visit.told), live(firstVideos(visit))]);
    }
    return libraryOf(visit, [
      searchBar(visit, asked, labels),
      toldNote(visit.told),
      live(videos(visit, jobs)),
      selectionBar(
        visit,
        labels.projects.slice(0, MOST_LABELS).map(({ name }) => name),
      ),
      paging(visit, { ...found, cursor }),
    ]);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'not_found')) throw error;
    return { page: libraryOf(visit, note('bad', error.message)), status: 400 };
  }
}

function live(content: Value): Html {
  return html`<div id="live" data-live class="stack">${content}</div>`;
}

function libraryOf({ viewer, csrf }: Visit, content: Value): Html {
  const { library } = texts();
  return page(
    {
      title: library.title,
      section: 'overview',
      viewer,
      csrf,
      script: LIBRARY_ASSET.path,
      actions: html`${viewer.role === 'admin' && html`<a class="button" href="${BASE}/overview">${library.figures}</a>`}<a class="button primary" href="${BASE}/playground">${library.newVideo}</a>`,
    },
    content,
  );
}

function videos(visit: Visit, jobs: JobInfo[]): Html {
  const { library } = texts();
  if (jobs.length > 0) return grid(jobs, visit);
  return html`<section class="card">${emptyState(library.nothing, library.nothingText, html`<a class="button" href="${BASE}">${library.clear}</a>`)}</section>`;
}

interface Label {
  name: string;
  count: number;
}

function searchBar(
  { query }: Visit,
  { text, tag, project, starred, order }: Asked,
  labels: { projects: Label[]; tags: Label[] },
): Html {
  const { library } = texts();
  const isSet = Object.keys(query).length > 0;
  const { text: _, starred: __, cursor: ___, ...others } = query;
  const named = (all: Label[]) => all.slice(0, MOST_LABELS).map(({ name }): [string, string] => [name, name]);
  const days = DAYS.map((count): [string, string] => [String(count), library.times[count]]);
  const states = JOB_STATES.map((state): [string, string] => [state, library.states[state]]);
  const qualities = QUALITY_NAMES.map((name): [string, string] => [name, shownQuality(name)]);
  return html`<form method="get" action="${BASE}" class="finder" role="search">
<input type="search" name="text" value="${text}" placeholder="${library.search}" aria-label="${library.search}" maxlength="200" autocomplete="off">
<button>${library.find}</button>
<label class="check"><input type="checkbox" name="starred" value="yes" ${starred === true && 'checked'}>${library.onlyStarred}</label>
<details ${Object.keys(others).length > 0 && 'open'}><summary>${library.filters}</summary><div>
${menu('status', library.state, library.anyState, query['status'], states)}
${labels.projects.length > 0 && menu('project', library.project, library.anyProject, project, named(labels.projects))}
${labels.tags.length > 0 && menu('tag', library.tag, library.anyTag, tag, named(labels.tags))}
${menu('quality', library.quality, library.anyQuality, query['quality'], qualities)}
${menu('days', library.time, library.anyTime, query['days'], days)}
${menu('order', library.order, library.newest, order, [['oldest', library.oldest]])}</div></details>
${isSet && html`<a class="small" href="${BASE}">${library.clear}</a>`}<a class="small" href="${BASE}/jobs">${library.asList}</a></form>`;
}

function menu(
  name: string,
  label: string,
  any: string,
  chosen: string | undefined,
  options: [string, string][],
): Html {
  return html`<select name="${name}" aria-label="${label}"><option value="">${any}</option>${options.map(
    ([value, shown]) => html`<option value="${value}" ${value === chosen && 'selected'}>${shown}</option>`,
  )}</select>`;
}

function paging(
  { query }: Visit,
  { next, isComplete, cursor }: { next: string | null; isComplete: boolean; cursor: string | undefined },
): Html {
  const { library } = texts();
  const { cursor: _, ...others } = query;
  const to = (more: Record<string, string>) => `?${new URLSearchParams({ ...others, ...more })}`;
  return html`${!isComplete && html`<p class="small muted">${library.stillReading}</p>`}<nav class="paging" aria-label="${library.pages}">
<span>${cursor !== undefined && html`<a href="${to({})}">${library.first}</a>`}</span>
<span>${next !== null && html`<a href="${to({ cursor: next })}" rel="next">${library.older}</a>`}</span></nav>`;
}

async function renderExample({ admin, form, viewer }: Visit): Promise<Answer> {
  const example = EXAMPLES.find(({ name }) => name === form['example']);
  if (!example) throw notFound('There is no such example.');
  const { code, className, aspectRatio } = example;
  const request = { account: viewer.accountId, code, className, aspectRatio, quality: 'low' as const };
  const { jobId } = await admin.jobs.render(request);
  return { to: `/jobs/${jobId}` };
}

async function star({ admin, params, form }: Visit): Promise<Answer> {
  await admin.jobs.relabel({ jobId: params['jobId'] ?? '', starred: form['starred'] === 'yes' });
  return { to: pathWithin(form['back'] ?? '') };
}

async function relabel({ admin, params, form }: Visit): Promise<Answer> {
  const jobId = params['jobId'] ?? '';
  const [title, project] = [form['title']?.trim() || null, form['project']?.trim() || null];
  await admin.jobs.relabel({ jobId, title, project, tags: tagsIn(form['tags'] ?? '') });
  const to = form['back'] === undefined ? `/jobs/${jobId}` : pathWithin(form['back']);
  return { to, tell: { note: { kind: 'good', text: texts().library.saved } } };
}
