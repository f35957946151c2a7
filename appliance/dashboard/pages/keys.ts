import { isScenepressError, KEY_SCOPES, type KeyScope } from '../../../lib/internal.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { shownTime } from '../format.ts';
import { type Html, html, type Value, wholeText } from '../html.ts';
import { copyable, csrfField, emptyState, note, page, postButton, toldNote } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker, accountQuery } from './chosen-account.ts';

/** Keys per page. */
const ROWS = 100;

const CODE =
  'from manim import *\nclass Hello(Scene):\n    def construct(self):\n        self.play(Write(Text("Hello")))';

const CHANGED = 'The default webhook was changed. It applies to renders from now on.';
const REVOKED = 'The key was revoked. Requests with it are rejected from now on.';
const ONCE =
  'The key and the secret are shown only once. Copy them now: they are not stored in readable form.';
const ROTATED = 'The new secret signs webhooks from now on. It is shown only once: copy it now.';

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
          return { to: keyPath(keyId), tell: { note: { kind: 'warn', text: ONCE }, secrets } };
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
        return { to: keyPath(keyId), tell: { note: { kind: 'good', text: CHANGED } } };
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
          tell: { note: { kind: 'warn', text: ROTATED }, secrets: { webhookSecret } },
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
        return { to: keyPath(keyId), tell: { note: { kind: 'good', text: REVOKED } } };
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
  const account = accountOf(visit);
  const after = query['after'] || undefined;
  const { keys, next } = await admin.keys.list({ account, limit: ROWS, after });
  // Live ones first, then the newest.
  const sorted = keys.toReversed().sort((a, b) => Number(a.state !== 'live') - Number(b.state !== 'live'));
  const create = html`<a class="button primary" href="${BASE}/keys/new${accountQuery(visit)}">Create key</a>`;
  const list =
    keys.length === 0
      ? emptyState(
          'No keys yet',
          'Programs render with an API key. Create one for each program, so that you can revoke them one by one.',
          create,
        )
      : html`<div class="scroll"><table class="cards">
<thead><tr><th>Name and key</th><th>State</th><th>Scopes</th><th>Default webhook</th><th>Created</th><th>Last used</th></tr></thead>
<tbody>${sorted.map(keyRow)}</tbody></table></div>`;
  return page(
    {
      title: 'Keys',
      section: 'keys',
      viewer,
      csrf,
      lead: 'API keys authenticate programs. Their webhook secrets sign the outcomes that are sent to you.',
      actions: [await accountPicker(visit, '/keys'), keys.length > 0 && create],
    },
    html`<section class="card flush">${list}</section>
<nav class="paging" aria-label="Pages">
<span>${after !== undefined && html`<a href="${BASE}/keys${accountQuery(visit)}">First page</a>`}</span>
<span>${next !== null && html`<a href="${BASE}/keys?${new URLSearchParams({ account, after: next }).toString()}" rel="next">Next page</a>`}</span>
</nav>`,
  );
}

function keyRow(key: KeyInfo): Html {
  return html`<tr>
<th scope="row" class="rowhead"><a href="${BASE}/keys/${key.keyId}">${key.name}</a><div class="faint tight"><code>${key.keyPrefix}…</code></div></th>
<td data-label="State"><div>${STATES[key.state]}${key.state === 'live' && key.expiresAt !== null && html`<div class="faint">until ${shownTime(key.expiresAt)}</div>`}</div></td>
<td data-label="Scopes">${key.scopes.join(', ')}</td>
<td data-label="Default webhook"><span class="clip short" title="${key.webhookUrl}">${key.webhookUrl ?? '–'}</span></td>
<td data-label="Created">${shownTime(key.createdAt)}</td>
<td data-label="Last used">${key.lastUsedAt === null ? html`<span class="faint">never</span>` : shownTime(key.lastUsedAt)}</td>
</tr>`;
}

const STATES: Record<KeyInfo['state'], Html> = {
  live: html`<span class="tag good">Live</span>`,
  expired: html`<span class="tag">Expired</span>`,
  revoked: html`<span class="tag">Revoked</span>`,
};

function newPage(visit: Visit, problem?: string): Html {
  const { viewer, csrf, form } = visit;
  const account = form['account'] || accountOf(visit);
  return page(
    { title: 'Create key', section: 'keys', viewer, csrf },
    problem !== undefined && note('bad', problem),
    html`<section class="card"><form method="post" action="${BASE}/keys" class="stack">
${csrfField(csrf)}
<input type="hidden" name="account" value="${account}">
${account !== viewer.email && html`<p class="muted">For the account ${account}.</p>`}
<label>Name <span class="hint">what uses it, for example “Lecture site”</span><input name="name" value="${form['name']}" required maxlength="100" autofocus></label>
<label>Default webhook URL <span class="hint">optional: where outcomes are sent when a request names no other, https://…</span><input name="webhookUrl" type="url" value="${form['webhookUrl']}" placeholder="https://" pattern="https://.+"></label>
${scopesField(problem === undefined ? KEY_SCOPES : visit.formValues('scopes'))}
<label>Expires <span class="hint">optional: the last day on which it is accepted, until midnight UTC</span><input name="expires" type="date" value="${form['expires']}" min="${new Date().toISOString().slice(0, 10)}"></label>
<div class="actions"><button class="primary">Create key</button><a class="button" href="${BASE}/keys">Cancel</a></div>
</form></section>`,
  );
}

