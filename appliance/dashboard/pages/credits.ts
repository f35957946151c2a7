import { frameSizeOf, isSnapshotId, Pricing, QUALITY_NAMES } from '../../../lib/internal.ts';
import type { HistoryLine, Prices, StatementLine } from '../../admin/administration-views.ts';
import { counted, shownChange, shownDuration, shownNumber, shownQuality, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { stateTag } from './job-views.ts';
import { spendingCard } from './spending.ts';

const LINES = 25;
const LONGEST_SECONDS = 86_400;

/** The kinds of the ledger's entries. */
const KINDS: Record<StatementLine['kind'], string> = {
  grant: 'Grant',
  expiry: 'Expiry',
  reserve: 'Reserve',
  settle: 'Settlement',
  void: 'Void',
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
<div><dt>Free this month</dt><dd>${shownNumber(free)}<small>${shownNumber(prices.freeCreditsPerMonth)} again on <span class="tight">${nextMonth(new Date())}</span></small></dd></div>
<div><dt>Paid</dt><dd>${shownNumber(paid)}<small>used after the free ones; they don't expire</small></dd></div>
</dl>`;
}

/** The first day of the next month, UTC. */
function nextMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}

/** For people one row a job; on request all entries of the ledger. */
async function statement(visit: Visit): Promise<Html> {
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
    const text = 'Each render is listed here with what it cost.';
    return html`<section class="card flush" id="statement">${emptyState('No entries yet', text)}</section>`;
  }
  const table = isLedger
    ? ledgerTable(found.slice(0, LINES) as StatementLine[])
    : historyTable(found.slice(0, LINES) as HistoryLine[]);
  return html`<section class="card flush" id="statement"><header><h2>Statement</h2><a href="${urlOf(isLedger ? account : { ...account, entries: 'all' })}">${isLedger ? 'One row for each render' : 'All entries of the ledger'}</a></header>
<div class="scroll"><table class="cards">${table}</table></div></section>
<nav class="paging" aria-label="Pages of the statement">
<span>${before !== undefined && html`<a href="${urlOf(shown)}">Newest</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">Older entries</a>`}</span>
</nav>`;
}

/** Of an inspection or a still. */
const PICTURES: Record<'reserve' | 'settle' | 'void', string> = {
  reserve: 'Pictures of a scene, which are being drawn',
  settle: 'Pictures of a scene',
  void: 'Pictures of a scene that could not be drawn',
};

function historyTable(lines: HistoryLine[]): Html {
  const rows = lines.map(
    (line) => html`<tr>
<th scope="row" class="rowhead">${whatOf(line)}${line.note !== null && html` <span class="muted">${line.note}</span>`}</th>
<td data-label="State">${line.job && stateTag(line.job)}</td>
<td data-label="Quality">${line.job && shownQuality(line.job.quality)}</td>
<td data-label="Render time" class="end number">${line.kind === 'settle' && line.job && shownDuration(line.job.durationMs)}</td>
<td data-label="Time">${shownTime(line.at)}</td>
<td data-label="Credits" class="end number">${line.changeCredits === 0 ? '0' : shownChange(line.changeCredits)}</td>
</tr>`,
  );
  return html`<thead><tr><th>What</th><th>State</th><th>Quality</th><th class="end">Render time</th><th>Time</th><th class="end">Credits</th></tr></thead>
<tbody>${rows}</tbody>`;
}

function whatOf({ kind, changeCredits, job, isOfPictures }: HistoryLine): Value {
  if (kind === 'grant') return changeCredits < 0 ? 'Credits taken back' : 'Credits added';
  if (kind === 'expiry') return "Last month's free credits expired";
  if (isOfPictures) return PICTURES[kind];
  if (!job) return 'A render that was not accepted';
  const name = html`<a href="${BASE}/jobs/${job.jobId}">${job.className || 'Forgotten'}</a>`;
  return kind === 'reserve' ? html`${name} <span class="muted">reserved until it ends</span>` : name;
}

function ledgerTable(lines: StatementLine[]): Html {
  const rows = lines.map(
    ({ entryId, at, kind, note, jobId, amountCredits, chargedCredits }) => html`<tr>
<th scope="row" class="rowhead">${KINDS[kind]}${kind === 'settle' && `, charged ${shownNumber(chargedCredits)}`}${note !== null && html` <span class="muted">${note}</span>`}</th>
<td data-label="Job">${jobId !== null && (isSnapshotId(jobId) ? html`<code>${jobId}</code>` : html`<a href="${BASE}/jobs/${jobId}"><code>${jobId}</code></a>`)}</td>
<td data-label="Entry"><code>${entryId}</code></td>
<td data-label="Time">${shownTime(at)}</td>
<td data-label="Credits" class="end number">${shownChange(amountCredits)}</td>
</tr>`,
  );
  return html`<thead><tr><th>Kind</th><th>Job</th><th>Entry</th><th>Time</th><th class="end">Credits</th></tr></thead>
<tbody>${rows}</tbody>`;
}

function priceTable({ creditsPerSecond, reserveSeconds }: Prices): Html {
  const rows = QUALITY_NAMES.map((quality) => {
    const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
    return html`<tr><th scope="row" class="rowhead">${shownQuality(quality)}</th><td class="tight">${widthPx} × ${heightPx}</td><td class="end number">${creditsPerSecond[quality]}</td></tr>`;
  });
  return html`<section class="card flush"><header><h2>Prices</h2></header>
<table><thead><tr><th>Quality</th><th>Frame</th><th class="end">Credits / s</th></tr></thead><tbody>${rows}</tbody></table>
<p class="small muted">The price of the first ${reserveSeconds} s is reserved when a render is accepted; the rest of it is returned.</p></section>`;
}

/** A form that shows its result on the same page, also without scripts. */
function calculator({ query }: Visit, prices: Prices): Html {
  const quality = QUALITY_NAMES.find((quality) => quality === query['quality']) ?? 'high';
  const seconds = Math.min(Math.max(Number(query['seconds']) || 10, 0), LONGEST_SECONDS);
  const { creditsPerSecond, reserveSeconds } = prices;
  const cost = new Pricing({ creditsPerSecond, reserveSeconds }).costCredits(quality, seconds * 1000);
  const options: Value[] = QUALITY_NAMES.map(
    (name) => html`<option value="${name}" ${name === quality && 'selected'}>${shownQuality(name)}</option>`,
  );
  return html`<section class="card" id="calculator"><h2>Calculator</h2>
<form method="get" action="${BASE}/credits#calculator" class="fields">
<label>Quality<select name="quality">${options}</select></label>
<label>Render time in seconds<input type="number" name="seconds" min="0" max="${LONGEST_SECONDS}" step="any" value="${seconds}" required></label>
<button>Calculate</button>
</form>
<p>${shownDuration(seconds * 1000)} of rendering in ${shownQuality(quality)} quality cost <strong class="number">${counted(cost, 'credit')}</strong>.</p>
<p class="small muted">Render time is not the length of the video: complex scenes take longer to draw than to watch.</p></section>`;
}
