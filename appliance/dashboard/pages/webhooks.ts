import type { Delivery, DeliveryDetails } from '../../../lib/index.ts';
import { shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { emptyState, note, page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { answerOf, answerText, deliveryTag } from './delivery-views.ts';
import { accountOf, accountPicker } from './scope.ts';

const ROWS = 50;

/** Webhook deliveries. */
export function webhookRoutes(): Route[] {
  return [
    { method: 'GET', path: '/webhooks', for: 'members', handler: listPage },
    { method: 'GET', path: '/webhooks/{deliveryId}', for: 'members', handler: deliveryPage },
    {
      method: 'POST',
      path: '/webhooks/{deliveryId}/send-again',
      for: 'members',
      async handler({ admin, params }) {
        const { deliveryId } = await admin.deliveries.sendAgain({ deliveryId: params['deliveryId'] ?? '' });
        return { to: `/webhooks/${deliveryId}?done=sent` };
      },
    },
  ];
}

async function listPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf, query } = visit;
  const account = accountOf(visit);
  const before = query['before'] || undefined;
  // One more shows whether there is another page.
  const found = await admin.deliveries.list({ account, before, limit: ROWS + 1 });
  const deliveries = found.slice(0, ROWS);
  const kept = account === viewer.email ? {} : { account };
  const older = { ...kept, before: deliveries.at(-1)?.deliveryId ?? '' };
  return page(
    {
      title: 'Webhooks',
      section: 'webhooks',
      viewer,
      csrf,
      lead: 'The outcome of each job that names a webhook is sent there, signed, in up to four attempts.',
      actions: await accountPicker(visit, '/webhooks'),
    },
    html`<section class="card flush">${deliveries.length > 0 ? deliveryTable(deliveries) : noDeliveries(before)}</section>
<nav class="paging" aria-label="Pages">
<span>${before !== undefined && html`<a href="${BASE}/webhooks?${new URLSearchParams(kept).toString()}">Newest</a>`}</span>
<span>${found.length > ROWS && html`<a href="${BASE}/webhooks?${new URLSearchParams(older).toString()}" rel="next">Older deliveries</a>`}</span>
</nav>`,
  );
}

function noDeliveries(before: string | undefined): Html {
  if (before !== undefined) return emptyState('No older deliveries', 'This is the end of the list.');
  return emptyState(
    'No webhooks sent yet',
    'Give a key a default webhook URL, or name one in a request. Each delivery is then listed here with its attempts.',
    html`<a class="button" href="${BASE}/keys">Keys</a>`,
  );
}

function deliveryTable(deliveries: Delivery[]): Html {
  const rows = deliveries.map(
    (delivery) => html`<tr>
<th scope="row" class="rowhead"><a href="${BASE}/webhooks/${delivery.deliveryId}" class="clip">${delivery.url}</a></th>
<td data-label="State">${deliveryTag(delivery)}</td>
<td data-label="Answer">${answerOf(delivery)}</td>
<td data-label="Outcome">${delivery.event}${delivery.repeats !== null && html` <span class="muted">(sent again)</span>`}</td>
<td data-label="Created (UTC)">${shownTime(delivery.createdAt)}</td>
</tr>`,
  );
  return html`<div class="scroll"><table class="cards"><thead><tr><th>URL</th><th>State</th><th>Answer</th><th>Outcome</th><th>Created (UTC)</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

async function deliveryPage({ admin, viewer, csrf, params, query }: Visit): Promise<Html> {
  const delivery = await admin.deliveries.show({ deliveryId: params['deliveryId'] ?? '' });
  const { deliveryId, jobId, url, event, createdAt, nextAttemptAt, repeats, body, answer } = delivery;
  const isOver = delivery.status === 'delivered' || delivery.status === 'failed';
  return page(
    {
      title: 'Webhook',
      section: 'webhooks',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/webhooks">All webhooks</a>`,
    },
    query['done'] === 'sent' && note('good', 'It is sent again within a second, with one attempt.'),
    html`<section class="card"><dl class="details">
<dt>State</dt><dd>${deliveryTag(delivery)}</dd>
<dt>URL</dt><dd>${url}</dd>
<dt>Job</dt><dd><a href="${BASE}/jobs/${jobId}">${event}</a></dd>
<dt>Created</dt><dd>${shownTime(createdAt)}</dd>
${nextAttemptAt !== null && html`<dt>Next attempt</dt><dd>${shownTime(nextAttemptAt)}</dd>`}
${repeats !== null && html`<dt>Repeats</dt><dd><a href="${BASE}/webhooks/${repeats}">an earlier delivery</a></dd>`}
</dl>${
      isOver &&
      html`<div class="actions">${postButton({ to: `/webhooks/${deliveryId}/send-again`, csrf, label: 'Send again' })}</div>`
    }</section>
${attemptsCard(delivery)}
<div class="row">
<section class="card"><h2>Request body</h2>${text(body, 'The body was forgotten with its job.')}</section>
<section class="card"><h2>Last answer</h2>${text(answer, 'No body was received.')}<p class="small muted">At most the first kilobyte is kept.</p></section>
</div>`,
  );
}

function text(content: string | null, otherwise: string): Value {
  return content
    ? html`<pre class="wrap" tabindex="0">${content}</pre>`
    : html`<p class="muted">${otherwise}</p>`;
}

function attemptsCard({ attempts }: DeliveryDetails): Html | false {
  if (attempts.length === 0) return false;
  const rows = attempts.map(
    ({ startedAt, endedAt, status, reason }, index) => html`<tr>
<th scope="row" class="rowhead">Attempt ${index + 1}</th>
<td data-label="Answer">${answerText(endedAt === null ? null : status, reason)}</td>
<td data-label="Started (UTC)">${shownTime(startedAt)}</td>
<td data-label="Time" class="end number">${endedAt === null ? '–' : `${Date.parse(endedAt) - Date.parse(startedAt)} ms`}</td>
</tr>`,
  );
  return html`<section class="card flush"><header><h2>Attempts</h2></header><div class="scroll"><table class="cards"><thead><tr><th>Attempt</th><th>Answer</th><th>Started (UTC)</th><th class="end">Time</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}
