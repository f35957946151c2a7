import { frameSizeOf, isSnapshotId, Pricing, QUALITY_NAMES } from '../../../lib/internal.ts';
import type { HistoryLine, Prices, StatementLine } from '../../admin/administration-views.ts';
import { shownChange, shownDay, shownDuration, shownNumber, shownQuality, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { stateTag } from './job-views.ts';
import { spendingCard } from './spending.ts';

const LINES = 25;
const LONGEST_SECONDS = 86_400;

/** Credits: balance, statement and prices. */
export function creditRoutes(): Route[] {
  return [{ method: 'GET', path: '/credits', for: 'members', handler: creditsPage }];
}

async function creditsPage(visit: Visit): Promise<Html> {
  const { credits: t } = texts();
  const { admin, viewer, csrf } = visit;
  const prices = await admin.credits.showPrices();
  const head = {
    title: t.title,
    section: 'credits' as const,
    viewer,
    csrf,
    actions: prices && (await accountPicker(visit, '/credits')),
  };
  if (!prices) {
    return page(head, html`<section class="card">${emptyState(t.notNeeded, t.notNeededText)}</section>`);
  }
  return page(
    { ...head, lead: t.lead },
    await balanceFigures(visit, prices),
    await spendingCard(visit),
    await statement(visit),
    html`<div class="row">${priceTable(prices)}${calculator(visit, prices)}</div>`,
  );
}

async function balanceFigures(visit: Visit, prices: Prices): Promise<Html> {
  const { credits: t } = texts();
  const { free, paid, total } = await visit.admin.credits.balance({ account: accountOf(visit) });
  return html`<dl class="figures">
<div><dt>${t.available}</dt><dd>${shownNumber(total)}<small>${t.availableHint}</small></dd></div>
<div><dt>${t.free}</dt><dd>${shownNumber(free)}<small>${filled(t.freeAgain, { credits: shownNumber(prices.freeCreditsPerMonth), day: html`<span class="tight">${shownDay(nextMonth(new Date()))}</span>` })}</small></dd></div>
<div><dt>${t.paid}</dt><dd>${shownNumber(paid)}<small>${t.paidHint}</small></dd></div>
</dl>`;
}

/** The first day of the next month, UTC. */
function nextMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}

