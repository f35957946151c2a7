import type { ActInfo } from '../../admin/administration-views.ts';
import { actLabel } from '../../admin/operations.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';

const ROWS = 50;
const LONGEST_ID = 100;

/** The record of acts, for administrators. */
export function actRoutes(): Route[] {
  return [{ method: 'GET', path: '/acts', for: 'admins', handler: actsPage }];
}

async function actsPage({ admin, viewer, csrf, query }: Visit): Promise<Html> {
  const before = query['before'] || undefined;
  // One more shows whether there is another page.
  const found = await admin.acts.list({ before, limit: ROWS + 1 });
  const acts = found.slice(0, ROWS);
  const older = found.length > ROWS && `?before=${encodeURIComponent(acts.at(-1)?.actId ?? '')}`;
  return page(
    {
      title: 'Record',
      section: 'acts',
      viewer,
      csrf,
      lead: 'Who did what, when and from where: in the dashboard and on the command line. Entries are never changed.',
    },
    html`<section class="card flush">${
      acts.length === 0
        ? emptyState('Nothing recorded', 'Sign-ins and changes are listed here.')
        : html`<div class="scroll"><table class="cards"><thead><tr><th>What</th><th>Who</th><th>To</th><th>From</th><th>Time</th></tr></thead><tbody>${acts.map(actRow)}</tbody></table></div>`
    }</section>
<nav class="paging" aria-label="Pages">
<span>${before !== undefined && html`<a href="${BASE}/acts">Newest</a>`}</span>
<span>${older && html`<a href="${BASE}/acts${older}" rel="next">Older entries</a>`}</span>
</nav>`,
  );
}

function actRow(act: ActInfo): Html {
  const { at, actor, action, amountCredits, count, address } = act;
  return html`<tr>
<th scope="row" class="rowhead"><span title="${action}">${actLabel(action)}</span>${amountCredits !== null && html`: <span class="number">${shownNumber(amountCredits)}</span>`}${count > 1 && ` ×${count}`}</th>
<td data-label="Who"><span class="clip">${actor ?? html`<span class="muted">command line</span>`}</span></td>
<td data-label="To">${subjectOf(act)}</td>
<td data-label="From" class="tight">${address ?? '–'}</td>
<td data-label="Time">${shownTime(at)}</td>
</tr>`;
}

const PAGES: Record<string, string> = {
  accounts: 'accounts',
  credits: 'accounts',
  keys: 'keys',
  jobs: 'jobs',
  files: 'files',
  deliveries: 'webhooks',
};

/** The object of an act by its name, with a link to its page. */
function subjectOf({ action, subject, subjectName }: ActInfo): Value {
  const [noun = ''] = action.split('.');
  const path = Object.hasOwn(PAGES, noun) ? PAGES[noun] : undefined;
  if (subject === null || path === undefined) return subject;
  const name = subjectName ?? GONE[noun];
  // Without a name there is no page; an address is not cut.
  if (name === undefined || subject.length > LONGEST_ID) {
    return html`<span class="clip muted" title="${subject}">deleted</span>`;
  }
  return html`<a href="${BASE}/${path}/${subject}" class="clip" title="${subject}">${name}</a>`;
}

/** What is left of an object without a name. */
const GONE: Record<string, string> = { jobs: 'Forgotten', deliveries: 'Webhook' };
