import { frameSizeOf, Pricing, QUALITIES } from '../../../lib/index.ts';
import type { Prices, StatementLine } from '../../admin/administration-views.ts';
import { shownChange, shownDuration, shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker } from './scope.ts';
import { spendingCard } from './spending.ts';

const LINES = 25;
const LONGEST_SECONDS = 86_400;

const KINDS: Record<Exclude<StatementLine['kind'], 'settle'>, string> = {
  grant: 'Credits added',
  expiry: "Last month's free credits expired",
  reserve: 'Reserved for a render',
  void: 'Reserve returned in full',
};

/** Credits: balance, statement and prices. */
export function creditRoutes(): Route[] {
  return [{ method: 'GET', path: '/credits', for: 'members', handler: creditsPage }];
}

async function creditsPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf } = visit;
  const prices = await admin.credits.showPrices();
  const head = {
    title: 'Credits',
    section: 'credits' as const,
    viewer,
    csrf,
    actions: prices && (await accountPicker(visit, '/credits')),
  };
  if (!prices) {
    const text =
      'Renders cost nothing on this service: its credits mode is “unmetered”. There is no statement.';
    return page(head, html`<section class="card">${emptyState('No credits needed', text)}</section>`);
  }
  return page(
    { ...head, lead: 'Renders cost credits by the second of render time. Failed renders cost nothing.' },
    await balanceFigures(visit, prices),
    await spendingCard(visit),
    await statement(visit),
    html`<div class="row">${priceTable(prices)}${calculator(visit, prices)}</div>`,
  );
}

async function balanceFigures(visit: Visit, prices: Prices): Promise<Html> {
  const { free, paid, total } = await visit.admin.credits.balance({ account: accountOf(visit) });
  return html`<dl class="figures">
<div><dt>Available</dt><dd>${shownNumber(total)}<small>open reserves are already taken off</small></dd></div>
<div><dt>Free this month</dt><dd>${shownNumber(free)}<small>${shownNumber(prices.freeCreditsPerMonth)} again on ${nextMonth(new Date())}</small></dd></div>
<div><dt>Paid</dt><dd>${shownNumber(paid)}<small>used after the free ones; they don't expire</small></dd></div>
</dl>`;
}

/** The first day of the next month, UTC. */
function nextMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}

async function statement(visit: Visit): Promise<Html> {
  const { admin, query, viewer } = visit;
  const before = query['before'] || undefined;
  // One more shows whether there is another page.
  const request = { account: accountOf(visit), limit: LINES + 1, before };
  const found = await admin.credits.statement(request);
  const lines = found.slice(0, LINES);
  const account = accountOf(visit) === viewer.email ? {} : { account: accountOf(visit) };
  const older = found.length > LINES && { ...account, before: lines.at(-1)?.entryId ?? '' };
  if (found.length === 0 && before === undefined) {
    const text = 'Each render is listed here with what it reserved and cost.';
    return html`<section class="card flush">${emptyState('No entries yet', text)}</section>`;
  }
  return html`<section class="card flush"><header><h2>Statement</h2></header>
<div class="scroll"><table class="cards">
<thead><tr><th>Entry</th><th>Job</th><th>Time</th><th class="end">Credits</th></tr></thead>
<tbody>${lines.map(statementRow)}</tbody></table></div></section>
<nav class="paging" aria-label="Pages of the statement">
<span>${before !== undefined && html`<a href="${BASE}/credits?${new URLSearchParams(account).toString()}">Newest</a>`}</span>
<span>${older && html`<a href="${BASE}/credits?${new URLSearchParams(older).toString()}" rel="next">Older entries</a>`}</span>
</nav>`;
}

function statementRow({ at, kind, note, jobId, amountCredits, chargedCredits }: StatementLine): Html {
  return html`<tr>
<th scope="row" class="rowhead">${kind === 'settle' ? settled(chargedCredits, amountCredits) : KINDS[kind]}${note !== null && html` <span class="muted">${note}</span>`}</th>
<td data-label="Job">${jobId !== null && html`<a href="${BASE}/jobs/${jobId}"><code>${jobId.slice(0, 12)}…</code></a>`}</td>
<td data-label="Time">${shownTime(at)}</td>
<td data-label="Credits" class="end number">${shownChange(amountCredits)}</td>
</tr>`;
}

function settled(chargedCredits: number, amountCredits: number): string {
  const charged = `Render charged ${shownNumber(chargedCredits)}`;
  if (amountCredits === 0) return `${charged}, as reserved`;
  return amountCredits > 0
    ? `${charged}, the rest of the reserve was released`
    : `${charged}, more than its reserve`;
}

function priceTable({ creditsPerSecond, reserveSeconds }: Prices): Html {
  const rows = QUALITIES.map((quality) => {
    const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
    return html`<tr><th scope="row" class="rowhead">${quality}</th><td class="tight">${widthPx} × ${heightPx}</td><td class="end number">${creditsPerSecond[quality]}</td></tr>`;
  });
  return html`<section class="card flush"><header><h2>Prices</h2></header>
<table><thead><tr><th>Quality</th><th>Frame</th><th class="end">Credits / s</th></tr></thead><tbody>${rows}</tbody></table>
<p class="small muted">The price of the first ${reserveSeconds} s is reserved when a render is accepted; the rest of it is returned.</p></section>`;
}

/** A form that shows its result on the same page, also without scripts. */
function calculator({ query }: Visit, prices: Prices): Html {
  const quality = QUALITIES.find((quality) => quality === query['quality']) ?? 'high';
  const seconds = Math.min(Math.max(Number(query['seconds']) || 10, 0), LONGEST_SECONDS);
  const { creditsPerSecond, reserveSeconds } = prices;
  const cost = new Pricing({ creditsPerSecond, reserveSeconds }).costCredits(quality, seconds * 1000);
  const options: Value[] = QUALITIES.map(
    (name) => html`<option value="${name}" ${name === quality && 'selected'}>${name}</option>`,
  );
  return html`<section class="card" id="calculator"><h2>Calculator</h2>
<form method="get" action="${BASE}/credits#calculator" class="fields">
<label>Quality<select name="quality">${options}</select></label>
<label>Render time in seconds<input type="number" name="seconds" min="0" max="${LONGEST_SECONDS}" step="any" value="${seconds}" required></label>
<button>Calculate</button>
</form>
<p>${shownDuration(seconds * 1000)} of rendering in ${quality} quality cost <strong class="number">${shownNumber(cost)} ${cost === 1 ? 'credit' : 'credits'}</strong>.</p>
<p class="small muted">Render time is not the length of the video: complex scenes take longer to draw than to watch.</p></section>`;
}
