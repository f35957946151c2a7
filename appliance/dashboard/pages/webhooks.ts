import type { Delivery } from '../../../lib/index.ts';
import { type DeliveryDetails, type DeliveryState, isScenepressError } from '../../../lib/internal.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { DELIVERY_STATES } from '../../admin/administration-requests.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { counted, shownTime } from '../format.ts';
import { type Html, html, longText } from '../html.ts';
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
const AGAIN = 'It is sent again within a second, with one attempt.';

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
        return { to: `/webhooks/${deliveryId}`, tell: { note: { kind: 'good', text: AGAIN } } };
      },
    },
    waitingRoute('send-now', 'It is sent within a second.', (admin) => admin.deliveries.sendNow),
    waitingRoute(
      'give-up',
      'It was given up: no further attempt is made.',
      (admin) => admin.deliveries.giveUp,
    ),
  ];
}

/** A change of a delivery that waits; of one that is being sent or has ended, its page says so. */
function waitingRoute(
  name: string,
  done: string,
  change: (admin: RemoteAdministration) => (request: { deliveryId: string }) => Promise<unknown>,
): Route {
  return {
    method: 'POST',
    path: `/webhooks/{deliveryId}/${name}`,
    for: 'members',
    async handler({ admin, params }) {
      const { deliveryId = '' } = params;
      const note: Note = { kind: 'good', text: done };
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
  const names = new Map(keys.map(({ keyId, name }) => [keyId, name]));
  return page(
    {
      title: 'Webhooks',
      section: 'webhooks',
      viewer,
      csrf,
      lead: 'The outcome of each job that names a webhook is sent there, signed, in up to four attempts.',
      actions: [
        await accountPicker(visit, '/webhooks'),
        html`<a class="button" href="${BASE}/webhooks/test${accountQuery(visit)}">Send a test event</a>`,
      ],
    },
    toldNote(visit.told),
    html`<div class="stack dense">
<div class="toolbar"><nav class="filters" aria-label="State">${[undefined, ...DELIVERY_STATES].map((one) => stateLink(one, kept))}</nav>${keys.length > 1 && keyFilter(keys, kept)}</div>
${failedAgainForm(visit, kept)}</div>
<section class="card flush" id="live" data-live>${deliveries.length > 0 ? deliveryTable(deliveries, names) : await noDeliveries(visit, kept, before)}</section>
<nav class="paging" aria-label="Pages">
<span>${before !== undefined && html`<a href="${webhooksUrl(kept)}">Newest</a>`}</span>
<span>${older && html`<a href="${older}" rel="next">Older deliveries</a>`}</span>
</nav>`,
  );
}

type Filters = { account?: string; state?: DeliveryState; key?: string };

function webhooksUrl(query: Filters | Record<string, string>): string {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return `${BASE}/webhooks${text && `?${text}`}`;
}

function stateLink(one: DeliveryState | undefined, { state, ...others }: Filters): Html {
  const label = one === undefined ? 'All' : `${one.slice(0, 1).toUpperCase()}${one.slice(1)}`;
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
<label class="visually-hidden" for="key">Key</label>
<select id="key" name="key"><option value="">All keys</option>${options}</select><button>Show</button></form>`;
}

/** `until` is the time of the page, so that sending the form twice sends nothing twice. */
function failedAgainForm({ csrf }: Visit, { account, key }: Filters): Html {
  const now = new Date();
  const yesterday = new Date(now.getTime() - 86_400_000).toISOString();
  return html`<details class="card more"><summary>Send failed ones again …</summary>
<form method="post" action="${BASE}/webhooks/failed/send-again" class="body stack">${csrfField(csrf)}
<input type="hidden" name="until" value="${now.toISOString()}">
${account !== undefined && html`<input type="hidden" name="account" value="${account}">`}
${key !== undefined && html`<input type="hidden" name="key" value="${key}">`}
<p class="muted">For a receiver that was down: the failed webhooks ${key === undefined ? 'of all keys' : 'of this key'} since a time are sent again, at most 1,000 at once. One that was sent again already is left out.</p>
<div class="fields">${timeField('Since', 'since', yesterday, { required: true })}<button>Send all again</button></div>
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
  if (sent === 0) return { kind: '', text: 'No failed webhook of this time was left to send again.' };
  const rest = isComplete ? '' : ' There are more: send again for the rest.';
  const text = `${counted(sent, 'webhook')} ${sent === 1 ? 'is' : 'are'} sent again, with one attempt each.${rest}`;
  return { kind: 'good', text };
}

async function noDeliveries(
  visit: Visit,
  { state, key, ...others }: Filters,
  before: string | undefined,
): Promise<Html> {
  if (before !== undefined) return emptyState('No older deliveries', 'This is the end of the list.');
  if (state === 'failed') {
    const pending = await visit.admin.deliveries.list({
      account: accountOf(visit),
      state: 'pending',
      keyId: key,
      limit: MOST_COUNTED,
    });
    if (pending.length === 0) {
      return emptyState('No failed webhooks', 'Every receiver has accepted what it was sent.');
    }
    const more = pending.length === MOST_COUNTED ? ' or more' : '';
    const text = `No webhook has used up its attempts. ${counted(pending.length, 'webhook')}${more} ${pending.length === 1 ? 'waits' : 'wait'}, or ${pending.length === 1 ? 'is' : 'are'} being retried.`;
    const url = webhooksUrl({ ...others, ...(key && { key }), state: 'pending' });
    return html`${POLLED}${emptyState('No failed webhooks', text, html`<a class="button" href="${url}">Show them</a>`)}`;
  }
  if (state !== undefined || key !== undefined) {
    return emptyState('No such webhooks', 'No delivery matches these filters.');
  }
  return emptyState(
    'No webhooks sent yet',
    'Give a key a default webhook URL, or name one in a request. Each delivery is then listed here with its attempts.',
    html`<a class="button" href="${BASE}/keys">Keys</a>`,
  );
}

function deliveryTable(deliveries: Delivery[], names: Map<string, string>): Html {
  const rows = deliveries.map(
    (delivery) => html`<tr>
<th scope="row" class="rowhead fill"><a href="${BASE}/webhooks/${delivery.deliveryId}" class="clip">${delivery.url}</a></th>
<td data-label="State">${deliveryTag(delivery)}</td>
<td data-label="Answer" class="phrase">${answerOf(delivery)}</td>
<td data-label="Outcome">${delivery.event}${delivery.repeats !== null && html` <span class="muted">(sent again)</span>`}</td>
<td data-label="Key"><span class="clip short">${names.get(delivery.keyId ?? '') ?? '–'}</span></td>
<td data-label="Created">${shownTime(delivery.createdAt)}</td>
</tr>`,
  );
  return html`${deliveries.some(isPending) && POLLED}<div class="scroll"><table class="cards"><thead><tr><th>URL</th><th>State</th><th>Answer</th><th>Outcome</th><th>Key</th><th>Created</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

async function deliveryPage({ admin, viewer, csrf, params, told }: Visit): Promise<Html> {
  const delivery = await admin.deliveries.show({ deliveryId: params['deliveryId'] ?? '' });
  const { deliveryId, jobId, url, event, createdAt, nextAttemptAt, repeats, body } = delivery;
  const isOver = !isPending(delivery);
  return page(
    {
      title: 'Webhook',
      section: 'webhooks',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/webhooks">All webhooks</a>`,
    },
    toldNote(told),
    html`<div id="live" data-live class="stack"><section class="card">${isPending(delivery) && POLLED}<dl class="details">
<dt>State</dt><dd>${deliveryTag(delivery)}</dd>
<dt>URL</dt><dd>${longText(url, ADDRESS_BYTES)}</dd>
<dt>Job</dt><dd><a href="${BASE}/jobs/${jobId}">${event}</a></dd>
<dt>Created</dt><dd>${shownTime(createdAt)}</dd>
${nextAttemptAt !== null && html`<dt>Next attempt</dt><dd>${shownTime(nextAttemptAt)}</dd>`}
${repeats !== null && html`<dt>Repeats</dt><dd><a href="${BASE}/webhooks/${repeats}">an earlier delivery</a></dd>`}
</dl>${
      isOver &&
      html`<div class="actions">${postButton({ to: `/webhooks/${deliveryId}/send-again`, csrf, label: 'Send again' })}</div>`
    }${
      delivery.status === 'waiting' &&
      html`<div class="actions">${postButton({ to: `/webhooks/${deliveryId}/send-now`, csrf, label: 'Send now' })}${postButton({ to: `/webhooks/${deliveryId}/give-up`, csrf, label: 'Give up' })}</div>`
    }</section>
<div class="row">
<section class="card"><h2>Request</h2>${url !== '' && textBox(requestHead(url, headersOf(delivery)))}${body ? textBox(body, { whole: `/webhooks/${deliveryId}/body` }) : html`<p class="muted">The body was forgotten with its job.</p>`}</section>
${attemptsCard(delivery)}
</div></div>`,
  );
}

