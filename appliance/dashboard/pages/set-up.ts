import type { Account } from '../../../lib/index.ts';
import { isScenepressError } from '../../../lib/internal.ts';
import { FIRST_ACCOUNT } from '../../admin/first-account.ts';
import { INVITATION_DAYS, SetupLink, type Verified } from '../../admin/setup-link.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, plainPage } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { Entrance } from '../sign-in/entrance.ts';
import { CODE_PATH } from './sign-in-code.ts';

/** The page of one-time links: claims the account of the first start, or sets the password of another. */
export function setupRoutes(parts: RouteParts): Route[] {
  const { accounts, acts, masterKeys, sessions, attempts, addressOf } = parts;
  const entrance = new Entrance(parts);
  const link = new SetupLink({ accounts, masterKeys, publicUrl: () => '' });
  return [
    {
      method: 'GET',
      path: '/set-up',
      for: 'everyone',
      async handler(visit) {
        const { token = '' } = visit.query;
        const verified = await link.verify(token);
        if (typeof verified === 'string') return worthless(verified, link, visit);
        const { email } = verified.account;
        return setupPage(visit, { token, email: email === FIRST_ACCOUNT ? '' : email, ...verified });
      },
    },
    {
      method: 'POST',
      path: '/set-up',
      for: 'everyone',
      async handler(visit) {
        const { token = '', email = '', password = '' } = visit.form;
        const verified = await link.verify(token);
        if (typeof verified === 'string') return worthless(verified, link, visit);
        const { account, isFirst } = verified;
        const { accountId, passwordHash = null } = account;
        const address = addressOf(visit.request);
        let changed: Account;
        try {
          const claim = isFirst && ({ email: email.trim(), role: 'admin' } as const);
          // One at a time, because hashing takes as long as checking.
          const change = () =>
            accounts.setPassword(accountId, { password, replaces: passwordHash, ...claim });
          changed = (await attempts.attempt({ account: accountId, client: address }, change)) as Account;
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict', 'too_many_failures')) throw error;
          const status = error.code === 'too_many_failures' ? 429 : 400;
          return { page: setupPage(visit, { token, email, isFirst, problem: error.message }), status };
        }
        const action = isFirst ? 'accounts.claim' : 'accounts.acceptInvitation';
        await acts.record({ accountId, address }, action, accountId);
        await sessions.endAll(accountId);
        if (changed.totpSecretSealed !== undefined) {
          // The link replaces the password only.
          entrance.askForCode(visit, changed);
          return { to: CODE_PATH };
        }
        return { to: (await entrance.enter(visit, changed)) ? '' : '/sign-in' };
      },
    },
  ];
}

function setupPage(
  { csrf }: PublicVisit,
  { token, email, isFirst, problem }: { token: string; email: string; isFirst: boolean; problem?: string },
): Html {
  const { signIn, common } = texts();
  const t = signIn.setUp;
  return plainPage(
    { title: t.title, csrf },
    html`<h1>${t.welcome}</h1>
<p class="muted">${isFirst ? t.first : t.invited}</p>
${problem !== undefined && note('bad', problem)}
<form method="post" action="${BASE}/set-up" class="stack">
${csrfField(csrf)}
<input type="hidden" name="token" value="${token}">
<label>${common.address}<input type="email" name="email" value="${email}" required autocomplete="username" ${isFirst ? 'autofocus' : 'readonly'}></label>
<label>${common.password} <span class="hint">${t.passwordHint}</span><input type="password" name="password" required minlength="10" maxlength="200" autocomplete="new-password" ${!isFirst && 'autofocus'}></label>
<button class="primary">${t.submit}</button>
</form>`,
  );
}

/** What happened to a link, and what to do. */
async function worthless(
  why: Extract<Verified, string>,
  link: SetupLink,
  { csrf }: PublicVisit,
): Promise<Answer> {
  const { signIn } = texts();
  const t = signIn.setUp;
  const [status, text] = why === 'expired' ? [410, t.expiredText(INVITATION_DAYS)] : [404, t.invalidText];
  // The operator, who alone can use commands, has not signed in yet.
  const advice = (await link.claimable()) ? filled(t.claimable) : t.ask;
  const page = plainPage(
    { title: t.title, csrf },
    html`<h1>${t[why]}</h1>
<p>${text} ${advice}</p>
<p><a class="button" href="${BASE}/sign-in">${signIn.title}</a></p>`,
  );
  return { page, status };
}
