import type { Delivery } from '../../../lib/index.ts';
import { type DeliveryDetails, type DeliveryState, isScenepressError } from '../../../lib/internal.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { DELIVERY_STATES } from '../../admin/administration-requests.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, longText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, POLLED, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Note, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker, accountQuery, keysToChoose } from './chosen-account.ts';
import {
  ADDRESS_BYTES,
  answerBox,
  answerOf,
  answerText,
  deliveryTag,
  isPending,
  reasonText,
  requestHead,
} from './delivery-views.ts';
import { textBox, textRoute } from './texts.ts';
import { timeField, utcTime } from './times.ts';

const ROWS = 50;
/** Of those that wait. */
const MOST_COUNTED = 100;

/** Webhook deliveries. */
export function webhookRoutes(): Route[] {
  return [
    { method: 'GET', path: '/webhooks', for: 'members', handler: listPage },
    {
      method: 'POST',
      path: '/webhooks/failed/send-again',
      for: 'members',
      handler: sendFailedAgain,
    },
    { method: 'GET', path: '/webhooks/{deliveryId}', for: 'members', handler: deliveryPage },
    textRoute('/webhooks/{deliveryId}/body', 'body.json', async ({ admin, params }) => {
      const { body } = await admin.deliveries.show({ deliveryId: params['deliveryId'] ?? '' });
      return body || null;
    }),
    {
      method: 'POST',
      path: '/webhooks/{deliveryId}/send-again',
      for: 'members',
      async handler({ admin, params }) {
        const { deliveryId } = await admin.deliveries.sendAgain({ deliveryId: params['deliveryId'] ?? '' });
        return {
          to: `/webhooks/${deliveryId}`,
          tell: { note: { kind: 'good', text: texts().webhooks.sentAgainSoon } },
        };
      },
    },
    waitingRoute('send-now', 'sentNowSoon', (admin) => admin.deliveries.sendNow),
    waitingRoute('give-up', 'givenUp', (admin) => admin.deliveries.giveUp),
  ];
}

/** A change of a delivery that waits; of one that is being sent or has ended, its page says so. */
function waitingRoute(
  name: string,
  done: 'sentNowSoon' | 'givenUp',
  change: (admin: RemoteAdministration) => (request: { deliveryId: string }) => Promise<unknown>,
): Route {
  return {
    method: 'POST',
    path: `/webhooks/{deliveryId}/${name}`,
    for: 'members',
    async handler({ admin, params }) {
      const { deliveryId = '' } = params;
      const note: Note = { kind: 'good', text: texts().webhooks[done] };
      try {
        await change(admin)({ deliveryId });
      } catch (error) {
        if (!isScenepressError(error, 'conflict')) throw error;
        Object.assign(note, { kind: 'warn', text: error.message });
      }
      return { to: `/webhooks/${encodeURIComponent(deliveryId)}`, tell: { note } };
    },
  };
}

