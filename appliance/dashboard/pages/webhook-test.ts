import { DEFAULT_TOLERANCE_SECONDS, isScenepressError, type WebhookTest } from '../../../lib/internal.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
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
  const { webhooks } = texts();
  const t = webhooks.test;
  const { viewer, csrf, form, query } = visit;
  const keys = await keysToChoose(visit, { live: true, named: form['key'] ?? query['key'] });
  return page(
    {
      title: t.title,
      section: 'webhooks',
      viewer,
      csrf,
      lead: t.lead,
      actions: html`<a class="button" href="${BASE}/webhooks${accountQuery(visit)}">${webhooks.all}</a>`,
    },
    html`<section class="card${keys.length === 0 ? ' flush' : ''}">${keys.length === 0 ? noKeys() : testForm(visit, keys)}</section>`,
    content,
  );
}

function noKeys(): Html {
  const { webhooks, common } = texts();
  return emptyState(
    webhooks.test.noKey,
    webhooks.test.noKeyText,
    html`<a class="button primary" href="${BASE}/keys/new">${common.createKey}</a>`,
  );
}

function testForm(visit: Visit, keys: KeyInfo[]): Html {
  const t = texts().webhooks.test;
  const { csrf, form, query } = visit;
  const chosen = keys.find(({ keyId }) => keyId === (form['key'] ?? query['key'])) ?? (keys[0] as KeyInfo);
  const options = keys.map(
    ({ keyId, name, keyPrefix }) =>
      html`<option value="${keyId}" ${keyId === chosen.keyId && 'selected'}>${name} (${keyPrefix}…)</option>`,
  );
  return html`<form method="post" action="${BASE}/webhooks/test${accountQuery(visit)}" class="fields">${csrfField(csrf)}
<label>${t.signedWith}<select name="key">${options}</select></label>
<label class="wide">${t.url}<input type="url" name="url" value="${form['url']}" placeholder="${chosen.webhookUrl ?? 'https://'}" autocomplete="off"></label>
<button class="primary">${t.send}</button></form>`;
}

function result(sent: WebhookTest): Html {
  return html`<div class="columns">${verification(sent)}${answerCard(sent)}</div>`;
}

function answerCard({ status, reason, answer, tookMs }: WebhookTest): Html {
  const { webhooks } = texts();
  const isDelivered = reason === null && status >= 200 && status < 300;
  return html`<section class="card" id="answer"><header><h2>${webhooks.answer}</h2><span class="tag ${isDelivered ? 'good' : 'bad'}">${isDelivered ? webhooks.states.delivered : webhooks.states.failed}</span></header>
<p>${filled(webhooks.test.after, { answer: html`<strong>${answerText(status, reason)}</strong>`, ms: tookMs })}</p>
${reason !== null && html`<p>${reasonText(reason)}</p>`}
${reason === null && !isDelivered && html`<p>${webhooks.test.retries}</p>`}
${answerBox(answer)}</section>`;
}

/** The steps of a receiver, in the order of the contract. */
function verification({ url, headers, body, verification }: WebhookTest): Html {
  const t = texts().webhooks.test;
  const { timestamp, signature, computed, verdict } = verification;
  const signedAt = shownTime(new Date(Number(timestamp) * 1000).toISOString());
  return html`<section class="card" id="verification"><h2>${t.verification}</h2>
<ol class="steps">
<li>${t.keepsBytes}
${textBox(`${requestHead(url, headers)}\n\n${body}`)}</li>
<li>${filled(t.readsHeader, { time: signedAt })}
<pre class="wrap">t  = ${timestamp}
v1 = ${signature}</pre></li>
<li>${t.joins}
${textBox(`${timestamp}.${body}`)}</li>
<li>${computed === signature ? filled(t.computesEqual, { verdict: html`<span class="tag good">${t.equal}</span>` }) : filled(t.computesDifferent, { verdict: html`<span class="tag bad">${t.different}</span>` })}
<pre class="wrap">${computed}</pre></li>
<li>${filled(t.comparesTime, { minutes: DEFAULT_TOLERANCE_SECONDS / 60, verdict: verdict.valid ? html`<span class="tag good">${t.valid}</span>` : html`<span class="tag bad">${verdict.message}</span>` })}</li>
</ol>
<p class="small muted">${filled(t.inNode)}</p></section>`;
}
