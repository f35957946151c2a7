import { isScenepressError, KEY_SCOPES } from '../../../lib/internal.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { shownTime } from '../format.ts';
import { type Html, html, type Value, wholeText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { copyable, csrfField, emptyState, note, page, postButton, toldNote } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker, accountQuery } from './chosen-account.ts';

/** Keys per page. */
const ROWS = 100;

const CODE =
  'from manim import *\nclass Hello(Scene):\n    def construct(self):\n        self.play(Write(Text("Hello")))';

/** API keys. */
export function keyRoutes(): Route[] {
  return [
    { method: 'GET', path: '/keys', for: 'members', handler: listPage },
    { method: 'GET', path: '/keys/new', for: 'members', handler: async (visit) => newPage(visit) },
    {
      method: 'POST',
      path: '/keys',
      for: 'members',
      async handler(visit) {
        const { admin, form } = visit;
        const account = form['account'] || visit.viewer.accountId;
        try {
          const webhookUrl = form['webhookUrl']?.trim() || undefined;
          const name = form['name'] ?? '';
          const scopes = visit.formValues('scopes');
          const expires = form['expires']?.trim() || undefined;
          const made = await admin.keys.create({ account, name, webhookUrl, scopes, expires });
          const { keyId, key, webhookSecret } = made;
          const secrets = { key, webhookSecret };
          return {
            to: keyPath(keyId),
            tell: { note: { kind: 'warn', text: texts().keys.shownOnce }, secrets },
          };
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request')) throw error;
          return { page: newPage(visit, error.message), status: 400 };
        }
      },
    },
    {
      method: 'GET',
      path: '/keys/{keyId}',
      for: 'members',
      handler: async (visit) => keyPage(visit, await shownKey(visit)),
    },
    {
      method: 'POST',
      path: '/keys/{keyId}/webhook',
      for: 'members',
      async handler(visit) {
        const { admin, form, params } = visit;
        const { keyId = '' } = params;
        try {
          await admin.keys.setWebhook({ keyId, webhookUrl: form['webhookUrl']?.trim() || null });
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request')) throw error;
          const key = { ...(await shownKey(visit)), webhookUrl: form['webhookUrl'] ?? null };
          return { page: keyPage(visit, key, note('bad', error.message)), status: 400 };
        }
        return { to: keyPath(keyId), tell: { note: { kind: 'good', text: texts().keys.webhookChanged } } };
      },
    },
    {
      method: 'POST',
      path: '/keys/{keyId}/rotate',
      for: 'members',
      async handler(visit) {
        const { keyId = '' } = visit.params;
        const { webhookSecret } = await visit.admin.keys.rotateSecret({ keyId });
        return {
          to: keyPath(keyId),
          tell: { note: { kind: 'warn', text: texts().keys.rotated }, secrets: { webhookSecret } },
        };
      },
    },
    {
      method: 'GET',
      path: '/keys/{keyId}/revoke',
      for: 'members',
      handler: async (visit) => revokePage(visit, await shownKey(visit)),
    },
    {
      method: 'POST',
      path: '/keys/{keyId}/revoke',
      for: 'members',
      async handler({ admin, params }) {
        const { keyId = '' } = params;
        await admin.keys.revoke({ keyId });
        return { to: keyPath(keyId), tell: { note: { kind: 'good', text: texts().keys.wasRevoked } } };
      },
    },
  ];
}

function keyPath(keyId: string): string {
  return `/keys/${encodeURIComponent(keyId)}`;
}

function shownKey({ admin, params }: Visit): Promise<KeyInfo> {
  return admin.keys.show({ keyId: params['keyId'] ?? '' });
}