async function listPage(visit: Visit): Promise<Answer> {
  const { admin, viewer, csrf, query } = visit;
  const account = accountOf(visit);
  const before = query['before'] || undefined;
  const state = DELIVERY_STATES.find((one) => one === query['state']);
  const keys = await keysToChoose(visit, { named: query['key'] });
  const keyId = keys.find((key) => key.keyId === query['key'])?.keyId;
  // One more shows whether there is another page.
  const found = await admin.deliveries.list({ account, state, keyId, before, limit: ROWS + 1 });
  const deliveries = found.slice(0, ROWS);
  const kept: Filters = {
    ...(account !== viewer.email && { account }),
    ...(state && { state }),
    ...(keyId !== undefined && { key: keyId }),
  };
  const older = found.length > ROWS && webhooksUrl({ ...kept, before: deliveries.at(-1)?.deliveryId ?? '' });
  const { webhooks: t, common } = texts();
  const names = new Map(keys.map(({ keyId, name }) => [keyId, name]));
  return page(
    {
      title: t.title,
      section: 'webhooks',
      viewer,
      csrf,
      lead: t.lead,
      actions: [
        await accountPicker(visit, '/webhooks'),
        html`<a class="button" href="${BASE}/webhooks/test${accountQuery(visit)}">${t.sendTest}</a>`,
      ],
    },
    toldNote(visit.told),
    html`<div class="stack dense">
<div class="toolbar"><nav class="filters" aria-label="${common.state}">${[undefined, ...DELIVERY_STATES].map((one) => stateLink(one, kept))}</nav>${keys.length > 1 && keyFilter(keys, kept)}</div>
${failedAgainForm(visit, kept)}</div>
<section class="card flush" id="live" data-live>${deliveries.length > 0 ? deliveryTable(deliveries, names) : await noDeliveries(visit, kept, before)}</section>
<nav class="paging" aria-label="${common.pages}">
<span>${before !== undefined && html`<a href="${webhooksUrl(kept)}">${common.newest}</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">${t.olderDeliveries}</a>`}</span>
</nav>`,
  );
}

type Filters = { account?: string; state?: DeliveryState; key?: string };

function webhooksUrl(query: Filters | Record<string, string>): string {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return `${BASE}/webhooks${text && `?${text}`}`;
}

function stateLink(one: DeliveryState | undefined, { state, ...others }: Filters): Html {
  const label = texts().webhooks.filters[one ?? 'all'];
  const url = webhooksUrl({ ...others, ...(one && { state: one }) });
  return one === state
    ? html`<a href="${url}" aria-current="true">${label}</a>`
    : html`<a href="${url}">${label}</a>`;
}

function keyFilter(keys: KeyInfo[], { key, ...others }: Filters): Html {
  const options = keys.map(
    ({ keyId, name, keyPrefix }) =>
      html`<option value="${keyId}" ${keyId === key && 'selected'}>${name} (${keyPrefix}…)</option>`,
  );
  return html`<form method="get" action="${BASE}/webhooks" class="actions">
${Object.entries(others).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label class="visually-hidden" for="key">${texts().common.key}</label>
<select id="key" name="key"><option value="">${texts().webhooks.allKeys}</option>${options}</select><button>${texts().common.show}</button></form>`;
}

/** `until` is the time of the page, so that sending the form twice sends nothing twice. */
function failedAgainForm({ csrf }: Visit, { account, key }: Filters): Html {
  const { webhooks: t } = texts();
  const now = new Date();
  const yesterday = new Date(now.getTime() - 86_400_000).toISOString();
  return html`<details class="card more"><summary>${t.failedAgain}</summary>
<form method="post" action="${BASE}/webhooks/failed/send-again" class="body stack">${csrfField(csrf)}
<input type="hidden" name="until" value="${now.toISOString()}">
${account !== undefined && html`<input type="hidden" name="account" value="${account}">`}
${key !== undefined && html`<input type="hidden" name="key" value="${key}">`}
<p class="muted">${key === undefined ? t.failedAgainText : t.failedAgainTextOfKey}</p>
<div class="fields">${timeField(t.since, 'since', yesterday, { required: true })}<button>${t.sendAllAgain}</button></div>
</form></details>`;
}

async function sendFailedAgain(visit: Visit): Promise<Answer> {
  const { admin, form, viewer } = visit;
  const { since = '', until, key } = form;
  const account = (viewer.role === 'admin' && form['account']) || viewer.email;
  const { sent, isComplete } = await admin.deliveries.sendFailedAgain({
    account,
    since: utcTime(since),
    until,
    keyId: key,
  });
  const result = {
    ...(account !== viewer.email && { account }),
    ...(key !== undefined && { key }),
  };
  return { to: webhooksUrl(result).slice(BASE.length), tell: { note: failedAgainNote(sent, isComplete) } };
}

function failedAgainNote(sent: number, isComplete: boolean): Note {
  const { webhooks: t } = texts();
  if (sent === 0) return { kind: '', text: t.noneLeft };
  const rest = isComplete ? '' : t.thereAreMore;
  return { kind: 'good', text: t.failedAgainDone(sent, shownNumber(sent)) + rest };
}

async function noDeliveries(
  visit: Visit,
  { state, key, ...others }: Filters,
  before: string | undefined,
): Promise<Html> {
  const { webhooks: t, common } = texts();
  if (before !== undefined) return emptyState(t.noneOlder, common.endOfList);
  if (state === 'failed') {
    const pending = await visit.admin.deliveries.list({
      account: accountOf(visit),
      state: 'pending',
      keyId: key,
      limit: MOST_COUNTED,
    });
    if (pending.length === 0) return emptyState(t.noneFailed, t.noneFailedText);
    const text = t.someWait(pending.length, pending.length === MOST_COUNTED);
    const url = webhooksUrl({ ...others, ...(key && { key }), state: 'pending' });
    return html`${POLLED}${emptyState(t.noneFailed, text, html`<a class="button" href="${url}">${t.showThem}</a>`)}`;
  }
  if (state !== undefined || key !== undefined) {
    return emptyState(t.noMatch, t.noMatchText);
  }
  return emptyState(t.noneYet, t.noneYetText, html`<a class="button" href="${BASE}/keys">${t.keys}</a>`);
}

function deliveryTable(deliveries: Delivery[], names: Map<string, string>): Html {
  const { webhooks: t, common } = texts();
  const rows = deliveries.map(
    (delivery) => html`<tr>
<th scope="row" class="rowhead fill"><a href="${BASE}/webhooks/${delivery.deliveryId}" class="clip">${delivery.url}</a></th>
<td data-label="${common.state}">${deliveryTag(delivery)}</td>
<td data-label="${t.answer}" class="phrase">${answerOf(delivery)}</td>
<td data-label="${t.outcome}">${delivery.event}${delivery.repeats !== null && html` <span class="muted">${t.sentAgain}</span>`}</td>
<td data-label="${common.key}"><span class="clip short">${names.get(delivery.keyId ?? '') ?? '–'}</span></td>
<td data-label="${common.created}">${shownTime(delivery.createdAt)}</td>
</tr>`,
  );
  return html`${deliveries.some(isPending) && POLLED}<div class="scroll"><table class="cards"><thead><tr><th>${t.url}</th><th>${common.state}</th><th>${t.answer}</th><th>${t.outcome}</th><th>${common.key}</th><th>${common.created}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

async function deliveryPage({ admin, viewer, csrf, params, told }: Visit): Promise<Html> {
  const delivery = await admin.deliveries.show({ deliveryId: params['deliveryId'] ?? '' });
  const { deliveryId, jobId, url, event, createdAt, nextAttemptAt, repeats, body } = delivery;
  const { webhooks: t, common } = texts();
  const isOver = !isPending(delivery);
  return page(
    {
      title: common.webhook,
      section: 'webhooks',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/webhooks">${t.all}</a>`,
    },
    toldNote(told),
    html`<div id="live" data-live class="stack"><section class="card">${isPending(delivery) && POLLED}<dl class="details">
<dt>${common.state}</dt><dd>${deliveryTag(delivery)}</dd>
<dt>${t.url}</dt><dd>${longText(url, ADDRESS_BYTES)}</dd>
<dt>${common.job}</dt><dd><a href="${BASE}/jobs/${jobId}">${event}</a></dd>
<dt>${common.created}</dt><dd>${shownTime(createdAt)}</dd>
${nextAttemptAt !== null && html`<dt>${t.nextAttempt}</dt><dd>${shownTime(nextAttemptAt)}</dd>`}
${repeats !== null && html`<dt>${t.repeats}</dt><dd><a href="${BASE}/webhooks/${repeats}">${t.earlier}</a></dd>`}
</dl>${
      isOver &&
      html`<div class="actions">${postButton({ to: `/webhooks/${deliveryId}/send-again`, csrf, label: common.sendAgain })}</div>`
    }${
      delivery.status === 'waiting' &&
      html`<div class="actions">${postButton({ to: `/webhooks/${deliveryId}/send-now`, csrf, label: t.sendNow })}${postButton({ to: `/webhooks/${deliveryId}/give-up`, csrf, label: t.giveUp })}</div>`
    }</section>
<div class="row">
<section class="card"><h2>${t.request}</h2>${url !== '' && textBox(requestHead(url, headersOf(delivery)))}${body ? textBox(body, { whole: `/webhooks/${deliveryId}/body` }) : html`<p class="muted">${t.bodyForgotten}</p>`}</section>
${attemptsCard(delivery)}
</div></div>`,
  );
}

/** The headers of the last attempt. */
function headersOf({ event, repeats, attempts }: DeliveryDetails): Record<string, string> {
  return {
    'content-type': 'application/json',
    'svc-event': event,
    'svc-signature': attempts.at(-1)?.signature ?? texts().webhooks.signatureToCome,
    ...(repeats !== null && { 'svc-redelivery': repeats }),
  };
}

function attemptsCard({ attempts }: DeliveryDetails): Html | false {
  if (attempts.length === 0) return false;
  return html`<section class="card"><h2>${texts().webhooks.attempts}</h2>${attempts.map((attempt, index) =>
    attemptView(attempt, index + 1, index === attempts.length - 1),
  )}<p class="small muted">${texts().webhooks.keptAnswer}</p></section>`;
}

function attemptView(
  { startedAt, endedAt, status, reason, signature, answer }: DeliveryDetails['attempts'][number],
  number: number,
  isOpen: boolean,
): Html {
  const { webhooks: t } = texts();
  const took = endedAt === null ? '' : t.took(Date.parse(endedAt) - Date.parse(startedAt));
  return html`<details ${isOpen && 'open'}><summary>${t.attempt(number, answerText(endedAt === null ? null : status, reason))}</summary>
<p class="small muted">${filled(t.sentAt, { time: shownTime(startedAt) })}${took}</p>
${reason !== null && html`<p>${reasonText(reason)}</p>`}
${signature !== null && textBox(`svc-signature: ${signature}`)}
${endedAt !== null && answerBox(answer)}
</details>`;
}
