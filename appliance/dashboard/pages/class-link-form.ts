import { MOST_CREDITS_OF_SEAT, MOST_SEATS } from '../../../lib/internal.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { timeField } from './times.ts';

/** The form of a new class link, with what was sent and refused. */
export function classLinkForm(
  { csrf, form }: Visit,
  { account, hasCredits, isOpen }: { account: string; hasCredits: boolean; isOpen: boolean },
): Html {
  const { assignments: t } = texts();
  return html`<details class="card more" ${isOpen && 'open'}><summary>${t.newClassLink}</summary><form method="post" action="${BASE}/class-links" class="fields">${csrfField(csrf)}
<label>${t.className}<input name="name" value="${form['name']}" required maxlength="200" autocomplete="off"></label>
<label>${t.seats}<input type="number" name="seats" value="${form['seats'] ?? '30'}" min="1" max="${MOST_SEATS}" step="1" required></label>
${hasCredits && html`<label>${t.credits}<input type="number" name="creditsPerSeat" value="${form['creditsPerSeat'] ?? '0'}" min="0" max="${MOST_CREDITS_OF_SEAT}" step="1" required></label>`}
${timeField(t.expires, 'expires', form['expires'], { hint: t.expiresHint })}
<label><span>${t.forAccount} <span class="hint">${t.forAccountHint}</span></span><input type="email" name="account" value="${form['account'] ?? account}" required autocomplete="off"></label>
<div class="actions"><button>${t.create}</button></div></form></details>`;
}