/** The headers of the last attempt. */
function headersOf({ event, repeats, attempts }: DeliveryDetails): Record<string, string> {
  return {
    'content-type': 'application/json',
    'svc-event': event,
    'svc-signature': attempts.at(-1)?.signature ?? 't=<time of the attempt>,v1=<signature>',
    ...(repeats !== null && { 'svc-redelivery': repeats }),
  };
}

function attemptsCard({ attempts }: DeliveryDetails): Html | false {
  if (attempts.length === 0) return false;
  return html`<section class="card"><h2>Attempts</h2>${attempts.map((attempt, index) =>
    attemptView(attempt, index + 1, index === attempts.length - 1),
  )}<p class="small muted">At most the first kilobyte of an answer is kept.</p></section>`;
}

function attemptView(
  { startedAt, endedAt, status, reason, signature, answer }: DeliveryDetails['attempts'][number],
  number: number,
  isOpen: boolean,
): Html {
  const took = endedAt === null ? '' : `, ${Date.parse(endedAt) - Date.parse(startedAt)} ms`;
  return html`<details ${isOpen && 'open'}><summary>Attempt ${number}: ${answerText(endedAt === null ? null : status, reason)}</summary>
<p class="small muted">Sent at ${shownTime(startedAt)}${took}</p>
${reason !== null && html`<p>${reasonText(reason)}</p>`}
${signature !== null && textBox(`svc-signature: ${signature}`)}
${endedAt !== null && answerBox(answer)}
</details>`;
}
