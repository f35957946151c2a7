import type { ActInfo } from '../../admin/administration-views.ts';
import { shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';

const ROWS = 50;

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

function actRow({ at, actor, action, count, subject, address }: ActInfo): Html {
  return html`<tr>
<th scope="row" class="rowhead"><code>${action}</code>${count > 1 && ` ×${count}`}</th>
<td data-label="Who"><span class="clip">${actor ?? html`<span class="muted">command line</span>`}</span></td>
<td data-label="To">${subject !== null && html`<code class="clip" title="${subject}">${subject}</code>`}</td>
<td data-label="From">${address ?? '–'}</td>
<td data-label="Time">${shownTime(at)}</td>
</tr>`;
}
