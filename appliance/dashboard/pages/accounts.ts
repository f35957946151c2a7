import { randomUUID } from 'node:crypto';
import { forbidden } from '@hapi/boom';
import { type AccountRole, isScenepressError, ScenepressError } from '../../../lib/internal.ts';
import { MOST_GRANTED } from '../../admin/administration-requests.ts';
import type { AccountInfo } from '../../admin/administration-views.ts';
import { INVITATION_DAYS } from '../../admin/setup-link.ts';
import type { DataPlace } from '../../place/data-place.ts';
import { counted, shownNumber, shownTime, shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { copyable, csrfField, emptyState, note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Told, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** Accounts per page. */
const ROWS = 50;

const CREATED = 'The account was created. Its owner needs a link for setting a password: create one below.';
const CHANGE_YOUR_OWN = 'You change your own password on the page of your account.';

/** Accounts, for administrators. */
export function accountsRoutes({ place, oidcIssuer }: Pick<RouteParts, 'place' | 'oidcIssuer'>): Route[] {
  const accountPage = (visit: Visit, problem?: Value) => accountPageOf(visit, oidcIssuer, problem);
  const changeRoute = changeRoutes(accountPage);
  const ofAnother = changesOfOthers(place);
  const deleteAccount = ofAnother(async ({ admin }, account) => {
    await admin.accounts.delete({ account });
    return 'The account was deleted. Its payments stay in the books.';
  });
  return [
    { method: 'GET', path: '/accounts', for: 'admins', handler: async (visit) => listPage(visit) },
    {
      method: 'POST',
      path: '/accounts',
      for: 'admins',
      async handler(visit) {
        try {
          const { userId } = await visit.admin.accounts.create({ email: (visit.form['email'] ?? '').trim() });
          return { to: `/accounts/${userId}`, tell: good(CREATED) };
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
          return { page: await listPage(visit, error.message), status: 400 };
        }
      },
    },
    {
      method: 'GET',
      path: '/accounts/{userId}',
      for: 'admins',
      handler: async (visit) => accountPage(visit),
    },
    changeRoute('grant', async ({ admin, form }, account) => {
      const paid = Number(form['paid']);
      const isBack = form['action'] === 'take-back';
      // The same form with another amount is another grant.
      const idempotencyKey = form['once'] && [form['once'], isBack ? 'back' : 'add', paid].join(' ');
      const change = isBack ? admin.credits.takeBack : admin.credits.grant;
      await change({ account, paid, idempotencyKey });
      return `${counted(paid, 'credit')} ${paid === 1 ? 'was' : 'were'} ${isBack ? 'taken back' : 'added'}.`;
    }),
    changeRoute(
      'role',
      ofAnother(async ({ admin, form }, account) => {
        await admin.accounts.setRole({ account, role: form['role'] as AccountRole });
        return 'The role was changed.';
      }),
    ),
    changeRoute(
      'disable',
      ofAnother(async ({ admin, form }, account) => {
        await admin.accounts.disable({ account, cancelJobs: form['cancelJobs'] === 'on' });
        return 'The account is disabled: its keys are rejected, and it is signed out.';
      }),
    ),
    changeRoute('limits', async ({ admin, form }, account) => {
      const limitOf = (text = '') => (text.trim() === '' ? null : Number(text));
      await admin.accounts.setLimits({
        account,
        maxQueued: limitOf(form['maxQueued']),
        maxFilesMb: limitOf(form['maxFilesMb']),
      });
      return 'The limits were changed. They apply to requests from now on.';
    }),
    changeRoute('identity', async ({ admin, form }, account) => {
      const subject = (form['subject'] ?? '').trim();
      const identity = subject === '' ? null : { issuer: (form['issuer'] ?? '').trim(), subject };
      await admin.accounts.setIdentity({ account, identity });
      return identity
        ? 'Access tokens of this person act for the account.'
        : 'No access tokens act for the account.';
    }),
    changeRoute('enable', async ({ admin }, account) => {
      await admin.accounts.enable({ account });
      return 'The account is enabled.';
    }),
    {
      method: 'POST',
      path: '/accounts/{userId}/invitation',
      for: 'admins',
      async handler(visit) {
        const { admin, viewer, params } = visit;
        const { userId } = await admin.accounts.show({ account: params['userId'] ?? '' });
        // A stolen session must not serve to replace the password.
        if (userId === viewer.accountId) throw new ScenepressError('conflict', CHANGE_YOUR_OWN);
        const { url, expiresAt } = await admin.accounts.invite({ account: userId });
        return { to: `/accounts/${userId}`, tell: { secrets: { url, expiresAt } } };
      },
    },
    { method: 'GET', path: '/accounts/{userId}/delete', for: 'admins', handler: deletePage },
    {
      method: 'POST',
      path: '/accounts/{userId}/delete',
      for: 'admins',
      async handler(visit) {
        return { to: '/accounts', tell: good(await deleteAccount(visit, visit.params['userId'] ?? '')) };
      },
    },
  ];
}

type AccountPage = (visit: Visit, problem?: Value) => Promise<Html>;

/** Makes forms of an account's page, which show their errors there. */
function changeRoutes(accountPage: AccountPage): (name: string, change: Change) => Route {
  return (name, change) => ({
    method: 'POST',
    path: `/accounts/{userId}/${name}`,
    for: 'admins',
    async handler(visit): Promise<Answer> {
      const account = visit.params['userId'] ?? '';
      try {
        return { to: `/accounts/${encodeURIComponent(account)}`, tell: good(await change(visit, account)) };
      } catch (error) {
        if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
        return { page: await accountPage(visit, note('bad', error.message)), status: 400 };
      }
    },
  });
}

const good = (text: string): Told => ({ note: { kind: 'good', text } });

/** Resolves with what it has done. */
type Change = (visit: Visit, account: string) => Promise<string>;

/**
 * Changes of others only, so that people do not lock themselves out by mistake. One at a time, also on other servers, by
 * who is still an administrator, so that two of them can't take away each other's role.
 */
function changesOfOthers(place: Pick<DataPlace, 'storage'>): (change: Change) => Change {
  let last: Promise<unknown> = Promise.resolve();
  return (change) => (visit, reference) => {
    const { admin, viewer } = visit;
    let done: string | undefined;
    const work = async () => {
      // The path may name the address instead of the id.
      const { userId } = await admin.accounts.show({ account: reference });
      if (userId === viewer.accountId) {
        throw new ScenepressError('conflict', 'Another administrator has to do this with your account.');
      }
      const { role, disabledAt } = await admin.accounts.show({ account: viewer.accountId });
      if (role !== 'admin' || disabledAt !== null) throw forbidden('Only administrators may do this.');
      done = await change(visit, userId);
      return true;
    };
    const changing = last.then(async () => {
      await place.storage.alone('changes of accounts', work);
      if (done !== undefined) return done;
      throw new ScenepressError(
        'conflict',
        'Another administrator is changing an account. Try again in a moment.',
      );
    });
    last = changing.catch(() => {});
    return changing;
  };
}

async function listPage(visit: Visit, problem?: string): Promise<Html> {
  const { admin, viewer, csrf, query, form } = visit;
  const wanted = (query['q'] ?? '').trim();
  const after = query['after'] || undefined;
  const { accounts, next } = await admin.accounts.list({ text: wanted, limit: ROWS, after });
  const isWhole = after === undefined && next === null;
  const search =
    (wanted !== '' || !isWhole || accounts.length > ROWS / 2) &&
    html`<form method="get" action="${BASE}/accounts" class="actions"><label class="visually-hidden" for="q">E-mail address contains</label><input id="q" name="q" type="search" value="${wanted}" placeholder="Search" size="20"><button>Search</button></form>`;
  const rest = (more: Record<string, string>) =>
    new URLSearchParams({ ...(wanted && { q: wanted }), ...more }).toString();
  return page(
    {
      title: 'Accounts',
      section: 'accounts',
      viewer,
      csrf,
      lead: 'The owners of keys, jobs and credits. One person is one account.',
    },
    problem !== undefined && note('bad', problem),
    toldNote(visit.told),
    html`<section class="card"><form method="post" action="${BASE}/accounts" class="fields">
${csrfField(csrf)}
<label>E-mail address of a new account<input type="email" name="email" value="${form['email']}" required></label>
<button class="primary">Create account</button></form></section>
<section class="card flush"><header><h2>${isWhole ? counted(accounts.length, 'account') : 'Accounts'}</h2>${search}</header>${
      accounts.length === 0
        ? emptyState(
            'No accounts',
            wanted === '' ? 'Create one above.' : 'No e-mail address contains this text.',
          )
        : accountTable(accounts)
    }</section>
<nav class="paging" aria-label="Pages">
<span>${after !== undefined && html`<a href="${BASE}/accounts?${rest({})}">First page</a>`}</span>
<span>${next !== null && html`<a href="${BASE}/accounts?${rest({ after: next })}" rel="next">Next page</a>`}</span>
</nav>`,
  );
}

function accountTable(accounts: AccountInfo[]): Html {
  const rows = accounts.map(
    (account) => html`<tr>
<th scope="row" class="rowhead"><a href="${BASE}/accounts/${account.userId}">${account.email}</a></th>
<td data-label="State">${stateOf(account)}</td>
<td data-label="Role">${account.role === 'admin' ? 'Administrator' : 'Member'}</td>
<td data-label="Signs in" class="wide">${account.hasPassword ? 'yes' : 'not yet'}</td>
<td data-label="Created" class="wide">${shownTime(account.createdAt)}</td>
</tr>`,
  );
  return html`<div class="scroll"><table class="cards"><thead><tr><th>E-mail address</th><th>State</th><th>Role</th><th>Signs in</th><th>Created</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function stateOf({ disabledAt }: AccountInfo): Html {
  return disabledAt === null
    ? html`<span class="tag good">Enabled</span>`
    : html`<span class="tag bad">Disabled</span>`;
}

async function accountPageOf(visit: Visit, oidcIssuer: string | undefined, problem?: Value): Promise<Html> {
  const { admin, viewer, csrf, params } = visit;
  const account = await admin.accounts.show({ account: params['userId'] ?? '' });
  const { userId, email, role, hasPassword, disabledAt, maxQueued, maxFilesMb, identity } = account;
  const [balance, prices, stored] = await Promise.all([
    admin.credits.balance({ account: userId }),
    admin.credits.showPrices(),
    admin.accounts.storedBytes({ account: userId }),
  ]);
  const to = (name: string) => `/accounts/${userId}/${name}`;
  const named = new URLSearchParams({ account: email }).toString();
  const isOwn = viewer.accountId === userId;
  return page(
    {
      title: email,
      section: 'accounts',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/accounts">All accounts</a>`,
    },
    problem ?? toldNote(visit.told),
    visit.told.secrets && invitationCard(visit.told.secrets),
    html`<section class="card"><dl class="details">
<dt>State</dt><dd>${stateOf(account)}</dd>
<dt>Role</dt><dd>${role === 'admin' ? 'Administrator' : 'Member'}</dd>
<dt>User id</dt><dd><code>${userId}</code></dd>
<dt>Created</dt><dd>${shownTime(account.createdAt)}</dd>
<dt>Credits</dt><dd>${prices ? `${shownNumber(balance.total)} available` : 'renders cost nothing here'}</dd>
<dt>Stored</dt><dd>${shownUse(stored)} <span class="muted">videos, sources and metadata</span></dd>
</dl>
<div class="actions"><a href="${BASE}/jobs?${named}">Jobs</a><a href="${BASE}/keys?${named}">Keys</a><a href="${BASE}/webhooks?${named}">Webhooks</a><a href="${BASE}/credits?${named}">Credits</a></div></section>`,
    disabledAt === null &&
      !isOwn &&
      html`<section class="card"><h2>${hasPassword ? 'Password link' : 'Invitation'}</h2>
<p class="muted">${hasPassword ? 'For a forgotten password: the person who opens the link chooses a new one.' : 'The person who opens the link chooses the password of the account.'} It is valid for ${INVITATION_DAYS} days, or until the password changes. The record notes who made one.</p>
<div class="actions">${postButton({ to: to('invitation'), csrf, label: 'Make a link', look: hasPassword ? '' : 'primary' })}</div></section>`,
    html`<div class="row"><section class="card"><h2>Limits</h2>
<form method="post" action="${BASE}${to('limits')}" class="fields">${csrfField(csrf)}
<label>Jobs that may wait<input type="number" name="maxQueued" min="1" step="1" value="${maxQueued}" placeholder="as for all accounts"></label>
<label>MiB of files<input type="number" name="maxFilesMb" min="1" step="1" value="${maxFilesMb}" placeholder="as for all accounts"></label><button>Save</button></form></section>${
      prices &&
      html`<section class="card"><h2>Credits</h2>
<p class="muted">What was added by mistake can be taken back, as long as it is neither spent nor reserved.</p>
<form method="post" action="${BASE}${to('grant')}" class="fields">${csrfField(csrf)}
<input type="hidden" name="once" value="${randomUUID()}">
<label>Paid credits<input type="number" name="paid" min="1" max="${MOST_GRANTED}" step="1" required></label><button>Add</button><button name="action" value="take-back">Take back</button></form></section>`
    }${
      isOwn
        ? html`<section class="card"><h2>Your own account</h2><p class="muted">Another administrator has to change its role, disable it or delete it.</p></section>`
        : html`<section class="card"><h2>Role</h2>
<form method="post" action="${BASE}${to('role')}" class="fields">${csrfField(csrf)}
<label>Role<select name="role"><option value="member" ${role === 'member' && 'selected'}>Member</option><option value="admin" ${role === 'admin' && 'selected'}>Administrator</option></select></label><button>Save</button></form></section>`
    }</div>`,
    (identity !== null || oidcIssuer !== undefined) &&
      identityCard(identity, { issuer: oidcIssuer, to: to('identity'), csrf }),
    !isOwn &&
      html`<section class="card"><h2>${disabledAt === null ? 'Disable or delete' : 'Enable or delete'}</h2>
<p class="muted">${disabledAt === null ? "The keys of a disabled account are rejected, and it can't sign in. It can be enabled again." : 'The account was disabled; its keys are rejected.'}</p>
<div class="actions">${
        disabledAt === null
          ? html`<form method="post" action="${BASE}${to('disable')}" class="actions">${csrfField(csrf)}<button>Disable</button><label class="check"><input type="checkbox" name="cancelJobs"> cancel its jobs too</label></form>`
          : postButton({ to: to('enable'), csrf, label: 'Enable' })
      }<a class="button" href="${BASE}${to('delete')}">Delete …</a></div></section>`,
  );
}

