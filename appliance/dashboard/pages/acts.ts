import type { ActInfo } from '../../admin/administration-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';

const ROWS = 50;
const LONGEST_ID = 100;

/** The record of acts, for administrators. */
export function actRoutes(): Route[] {
  return [{ method: 'GET', path: '/acts', for: 'admins', handler: actsPage }];
}

async function actsPage({ admin, viewer, csrf, query }: Visit): Promise<Html> {
  const { acts: t, common } = texts();
  const before = query['before'] || undefined;
  // One more shows whether there is another page.
  const found = await admin.acts.list({ before, limit: ROWS + 1 });
  const acts = found.slice(0, ROWS);
  const older = found.length > ROWS && `?before=${encodeURIComponent(acts.at(-1)?.actId ?? '')}`;
  return page(
    {
      title: t.title,
      section: 'acts',
      viewer,
      csrf,
      lead: t.lead,
    },
    html`<section class="card flush">${
      acts.length === 0
        ? emptyState(t.none, t.noneText)
        : html`<div class="scroll"><table class="cards"><thead><tr><th>${t.what}</th><th>${t.who}</th><th>${t.to}</th><th>${t.from}</th><th>${common.time}</th></tr></thead><tbody>${acts.map(actRow)}</tbody></table></div>`
    }</section>
<nav class="paging" aria-label="${common.pages}">
<span>${before !== undefined && html`<a href="${BASE}/acts">${common.newest}</a>`}</span>
<span>${older && html`<a href="${BASE}/acts${older}" rel="next">${common.olderEntries}</a>`}</span>
</nav>`,
  );
}

function actRow(act: ActInfo): Html {
  const { acts: t, common } = texts();
  const { at, actor, action, amountCredits, count, address } = act;
  return html`<tr>
<th scope="row" class="rowhead"><span title="${action}">${t.label(action)}</span>${amountCredits !== null && html`: <span class="number">${shownNumber(amountCredits)}</span>`}${count > 1 && ` ×${count}`}</th>
<td data-label="${t.who}"><span class="clip">${actor ?? html`<span class="muted">${t.commandLine}</span>`}</span></td>
<td data-label="${t.to}">${subjectOf(act)}</td>
<td data-label="${t.from}" class="tight">${address ?? '–'}</td>
<td data-label="${common.time}">${shownTime(at)}</td>
</tr>`;
}

const PAGES: Record<string, string> = {
  accounts: 'accounts',
  credits: 'accounts',
  keys: 'keys',
  jobs: 'jobs',
  files: 'files',
  shares: 'shares',
  scenes: 'scenes',
  assignments: 'assignments',
  classLinks: 'class-links',
  deliveries: 'webhooks',
};

/** The object of an act by its name, with a link to its page. */
function subjectOf({ action, subject, subjectName }: ActInfo): Value {
  const [noun = ''] = action.split('.');
  const path = Object.hasOwn(PAGES, noun) ? PAGES[noun] : undefined;
  if (subject === null || path === undefined) return subject;
  const name = subjectName ?? texts().acts.gone[noun];
  // Without a name there is no page; an address is not cut.
  if (name === undefined || subject.length > LONGEST_ID) {
    return html`<span class="clip muted" title="${subject}">${texts().acts.deleted}</span>`;
  }
  return html`<a href="${BASE}/${path}/${subject}" class="clip" title="${subject}">${name}</a>`;
}