/** For people one row a job; on request all entries of the ledger. */
async function statement(visit: Visit): Promise<Html> {
  const { credits: t, common } = texts();
  const { admin, query, viewer } = visit;
  const before = query['before'] || undefined;
  const isLedger = query['entries'] === 'all';
  // One more shows whether there is another page.
  const request = { account: accountOf(visit), limit: LINES + 1, before };
  const account = accountOf(visit) === viewer.email ? {} : { account: accountOf(visit) };
  const shown = { ...account, ...(isLedger && { entries: 'all' }) };
  const urlOf = (fields: Record<string, string>) => {
    const text = new URLSearchParams(fields).toString();
    return `${BASE}/credits${text && `?${text}`}#statement`;
  };
  const found = isLedger ? await admin.credits.statement(request) : await admin.credits.history(request);
  const older = found.length > LINES && urlOf({ ...shown, before: found[LINES - 1]?.entryId ?? '' });
  if (found.length === 0 && before === undefined) {
    return html`<section class="card flush" id="statement">${emptyState(t.noEntries, t.noEntriesText)}</section>`;
  }
  const table = isLedger
    ? ledgerTable(found.slice(0, LINES) as StatementLine[])
    : historyTable(found.slice(0, LINES) as HistoryLine[]);
  return html`<section class="card flush" id="statement"><header><h2>${t.statement}</h2><a href="${urlOf(isLedger ? account : { ...account, entries: 'all' })}">${isLedger ? t.oneRowEach : t.allEntries}</a></header>
<div class="scroll"><table class="cards">${table}</table></div></section>
<nav class="paging" aria-label="${t.pagesOfStatement}">
<span>${before !== undefined && html`<a href="${urlOf(shown)}">${common.newest}</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">${common.olderEntries}</a>`}</span>
</nav>`;
}

function historyTable(lines: HistoryLine[]): Html {
  const { credits: t, common } = texts();
  const rows = lines.map(
    (line) => html`<tr>
<th scope="row" class="rowhead">${whatOf(line)}${line.note !== null && html` <span class="muted">${line.note}</span>`}</th>
<td data-label="${common.state}">${line.job && stateTag(line.job)}</td>
<td data-label="${common.quality}">${line.job && shownQuality(line.job.quality)}</td>
<td data-label="${common.renderTime}" class="end number">${line.kind === 'settle' && line.job && shownDuration(line.job.durationMs)}</td>
<td data-label="${common.time}">${shownTime(line.at)}</td>
<td data-label="${common.credits}" class="end number">${line.changeCredits === 0 ? '0' : shownChange(line.changeCredits)}</td>
</tr>`,
  );
  return html`<thead><tr><th>${t.what}</th><th>${common.state}</th><th>${common.quality}</th><th class="end">${common.renderTime}</th><th>${common.time}</th><th class="end">${common.credits}</th></tr></thead>
<tbody>${rows}</tbody>`;
}

function whatOf({ kind, changeCredits, job, isOfPictures }: HistoryLine): Value {
  const { credits: t, common } = texts();
  if (kind === 'grant') return changeCredits < 0 ? t.takenBack : t.added;
  if (kind === 'expiry') return t.expired;
  if (isOfPictures) return t.pictures[kind];
  if (!job) return t.notAccepted;
  const name = html`<a href="${BASE}/jobs/${job.jobId}">${job.className || common.forgotten}</a>`;
  return kind === 'reserve' ? html`${name} <span class="muted">${t.reserved}</span>` : name;
}

function ledgerTable(lines: StatementLine[]): Html {
  const { credits: t, common } = texts();
  const rows = lines.map(
    ({ entryId, at, kind, note, jobId, amountCredits, chargedCredits }) => html`<tr>
<th scope="row" class="rowhead">${t.kinds[kind]}${kind === 'settle' && t.charged(shownNumber(chargedCredits))}${note !== null && html` <span class="muted">${note}</span>`}</th>
<td data-label="${common.job}">${jobId !== null && (isSnapshotId(jobId) ? html`<code>${jobId}</code>` : html`<a href="${BASE}/jobs/${jobId}"><code>${jobId}</code></a>`)}</td>
<td data-label="${t.entry}"><code>${entryId}</code></td>
<td data-label="${common.time}">${shownTime(at)}</td>
<td data-label="${common.credits}" class="end number">${shownChange(amountCredits)}</td>
</tr>`,
  );
  return html`<thead><tr><th>${common.kind}</th><th>${common.job}</th><th>${t.entry}</th><th>${common.time}</th><th class="end">${common.credits}</th></tr></thead>
<tbody>${rows}</tbody>`;
}

function priceTable({ creditsPerSecond, reserveSeconds }: Prices): Html {
  const { credits: t, common } = texts();
  const rows = QUALITY_NAMES.map((quality) => {
    const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
    return html`<tr><th scope="row" class="rowhead">${shownQuality(quality)}</th><td class="tight">${widthPx} × ${heightPx}</td><td class="end number">${creditsPerSecond[quality]}</td></tr>`;
  });
  return html`<section class="card flush"><header><h2>${t.prices}</h2></header>
<table><thead><tr><th>${common.quality}</th><th>${t.frame}</th><th class="end">${t.creditsPerSecond}</th></tr></thead><tbody>${rows}</tbody></table>
<p class="small muted">${t.pricesText(reserveSeconds)}</p></section>`;
}

/** A form that shows its result on the same page, also without scripts. */
function calculator({ query }: Visit, prices: Prices): Html {
  const { credits: t, common, counts } = texts();
  const quality = QUALITY_NAMES.find((quality) => quality === query['quality']) ?? 'high';
  const seconds = Math.min(Math.max(Number(query['seconds']) || 10, 0), LONGEST_SECONDS);
  const { creditsPerSecond, reserveSeconds } = prices;
  const cost = new Pricing({ creditsPerSecond, reserveSeconds }).costCredits(quality, seconds * 1000);
  const options: Value[] = QUALITY_NAMES.map(
    (name) => html`<option value="${name}" ${name === quality && 'selected'}>${shownQuality(name)}</option>`,
  );
  return html`<section class="card" id="calculator"><h2>${t.calculator}</h2>
<form method="get" action="${BASE}/credits#calculator" class="fields">
<label>${common.quality}<select name="quality">${options}</select></label>
<label>${t.renderSeconds}<input type="number" name="seconds" min="0" max="${LONGEST_SECONDS}" step="any" value="${seconds}" required></label>
<button>${t.calculate}</button>
</form>
<p>${filled(t.cost, { duration: shownDuration(seconds * 1000), quality: shownQuality(quality), credits: html`<strong class="number">${counts.credits(cost)}</strong>` })}</p>
<p class="small muted">${t.costHint}</p></section>`;
}
