import type { AssignmentInfo, ClassLinkInfo } from '../../admin/assignment-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { emptyState, note, page, toldNote } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { assignmentPath, classLinkPath, endLink, endOf, seatsOf, stateTag } from './assignment-views.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { classLinkForm } from './class-link-form.ts';

const ROWS = 50;

/** The list of assignments and class links. */
export function assignmentListRoutes(): Route[] {
  return [
    { method: 'GET', path: '/assignments', for: 'members', handler: (visit) => assignmentsPage(visit) },
  ];
}

/** `problem`: why the form of a new class link was refused. */
export async function assignmentsPage(visit: Visit, problem?: string): Promise<Html> {
  const { assignments: t } = texts();
  const { admin, viewer, csrf, query } = visit;
  const account = accountOf(visit);
  const [before, linksBefore] = [query['before'] || undefined, query['links'] || undefined];
  const [assigned, joining, prices] = await Promise.all([
    admin.assignments.list({ account, before, limit: ROWS }),
    admin.classLinks.list({ account, before: linksBefore, limit: ROWS }),
    admin.credits.showPrices(),
  ]);
  const isAdmin = viewer.role === 'admin';
  const { classLinks } = joining;
  return page(
    {
      title: t.title,
      section: 'assignments',
      viewer,
      csrf,
      lead: t.lead,
      actions: await accountPicker(visit, '/assignments'),
    },
    problem === undefined ? toldNote(visit.told) : note('bad', problem),
    html`<section class="card flush">${
      assigned.assignments.length === 0 ? noAssignments(before) : assignmentTable(assigned.assignments)
    }</section>
${paging(visit, 'before', assigned.next)}`,
    (isAdmin || classLinks.length > 0 || linksBefore !== undefined) &&
      html`<section class="stack" aria-labelledby="class-links"><div><h2 id="class-links">${t.classLinks}</h2><p class="muted">${t.classLinksLead}</p></div>
<div class="card flush">${classLinks.length === 0 ? noClassLinks(linksBefore) : classLinkTable(classLinks)}</div>
${paging(visit, 'links', joining.next)}
${isAdmin && classLinkForm(visit, { account, hasCredits: prices !== null, isOpen: problem !== undefined })}</section>`,
  );
}

function noAssignments(before: string | undefined): Html {
  const { assignments: t, common } = texts();
  if (before !== undefined) return emptyState(t.noneOlder, common.endOfList);
  const action = html`<a class="button primary" href="${BASE}/scenes">${t.toTheScenes}</a>`;
  return emptyState(t.noneYet, t.noneYetText, action);
}

function noClassLinks(before: string | undefined): Html {
  const { assignments: t, common } = texts();
  return before === undefined
    ? emptyState(t.noClassLinks, t.noClassLinksText)
    : emptyState(t.noneOlder, common.endOfList);
}

function assignmentTable(assignments: AssignmentInfo[]): Html {
  const { assignments: t, common } = texts();
  const rows = assignments.map((assignment) => {
    const { assignmentId, title, state, copies, createdAt } = assignment;
    const path = assignmentPath(assignmentId);
    return html`<tr>
<th scope="row" class="rowhead fill"><a class="clamp" href="${BASE}${path}">${title}</a></th>
<td data-label="${common.state}">${stateTag(state)}</td>
<td data-label="${common.created}">${shownTime(createdAt)}</td>
<td data-label="${t.expires}"><span class="faint">${endOf(assignment)}</span></td>
<td data-label="${t.copies}" class="end number">${shownNumber(copies)}</td>
<td>${endLink(path, { ...assignment, name: title })}</td>
</tr>`;
  });
  return table([t.name, common.state, common.created, t.expires, [t.copies]], rows);
}

function classLinkTable(links: ClassLinkInfo[]): Html {
  const { assignments: t, common } = texts();
  const rows = links.map((link) => {
    const { classLinkId, name, state, createdAt } = link;
    const path = classLinkPath(classLinkId);
    return html`<tr>
<th scope="row" class="rowhead fill"><a class="clamp" href="${BASE}${path}">${name}</a></th>
<td data-label="${common.state}">${stateTag(state)}</td>
<td data-label="${common.created}">${shownTime(createdAt)}</td>
<td data-label="${t.expires}"><span class="faint">${endOf(link)}</span></td>
<td data-label="${t.seats}" class="end number">${seatsOf(link)}</td>
<td>${endLink(path, link)}</td>
</tr>`;
  });
  return table([t.className, common.state, common.created, t.expires, [t.seats]], rows);
}

/** `heads`: those of columns with numbers in brackets. */
function table(heads: (string | [string])[], rows: Value[]): Html {
  const shown = heads.map((head) =>
    typeof head === 'string' ? html`<th>${head}</th>` : html`<th class="end">${head}</th>`,
  );
  return html`<div class="scroll"><table class="cards">
<thead><tr>${shown}<th><span class="visually-hidden">${texts().assignments.revokeTitle}</span></th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** `name`: the parameter that says where a page of the list begins. */
function paging({ query }: Visit, name: 'before' | 'links', next: string | null): Value {
  const { assignments: t, common } = texts();
  const to = (more: Record<string, string>) => {
    const { [name]: _, ...others } = query;
    const text = new URLSearchParams({ ...others, ...more }).toString();
    return `${BASE}/assignments${text && `?${text}`}`;
  };
  if (!query[name] && next === null) return false;
  return html`<nav class="paging" aria-label="${common.pages}">
<span>${query[name] && html`<a href="${to({})}">${common.newest}</a>`}</span>
<span>${next !== null && html`<a href="${to({ [name]: next })}" rel="next">${t.older}</a>`}</span>
</nav>`;
}