async function listPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf, query } = visit;
  const { keys: t, common } = texts();
  const account = accountOf(visit);
  const after = query['after'] || undefined;
  const { keys, next } = await admin.keys.list({ account, limit: ROWS, after });
  // Live ones first, then the newest.
  const sorted = keys.toReversed().sort((a, b) => Number(a.state !== 'live') - Number(b.state !== 'live'));
  const create = html`<a class="button primary" href="${BASE}/keys/new${accountQuery(visit)}">${common.createKey}</a>`;
  const list =
    keys.length === 0
      ? emptyState(t.noneYet, t.noneYetText, create)
      : html`<div class="scroll"><table class="cards">
<thead><tr><th>${t.nameAndKey}</th><th>${common.state}</th><th>${t.scopes}</th><th>${t.defaultWebhook}</th><th>${common.created}</th><th>${t.lastUsed}</th></tr></thead>
<tbody>${sorted.map(keyRow)}</tbody></table></div>`;
  return page(
    {
      title: t.title,
      section: 'keys',
      viewer,
      csrf,
      lead: t.lead,
      actions: [await accountPicker(visit, '/keys'), keys.length > 0 && create],
    },
    html`<section class="card flush">${list}</section>
<nav class="paging" aria-label="${common.pages}">
<span>${after !== undefined && html`<a href="${BASE}/keys${accountQuery(visit)}">${common.firstPage}</a>`}</span>
<span>${next !== null && html`<a href="${BASE}/keys?${new URLSearchParams({ account, after: next }).toString()}" rel="next">${common.nextPage}</a>`}</span>
</nav>`,
  );
}

function keyRow(key: KeyInfo): Html {
  const { keys: t, common } = texts();
  return html`<tr>
<th scope="row" class="rowhead"><a href="${BASE}/keys/${key.keyId}">${key.name}</a><div class="faint tight"><code>${key.keyPrefix}…</code></div></th>
<td data-label="${common.state}"><div>${stateTag(key)}${key.state === 'live' && key.expiresAt !== null && html`<div class="faint">${filled(t.until, { time: shownTime(key.expiresAt) })}</div>`}</div></td>
<td data-label="${t.scopes}">${key.scopes.join(', ')}</td>
<td data-label="${t.defaultWebhook}"><span class="clip short" title="${key.webhookUrl}">${key.webhookUrl ?? '–'}</span></td>
<td data-label="${common.created}">${shownTime(key.createdAt)}</td>
<td data-label="${t.lastUsed}">${key.lastUsedAt === null ? html`<span class="faint">${common.never}</span>` : shownTime(key.lastUsedAt)}</td>
</tr>`;
}

function stateTag({ state }: KeyInfo): Html {
  const label = texts().keys.states[state];
  return state === 'live'
    ? html`<span class="tag good">${label}</span>`
    : html`<span class="tag">${label}</span>`;
}

function newPage(visit: Visit, problem?: string): Html {
  const { keys: t, common } = texts();
  const { viewer, csrf, form } = visit;
  const account = form['account'] || accountOf(visit);
  return page(
    { title: common.createKey, section: 'keys', viewer, csrf },
    problem !== undefined && note('bad', problem),
    html`<section class="card"><form method="post" action="${BASE}/keys" class="stack">
${csrfField(csrf)}
<input type="hidden" name="account" value="${account}">
${account !== viewer.email && html`<p class="muted">${t.forAccount(account)}</p>`}
<label>${common.name} <span class="hint">${t.nameHint}</span><input name="name" value="${form['name']}" required maxlength="100" autofocus></label>
<label>${t.webhookUrl} <span class="hint">${t.webhookUrlHint}</span><input name="webhookUrl" type="url" value="${form['webhookUrl']}" placeholder="https://" pattern="https://.+"></label>
${scopesField(problem === undefined ? KEY_SCOPES : visit.formValues('scopes'))}
<label>${common.expires} <span class="hint">${t.expiresHint}</span><input name="expires" type="date" value="${form['expires']}" min="${new Date().toISOString().slice(0, 10)}"></label>
<div class="actions"><button class="primary">${common.createKey}</button><a class="button" href="${BASE}/keys">${common.cancel}</a></div>
</form></section>`,
  );
}

function scopesField(chosen: readonly string[]): Html {
  const { keys: t } = texts();
  return html`<fieldset class="field"><legend>${t.scopes} <span class="hint">${t.scopesHint}</span></legend>
${KEY_SCOPES.map(
  (scope) =>
    html`<label class="check"><input type="checkbox" name="scopes" value="${scope}" ${chosen.includes(scope) && 'checked'}> ${scope} <span class="hint">${t.scopeHints[scope]}</span></label>
`,
)}</fieldset>`;
}

