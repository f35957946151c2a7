import { randomUUID } from 'node:crypto';
import { forbidden } from '@hapi/boom';
import { type AccountRole, isScenepressError, ScenepressError } from '../../../lib/internal.ts';
import { MOST_GRANTED } from '../../admin/administration-requests.ts';
import type { AccountInfo } from '../../admin/administration-views.ts';
import { INVITATION_DAYS } from '../../admin/setup-link.ts';
import type { DataPlace } from '../../place/data-place.ts';
import { shownNumber, shownTime, shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { copyable, csrfField, emptyState, note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Told, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** Accounts per page. */
const ROWS = 50;

/** Accounts, for administrators. */
export function accountsRoutes({ place, oidcIssuer }: Pick<RouteParts, 'place' | 'oidcIssuer'>): Route[] {
  const accountPage = (visit: Visit, problem?: Value) => accountPageOf(visit, oidcIssuer, problem);
  const changeRoute = changeRoutes(accountPage);
  const ofAnother = changesOfOthers(place);
  const deleteAccount = ofAnother(async ({ admin }, account) => {
    await admin.accounts.delete({ account });
    return texts().accounts.wasDeleted;
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
          return { to: `/accounts/${userId}`, tell: good(texts().accounts.wasCreated) };
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
      const { accounts: t, counts } = texts();
      return (isBack ? t.wereTakenBack : t.wereAdded)(paid, counts.credits(paid));
    }),
    changeRoute(
      'role',
      ofAnother(async ({ admin, form }, account) => {
        await admin.accounts.setRole({ account, role: form['role'] as AccountRole });
        return texts().accounts.roleChanged;
      }),
    ),
    changeRoute(
      'disable',
      ofAnother(async ({ admin, form }, account) => {
        await admin.accounts.disable({ account, cancelJobs: form['cancelJobs'] === 'on' });
        return texts().accounts.isDisabled;
      }),
    ),
    changeRoute('limits', async ({ admin, form }, account) => {
      const limitOf = (text = '') => (text.trim() === '' ? null : Number(text));
      await admin.accounts.setLimits({
        account,
        maxQueued: limitOf(form['maxQueued']),
        maxFilesMb: limitOf(form['maxFilesMb']),
        maxScenes: limitOf(form['maxScenes']),
      });
      return texts().accounts.limitsChanged;
    }),
    changeRoute('identity', async ({ admin, form }, account) => {
      const subject = (form['subject'] ?? '').trim();
      const identity = subject === '' ? null : { issuer: (form['issuer'] ?? '').trim(), subject };
      await admin.accounts.setIdentity({ account, identity });
      const { accounts: t } = texts();
      return identity ? t.tokensAct : t.noTokensAct;
    }),
    changeRoute(
      'reset-two-factor',
      ofAnother(async ({ admin }, account) => {
        await admin.twoFactor.reset({ account });
        return texts().accounts.twoFactorReset;
      }),
    ),
    changeRoute('enable', async ({ admin }, account) => {
      await admin.accounts.enable({ account });
      return texts().accounts.isEnabled;
    }),
    {
      method: 'POST',
      path: '/accounts/{userId}/invitation',
      for: 'admins',
      async handler(visit) {
        const { admin, viewer, params } = visit;
        const { userId } = await admin.accounts.show({ account: params['userId'] ?? '' });
        // A stolen session must not serve to replace the password.
        if (userId === viewer.accountId)
          throw new ScenepressError('conflict', texts().accounts.changeYourOwn);
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
        throw new ScenepressError('conflict', texts().accounts.anotherHasTo);
      }
      const { role, disabledAt } = await admin.accounts.show({ account: viewer.accountId });
      if (role !== 'admin' || disabledAt !== null) throw forbidden(texts().common.onlyAdministrators);
      done = await change(visit, userId);
      return true;
    };
    const changing = last.then(async () => {
      await place.storage.alone('changes of accounts', work);
      if (done !== undefined) return done;
      throw new ScenepressError('conflict', texts().accounts.anotherIsChanging);
    });
    last = changing.catch(() => {});
    return changing;
  };
}

async function listPage(visit: Visit, problem?: string): Promise<Html> {
  const { accounts: t, common, counts } = texts();
  const { admin, viewer, csrf, query, form } = visit;
  const wanted = (query['q'] ?? '').trim();
  const after = query['after'] || undefined;
  const { accounts, next } = await admin.accounts.list({ text: wanted, limit: ROWS, after });
  const isWhole = after === undefined && next === null;
  const search =
    (wanted !== '' || !isWhole || accounts.length > ROWS / 2) &&
    html`<form method="get" action="${BASE}/accounts" class="actions"><label class="visually-hidden" for="q">${t.addressContains}</label><input id="q" name="q" type="search" value="${wanted}" placeholder="${common.search}" size="20"><button>${common.search}</button></form>`;
  const rest = (more: Record<string, string>) =>
    new URLSearchParams({ ...(wanted && { q: wanted }), ...more }).toString();
  return page(
    {
      title: t.title,
      section: 'accounts',
      viewer,
      csrf,
      lead: t.lead,
    },
    problem !== undefined && note('bad', problem),
    toldNote(visit.told),
    html`<section class="card"><form method="post" action="${BASE}/accounts" class="fields">
${csrfField(csrf)}
<label>${t.addressOfNew}<input type="email" name="email" value="${form['email']}" required></label>
<button class="primary">${t.create}</button></form></section>
<section class="card flush"><header><h2>${isWhole ? counts.accounts(accounts.length) : t.title}</h2>${search}</header>${
      accounts.length === 0
        ? emptyState(t.none, wanted === '' ? t.noneText : t.noneFound)
        : accountTable(accounts)
    }</section>
<nav class="paging" aria-label="${common.pages}">
<span>${after !== undefined && html`<a href="${BASE}/accounts?${rest({})}">${common.firstPage}</a>`}</span>
<span>${next !== null && html`<a href="${BASE}/accounts?${rest({ after: next })}" rel="next">${common.nextPage}</a>`}</span>
</nav>`,
  );
}

function accountTable(accounts: AccountInfo[]): Html {
  const { accounts: t, common } = texts();
  const rows = accounts.map(
    (account) => html`<tr>
<th scope="row" class="rowhead"><a href="${BASE}/accounts/${account.userId}">${account.email}</a></th>
<td data-label="${common.state}">${stateOf(account)}</td>
<td data-label="${common.role}">${account.role === 'admin' ? common.administrator : common.member}</td>
<td data-label="${t.signsIn}" class="wide">${account.hasPassword ? t.yes : t.notYet}</td>
<td data-label="${common.created}" class="wide">${shownTime(account.createdAt)}</td>
</tr>`,
  );
  return html`<div class="scroll"><table class="cards"><thead><tr><th>${common.address}</th><th>${common.state}</th><th>${common.role}</th><th>${t.signsIn}</th><th>${common.created}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function stateOf({ disabledAt }: AccountInfo): Html {
  return disabledAt === null
    ? html`<span class="tag good">${texts().accounts.enabled}</span>`
    : html`<span class="tag bad">${texts().accounts.disabled}</span>`;
}

async function accountPageOf(visit: Visit, oidcIssuer: string | undefined, problem?: Value): Promise<Html> {
  const { accounts: t, twoFactor, common } = texts();
  const { admin, viewer, csrf, params } = visit;
  const account = await admin.accounts.show({ account: params['userId'] ?? '' });
  const { userId, email, role, hasPassword, disabledAt, maxQueued, maxFilesMb, maxScenes, identity } =
    account;
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
      actions: html`<a class="button" href="${BASE}/accounts">${t.all}</a>`,
    },
    problem ?? toldNote(visit.told),
    visit.told.secrets && invitationCard(visit.told.secrets),
    html`<section class="card"><dl class="details">
<dt>${common.state}</dt><dd>${stateOf(account)}</dd>
<dt>${common.role}</dt><dd>${role === 'admin' ? common.administrator : common.member}</dd>
<dt>${common.userId}</dt><dd><code>${userId}</code></dd>
<dt>${common.created}</dt><dd>${shownTime(account.createdAt)}</dd>
<dt>${twoFactor.title}</dt><dd>${account.hasTwoFactor ? twoFactor.on : twoFactor.off}</dd>
<dt>${common.credits}</dt><dd>${prices ? t.available(shownNumber(balance.total)) : common.rendersAreFree}</dd>
<dt>${common.stored}</dt><dd>${shownUse(stored)} <span class="muted">${t.storedHint}</span></dd>
</dl>
<div class="actions"><a href="${BASE}/jobs?${named}">${t.jobs}</a><a href="${BASE}/keys?${named}">${t.keys}</a><a href="${BASE}/webhooks?${named}">${t.webhooks}</a><a href="${BASE}/credits?${named}">${common.credits}</a></div></section>`,
    disabledAt === null &&
      !isOwn &&
      html`<section class="card"><h2>${hasPassword ? t.passwordLink : t.invitation}</h2>
<p class="muted">${(hasPassword ? t.passwordLinkText : t.invitationText)(INVITATION_DAYS)}</p>
<div class="actions">${postButton({ to: to('invitation'), csrf, label: t.makeLink, look: hasPassword ? '' : 'primary' })}</div></section>`,
    html`<div class="row"><section class="card"><h2>${t.limits}</h2>
<form method="post" action="${BASE}${to('limits')}" class="fields">${csrfField(csrf)}
<label>${t.mostQueued}<input type="number" name="maxQueued" min="1" step="1" value="${maxQueued}" placeholder="${t.asForAll}"></label>
<label>${t.mostFiles}<input type="number" name="maxFilesMb" min="1" step="1" value="${maxFilesMb}" placeholder="${t.asForAll}"></label>
<label>${t.mostScenes}<input type="number" name="maxScenes" min="1" step="1" value="${maxScenes}" placeholder="${t.asForAll}"></label><button>${common.save}</button></form></section>${
      prices &&
      html`<section class="card"><h2>${common.credits}</h2>
<p class="muted">${t.creditsText}</p>
<form method="post" action="${BASE}${to('grant')}" class="fields">${csrfField(csrf)}
<input type="hidden" name="once" value="${randomUUID()}">
<label>${t.paidCredits}<input type="number" name="paid" min="1" max="${MOST_GRANTED}" step="1" required></label><button>${t.add}</button><button name="action" value="take-back">${t.takeBack}</button></form></section>`
    }${
      isOwn
        ? html`<section class="card"><h2>${t.yourOwn}</h2><p class="muted">${t.yourOwnText}</p></section>`
        : html`<section class="card"><h2>${common.role}</h2>
<form method="post" action="${BASE}${to('role')}" class="fields">${csrfField(csrf)}
<label>${common.role}<select name="role"><option value="member" ${role === 'member' && 'selected'}>${common.member}</option><option value="admin" ${role === 'admin' && 'selected'}>${common.administrator}</option></select></label><button>${common.save}</button></form></section>`
    }</div>`,
    (identity !== null || oidcIssuer !== undefined) &&
      identityCard(identity, { issuer: oidcIssuer, to: to('identity'), csrf }),
    account.hasTwoFactor &&
      !isOwn &&
      html`<section class="card"><h2>${t.resetTwoFactor}</h2>
<p class="muted">${t.resetTwoFactorText}</p>
<div class="actions">${postButton({ to: to('reset-two-factor'), csrf, label: t.resetTwoFactor })}</div></section>`,
    !isOwn &&
      html`<section class="card"><h2>${disabledAt === null ? t.disableOrDelete : t.enableOrDelete}</h2>
<p class="muted">${disabledAt === null ? t.disableText : t.enableText}</p>
<div class="actions">${
        disabledAt === null
          ? html`<form method="post" action="${BASE}${to('disable')}" class="actions">${csrfField(csrf)}<button>${t.disable}</button><label class="check"><input type="checkbox" name="cancelJobs"> ${t.cancelJobsToo}</label></form>`
          : postButton({ to: to('enable'), csrf, label: t.enable })
      }<a class="button" href="${BASE}${to('delete')}">${t.delete}</a></div></section>`,
  );
}

/** Links an account to a person, whose access tokens act for it; an empty subject removes the link. */
function identityCard(
  identity: AccountInfo['identity'],
  { issuer = '', to, csrf }: { issuer: string | undefined; to: string; csrf: string },
): Html {
  const { accounts: t, common } = texts();
  return html`<section class="card"><h2>${t.tokens}</h2>
<p class="muted">${t.tokensText}</p>
<form method="post" action="${BASE}${to}" class="fields">${csrfField(csrf)}
<label>${t.issuer}<input name="issuer" value="${identity?.issuer ?? issuer}" size="40"></label><label>${t.subject}<input name="subject" value="${identity?.subject}" maxlength="255" size="40"></label><button>${common.save}</button></form></section>`;
}

function invitationCard({ url = '', expiresAt = '' }: Record<string, string>): Html {
  const { accounts: t } = texts();
  return html`<section class="card"><h2>${t.linkTitle}</h2>
${copyable(t.linkLabel, 'invitation', url)}
<p class="muted">${filled(t.linkText, { time: shownTime(expiresAt) })}</p></section>`;
}

async function deletePage({ admin, viewer, csrf, params }: Visit): Promise<Html> {
  const { accounts: t, common } = texts();
  const { userId, email } = await admin.accounts.show({ account: params['userId'] ?? '' });
  return page(
    { title: t.deleteTitle, section: 'accounts', viewer, csrf },
    html`<section class="card">
<p>${filled(t.deleteQuestion, { email: html`<strong>${email}</strong>` })}</p>
<div class="actions">${postButton({ to: `/accounts/${userId}/delete`, csrf, label: t.deleteTitle, look: 'danger' })}<a class="button" href="${BASE}/accounts/${userId}">${common.cancel}</a></div>
</section>`,
  );
}