const SCOPE_HINTS: Record<KeyScope, string> = {
  render: 'create renders, and read their outcome',
  check: 'have scenes checked',
  read: 'read the outcome of renders',
};

function scopesField(chosen: readonly string[]): Html {
  return html`<fieldset class="field"><legend>Scopes <span class="hint">what it may be used for</span></legend>
${KEY_SCOPES.map(
  (scope) =>
    html`<label class="check"><input type="checkbox" name="scopes" value="${scope}" ${chosen.includes(scope) && 'checked'}> ${scope} <span class="hint">${SCOPE_HINTS[scope]}</span></label>
`,
)}</fieldset>`;
}

/** What is shown once; with a request, if the new key may render. */
function newSecrets(
  { key, webhookSecret = '' }: Record<string, string>,
  { scopes }: KeyInfo,
  publicUrl: string,
): Html {
  const secrets = html`<section class="card">
${key !== undefined && copyable('API key', 'new-key', key)}
${copyable('Webhook secret, for verifying signatures', 'new-secret', webhookSecret)}
</section>`;
  if (key === undefined || !scopes.includes('render')) return secrets;
  const body = JSON.stringify({ className: 'Hello', code: CODE });
  const curl = `curl ${publicUrl}/api/v2/render -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
  return html`${secrets}
<section class="card"><header><h2>Render a first scene</h2><button type="button" data-copy="curl" hidden>Copy</button></header>
<pre class="wrap" id="curl">${wholeText(curl)}</pre></section>`;
}

function keyPage({ viewer, csrf, told, publicUrl }: Visit, key: KeyInfo, message?: Value): Html {
  const { keyId } = key;
  return page(
    {
      title: key.name,
      section: 'keys',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/keys">All keys</a>`,
    },
    message ?? toldNote(told),
    told.secrets && newSecrets(told.secrets, key, publicUrl),
    html`<section class="card"><dl class="details">
<dt>State</dt><dd>${STATES[key.state]}</dd>
<dt>Key</dt><dd><code>${key.keyPrefix}…</code></dd>
<dt>Key id</dt><dd><code>${keyId}</code></dd>
${key.account !== viewer.email && html`<dt>Account</dt><dd>${key.account}</dd>`}
<dt>Created</dt><dd>${shownTime(key.createdAt)}</dd>
<dt>Scopes</dt><dd>${key.scopes.join(', ')}</dd>
<dt>Expires</dt><dd>${key.expiresAt === null ? 'never' : shownTime(key.expiresAt)}</dd>
<dt>Last used</dt><dd>${key.lastUsedAt === null ? 'never' : shownTime(key.lastUsedAt)}</dd>
${key.revokedAt !== null && html`<dt>Revoked</dt><dd>${shownTime(key.revokedAt)}</dd>`}
</dl></section>`,
    key.revokedAt === null && [
      html`<div class="row"><section class="card"><h2>Default webhook</h2>
<p class="muted">Outcomes are sent to this address when a request names no other.</p>
<form method="post" action="${BASE}/keys/${keyId}/webhook" class="stack">
${csrfField(csrf)}
<label>URL <span class="hint">https://…; empty for none</span><input name="webhookUrl" type="url" value="${key.webhookUrl}" pattern="https://.+"></label>
<div class="actions"><button>Save</button></div>
</form></section>
<section class="card"><h2>Webhook secret</h2>
<p class="muted">Replaces the secret immediately. Webhooks that are sent later, also repeated ones, are signed with the new one.</p>
<div class="actions">${postButton({ to: `/keys/${keyId}/rotate`, csrf, label: 'Rotate secret' })}</div>
</section></div>
<section class="card"><h2>Revoke</h2>
<p class="muted">Programs that use the key are rejected immediately. Accepted renders continue. This cannot be undone.</p>
<div class="actions"><a class="button" href="${BASE}/keys/${keyId}/revoke">Revoke this key …</a></div></section>`,
    ],
  );
}

function revokePage({ viewer, csrf }: Visit, key: KeyInfo): Html {
  return page(
    { title: 'Revoke key', section: 'keys', viewer, csrf },
    html`<section class="card">
<p>Revoke <strong>${key.name}</strong> (<code>${key.keyPrefix}…</code>)? Requests with it are rejected immediately, and it can never be used again.</p>
<div class="actions">${postButton({ to: `/keys/${key.keyId}/revoke`, csrf, label: 'Revoke key', look: 'danger' })}<a class="button" href="${BASE}/keys/${key.keyId}">Cancel</a></div>
</section>`,
  );
}
