import type { ShareInfo, SharePage } from '../../admin/share-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { emptyState, page, toldNote } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { endOf, shareName, sharePath, shareTag, thumbnailOf } from './share-views.ts';

/** Shares per page. */
const ROWS = 50;

/** The list of shares. */
export function shareListRoutes(): Route[] {
  return [{ method: 'GET', path: '/shares', for: 'members', handler: listPage }];
}

async function listPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf, query } = visit;
  const { shares: t } = texts();
  const jobId = query['job'] || undefined;
  const before = query['before'] || undefined;
  // An administrator may look at the links to a video of another account.
  const account = jobId === undefined ? accountOf(visit) : undefined;
  const found = await admin.shares.list({ account, jobId, before, limit: ROWS });
  return page(
    {
      title: t.title,
      section: 'shares',
      viewer,
      csrf,
      lead: jobId === undefined ? t.lead : html`${t.onlyOf} <a href="${BASE}/jobs/${jobId}">${t.video}</a>`,
      actions:
        jobId === undefined
          ? await accountPicker(visit, '/shares')
          : html`<a class="button" href="${BASE}/shares">${t.all}</a>`,
    },
    toldNote(visit.told),
    html`<section class="card flush">${
      found.shares.length === 0 ? nothing(jobId, before) : shareTable(found.shares, visit)
    }</section>
${paging(visit, before, found)}`,
  );
}

function nothing(jobId: string | undefined, before: string | undefined): Html {
  const { shares: t, common } = texts();
  if (before !== undefined) return emptyState(t.noneOlder, common.endOfList);
  if (jobId !== undefined) return emptyState(t.noneOfJob, t.noneOfJobText);
  return emptyState(
    t.noneYet,
    t.noneYetText,
    html`<a class="button primary" href="${BASE}">${t.toTheLibrary}</a>`,
  );
}

function shareTable(shares: ShareInfo[], visit: Visit): Html {
  const { shares: t, common } = texts();
  return html`<div class="scroll"><table class="cards">
<thead><tr><th>${t.video}</th><th>${common.state}</th><th>${common.created}</th><th>${t.expires}</th><th class="end">${t.views}</th><th><span class="visually-hidden">${t.revokeTitle}</span></th></tr></thead>
<tbody>${shares.map((share) => shareRow(share, visit))}</tbody></table></div>`;
}

function shareRow(share: ShareInfo, visit: Visit): Html {
  const { shares: t, common, counts } = texts();
  const { shareId, state, visibility, first, jobIds, createdAt, views } = share;
  const name = shareName(share);
  const [path, label] = state === 'revoked' ? ['remove', t.remove] : ['revoke', t.revoke];
  return html`<tr>
<th scope="row" class="rowhead fill"><span class="file">${thumbnailOf(first, visit)}<span><a class="clamp" href="${BASE}${sharePath(shareId)}">${name}</a>${jobIds.length > 1 && html`<span class="clip small muted">${counts.videos(jobIds.length)}</span>`}</span></span></th>
<td data-label="${common.state}"><div>${shareTag(share)}${state === 'open' && html`<div class="faint small">${t.audiences[visibility]}</div>`}</div></td>
<td data-label="${common.created}">${shownTime(createdAt)}</td>
<td data-label="${t.expires}"><span class="faint">${endOf(share)}</span></td>
<td data-label="${t.views}" class="end number">${shownNumber(views)}</td>
<td><a class="phrase" href="${BASE}${sharePath(shareId)}/${path}">${label}<span class="visually-hidden"> ${name}</span></a></td>
</tr>`;
}

function paging(visit: Visit, before: string | undefined, { next }: SharePage): Html {
  const { shares: t, common } = texts();
  const { account, job } = visit.query;
  const to = (more: Record<string, string>) => {
    const query = new URLSearchParams({
      ...(account && { account }),
      ...(job && { job }),
      ...more,
    }).toString();
    return `${BASE}/shares${query && `?${query}`}`;
  };
  return html`<nav class="paging" aria-label="${common.pages}">
<span>${before !== undefined && html`<a href="${to({})}">${common.newest}</a>`}</span>
<span>${next !== null && html`<a href="${to({ before: next })}" rel="next">${t.older}</a>`}</span>
</nav>`;
}
