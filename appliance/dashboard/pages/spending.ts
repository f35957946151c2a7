import type { DaySpending } from '../../admin/administration-views.ts';
import { shownDay, shownNumber } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Visit } from '../route.ts';
import { accountOf, accountQuery } from './chosen-account.ts';

const PERIODS = [30, 90, 365];

/** Units of the drawing, which is stretched to the width of its place. */
const HEIGHT = 100;
const BAR = 10;
const GAP = 2;

/** The charges of each day, as a chart and as a table. */
export async function spendingCard(visit: Visit): Promise<Html> {
  const { credits: t, counts } = texts();
  const { admin, query } = visit;
  const days = PERIODS.find((days) => String(days) === query['days']) ?? 30;
  const spending = await admin.credits.spending({ account: accountOf(visit), days });
  const total = spending.reduce((sum, { chargedCredits }) => sum + chargedCredits, 0);
  const renders = spending.reduce((sum, day) => sum + day.renders, 0);
  return html`<section class="card" id="spending">
<header><h2>${t.spending}</h2><nav class="filters" aria-label="${t.period}">${PERIODS.map((one) => periodLink(visit, one, days))}</nav></header>
<p>${filled(t.spent, { credits: html`<strong class="number">${counts.credits(total)}</strong>`, renders: counts.renders(renders) })}</p>
${total > 0 && [chart(spending), table(spending)]}</section>`;
}

function periodLink(visit: Visit, one: number, days: number): Html {
  const label = texts().credits.days(one);
  const account = accountQuery(visit);
  const url = `${BASE}/credits${account === '' ? '?' : `${account}&`}days=${one}#spending`;
  return one === days
    ? html`<a href="${url}" aria-current="true">${label}</a>`
    : html`<a href="${url}">${label}</a>`;
}

function chart(spending: DaySpending[]): Html {
  const { credits: t } = texts();
  const most = Math.max(...spending.map(({ chargedCredits }) => chargedCredits));
  const width = spending.length * BAR;
  const bars = spending.map(({ day, chargedCredits }, index) => {
    // Small amounts stay visible beside a day of much more.
    const height = chargedCredits === 0 ? 0 : Math.max(1.5, (chargedCredits / most) * HEIGHT);
    return html`<rect x="${index * BAR + GAP / 2}" y="${HEIGHT - height}" width="${BAR - GAP}" height="${height}"><title>${shownDay(day)}: ${shownNumber(chargedCredits)}</title></rect>`;
  });
  const best = spending.find(({ chargedCredits }) => chargedCredits === most);
  return html`<figure class="chart"><span class="small muted">${t.aDay(shownNumber(most))}</span>
<svg viewbox="0 0 ${width} ${HEIGHT}" preserveaspectratio="none" role="img" aria-label="${best && t.chart(shownDay(best.day), shownNumber(most))}">${bars}</svg>
<figcaption class="small muted"><span>${spending[0] && shownDay(spending[0].day)}</span><span>${t.today}</span></figcaption></figure>`;
}

/** Newest first; days without charges are left out. */
function table(spending: DaySpending[]): Html {
  const rows = spending
    .filter(({ renders }) => renders > 0)
    .reverse()
    .map(
      ({ day, chargedCredits, renders }) =>
        html`<tr><th scope="row" class="rowhead number">${shownDay(day)}</th><td class="end number">${shownNumber(renders)}</td><td class="end number">${shownNumber(chargedCredits)}</td></tr>`,
    );
  const { credits: t, common } = texts();
  return html`<details><summary>${t.asTable}</summary><div class="scroll"><table><thead><tr><th>${t.day}</th><th class="end">${t.renders}</th><th class="end">${common.credits}</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}