/** Links an account to a person, whose access tokens act for it; an empty subject removes the link. */
function identityCard(
  identity: AccountInfo['identity'],
  { issuer = '', to, csrf }: { issuer: string | undefined; to: string; csrf: string },
): Html {
  return html`<section class="card"><h2>Access tokens</h2>
<p class="muted">MCP clients in which the person with this subject at the issuer has signed in act for the account. Leave it empty to remove the link.</p>
<form method="post" action="${BASE}${to}" class="fields">${csrfField(csrf)}
<label>Issuer<input name="issuer" value="${identity?.issuer ?? issuer}" size="40"></label><label>Subject<input name="subject" value="${identity?.subject}" maxlength="255" size="40"></label><button>Save</button></form></section>`;
}

function invitationCard({ url = '', expiresAt = '' }: Record<string, string>): Html {
  return html`<section class="card"><h2>Link for choosing a password</h2>
${copyable("Send it only to the account's owner", 'invitation', url)}
<p class="muted">Valid until ${shownTime(expiresAt)}, or until the password changes.</p></section>`;
}

async function deletePage({ admin, viewer, csrf, params }: Visit): Promise<Html> {
  const { userId, email } = await admin.accounts.show({ account: params['userId'] ?? '' });
  return page(
    { title: 'Delete account', section: 'accounts', viewer, csrf },
    html`<section class="card">
<p>Delete <strong>${email}</strong>? Its keys are revoked, its jobs are canceled and forgotten with code, metadata and artifacts, and its address is removed. Its payments stay in the books. This cannot be undone.</p>
<div class="actions">${postButton({ to: `/accounts/${userId}/delete`, csrf, label: 'Delete account', look: 'danger' })}<a class="button" href="${BASE}/accounts/${userId}">Cancel</a></div>
</section>`,
  );
}
