import { DEFAULT_TOLERANCE_SECONDS, isScenepressError, type WebhookTest } from '../../../lib/internal.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { csrfField, emptyState, note, page } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { accountQuery, keysToChoose } from './chosen-account.ts';
import { answerBox, answerText, reasonText, requestHead } from './delivery-views.ts';
import { textBox } from './texts.ts';

/** A test event, and how its receiver verifies it. */
export function webhookTestRoutes(): Route[] {
  return [
    { method: 'GET', path: '/webhooks/test', for: 'members', handler: (visit) => testPage(visit) },
    { method: 'POST', path: '/webhooks/test', for: 'members', handler: send },
  ];
}

async function send(visit: Visit): Promise<Answer> {
  const { admin, form } = visit;
  const { key: keyId = '', url = '' } = form;
  try {
    const sent = await admin.deliveries.sendTest({ keyId, ...(url.trim() !== '' && { url: url.trim() }) });
    return testPage(visit, result(sent));
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
    return { page: await testPage(visit, note('bad', error.message)), status: 400 };
  }
}

async function testPage(visit: Visit, content?: Value): Promise<Html> {
  const { viewer, csrf, form, query } = visit;
  const keys = await keysToChoose(visit, { live: true, named: form['key'] ?? query['key'] });
  return page(
    {
      title: 'Test event',
      section: 'webhooks',
      viewer,
      csrf,
      lead: 'Sends the outcome of a made-up job, signed like any other, and shows how a receiver verifies it.',
      actions: html`<a class="button" href="${BASE}/webhooks${accountQuery(visit)}">All webhooks</a>`,
    },
    html`<section class="card${keys.length === 0 ? ' flush' : ''}">${keys.length === 0 ? noKeys() : testForm(visit, keys)}</section>`,
    content,
  );
}

function noKeys(): Html {
  return emptyState(
    'No key to sign with',
    'Webhooks are signed with the secret of an API key. Create one first.',
    html`<a class="button primary" href="${BASE}/keys/new">Create key</a>`,
  );
}

function testForm(visit: Visit, keys: KeyInfo[]): Html {
  const { csrf, form, query } = visit;
  const chosen = keys.find(({ keyId }) => keyId === (form['key'] ?? query['key'])) ?? (keys[0] as KeyInfo);
  const options = keys.map(
    ({ keyId, name, keyPrefix }) =>
      html`<option value="${keyId}" ${keyId === chosen.keyId && 'selected'}>${name} (${keyPrefix}…)</option>`,
  );
  return html`<form method="post" action="${BASE}/webhooks/test${accountQuery(visit)}" class="fields">${csrfField(csrf)}
<label>Signed with the secret of<select name="key">${options}</select></label>
<label class="wide">URL, or empty for the default of the key<input type="url" name="url" value="${form['url']}" placeholder="${chosen.webhookUrl ?? 'https://'}" autocomplete="off"></label>
<button class="primary">Send</button></form>`;
}

function result(sent: WebhookTest): Html {
  return html`<div class="columns">${verification(sent)}${answerCard(sent)}</div>`;
}

function answerCard({ status, reason, answer, tookMs }: WebhookTest): Html {
  const isDelivered = reason === null && status >= 200 && status < 300;
  return html`<section class="card" id="answer"><header><h2>Answer</h2><span class="tag ${isDelivered ? 'good' : 'bad'}">${isDelivered ? 'Delivered' : 'Failed'}</span></header>
<p><strong>${answerText(status, reason)}</strong> after ${tookMs} ms</p>
${reason !== null && html`<p>${reasonText(reason)}</p>`}
${reason === null && !isDelivered && html`<p>A delivery succeeds when the receiver answers with 2xx within 10 seconds. This one would be sent up to three more times.</p>`}
${answerBox(answer)}</section>`;
}

/** The steps of a receiver, in the order of the contract. */
function verification({ url, headers, body, verification }: WebhookTest): Html {
  const { timestamp, signature, computed, verdict } = verification;
  const signedAt = shownTime(new Date(Number(timestamp) * 1000).toISOString());
  return html`<section class="card" id="verification"><h2>Request and its signature</h2>
<ol class="steps">
<li>The receiver gets this request, and keeps the bytes of its body as they are.
${textBox(`${requestHead(url, headers)}\n\n${body}`)}</li>
<li>It reads the two members of <code>svc-signature</code>: the time <code>t</code>, which is ${signedAt}, and the signature <code>v1</code>.
<pre class="wrap">t  = ${timestamp}
v1 = ${signature}</pre></li>
<li>It joins the time, a dot and the body.
${textBox(`${timestamp}.${body}`)}</li>
<li>It computes the HMAC-SHA256 of that text with the webhook secret of the key, in hexadecimal, ${computed === signature ? html`and compares it with <code>v1</code> in constant time: <span class="tag good">Equal</span>` : html`and compares it with <code>v1</code>: <span class="tag bad">Different</span>`}
<pre class="wrap">${computed}</pre></li>
<li>It compares <code>t</code> with its clock; more than ${DEFAULT_TOLERANCE_SECONDS / 60} minutes apart would be a replay: ${verdict.valid ? html`<span class="tag good">Valid</span>` : html`<span class="tag bad">${verdict.message}</span>`}</li>
</ol>
<p class="small muted">In Node, <code>verifyWebhook(body, header, secret)</code> of the package does these steps.</p></section>`;
}