/** What is shown once; with a request, if the new key may render. */
function newSecrets(
  { key, webhookSecret = '' }: Record<string, string>,
  { scopes }: KeyInfo,
  publicUrl: string,
): Html {
  const { keys: t, common } = texts();
  const secrets = html`<section class="card">
${key !== undefined && copyable(t.apiKey, 'new-key', key)}
${copyable(t.secretLabel, 'new-secret', webhookSecret)}
</section>`;
  if (key === undefined || !scopes.includes('render')) return secrets;
  const body = JSON.stringify({ className: 'Hello', code: CODE });
  const curl = `curl ${publicUrl}/api/v2/render -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
  return html`${secrets}
<section class="card"><header><h2>${t.firstScene}</h2><button type="button" data-copy="curl" hidden>${common.copy}</button></header>
<pre class="wrap" id="curl">${wholeText(curl)}</pre></section>`;
}

function keyPage({ viewer, csrf, told, publicUrl }: Visit, key: KeyInfo, message?: Value): Html {
  const { keys: t, common } = texts();
  const { keyId } = key;
  return page(
    {
      title: key.name,
      section: 'keys',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/keys">${t.all}</a>`,
    },
    message ?? toldNote(told),
    told.secrets && newSecrets(told.secrets, key, publicUrl),
    html`<section class="card"><dl class="details">
<dt>${common.state}</dt><dd>${stateTag(key)}</dd>
<dt>${common.key}</dt><dd><code>${key.keyPrefix}…</code></dd>
<dt>${t.keyId}</dt><dd><code>${keyId}</code></dd>
${key.account !== viewer.email && html`<dt>${common.account}</dt><dd>${key.account}</dd>`}
<dt>${common.created}</dt><dd>${shownTime(key.createdAt)}</dd>
<dt>${t.scopes}</dt><dd>${key.scopes.join(', ')}</dd>
<dt>${common.expires}</dt><dd>${key.expiresAt === null ? common.never : shownTime(key.expiresAt)}</dd>
<dt>${t.lastUsed}</dt><dd>${key.lastUsedAt === null ? common.never : shownTime(key.lastUsedAt)}</dd>
${key.revokedAt !== null && html`<dt>${t.revoked}</dt><dd>${shownTime(key.revokedAt)}</dd>`}
</dl></section>`,
    key.revokedAt === null && [
      html`<div class="row"><section class="card"><h2>${t.defaultWebhook}</h2>
<p class="muted">${t.webhookText}</p>
<form method="post" action="${BASE}/keys/${keyId}/webhook" class="stack">
${csrfField(csrf)}
<label>${t.url} <span class="hint">${t.urlHint}</span><input name="webhookUrl" type="url" value="${key.webhookUrl}" pattern="https://.+"></label>
<div class="actions"><button>${common.save}</button></div>
</form></section>
<section class="card"><h2>${t.secret}</h2>
<p class="muted">${t.secretText}</p>
<div class="actions">${postButton({ to: `/keys/${keyId}/rotate`, csrf, label: t.rotate })}</div>
</section></div>
<section class="card"><h2>${t.revoke}</h2>
<p class="muted">${t.revokeText}</p>
<div class="actions"><a class="button" href="${BASE}/keys/${keyId}/revoke">${t.revokeThis}</a></div></section>`,
    ],
  );
}

function revokePage({ viewer, csrf }: Visit, key: KeyInfo): Html {
  const { keys: t, common } = texts();
  return page(
    { title: t.revokeTitle, section: 'keys', viewer, csrf },
    html`<section class="card">
<p>${filled(t.revokeQuestion, { name: html`<strong>${key.name}</strong>`, prefix: html`<code>${key.keyPrefix}…</code>` })}</p>
<div class="actions">${postButton({ to: `/keys/${key.keyId}/revoke`, csrf, label: t.revokeTitle, look: 'danger' })}<a class="button" href="${BASE}/keys/${key.keyId}">${common.cancel}</a></div>
</section>`,
  );
}
