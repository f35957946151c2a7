import { isScenepressError } from '../../../lib/index.ts';
import { FIRST_ACCOUNT } from '../../first-account.ts';
import { SetupLink } from '../../setup-link.ts';
import { type Html, html } from '../html.ts';
import { csrfField, note, plainPage } from '../layout.ts';
import { BASE, type PublicVisit, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** The page of the one-time link, which claims the account of the first start. */
export function setupRoutes({
  accounts,
  acts,
  masterKeys,
  cookies,
  sessions,
  addressOf,
}: RouteParts): Route[] {
  const link = new SetupLink({ accounts, masterKeys, publicUrl: () => '' });
  return [
    {
      method: 'GET',
      path: '/set-up',
      for: 'everyone',
      async handler(visit) {
        const { token = '' } = visit.query;
        const account = await link.accountOf(token);
        if (!account) return { page: usedPage(), status: 404 };
        return setupPage(visit, { token, email: account.email === FIRST_ACCOUNT ? '' : account.email });
      },
    },
    {
      method: 'POST',
      path: '/set-up',
      for: 'everyone',
      async handler(visit) {
        const { token = '', email = '', password = '' } = visit.form;
        const account = await link.accountOf(token);
        if (!account) return { page: usedPage(), status: 404 };
        const { accountId } = account;
        try {
          const claim = { password, email: email.trim(), role: 'admin', first: true } as const;
          await accounts.setPassword(accountId, claim);
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
          return { page: setupPage(visit, { token, email, problem: error.message }), status: 400 };
        }
        await acts.record({ accountId, address: addressOf(visit.request) }, 'accounts.claim', accountId);
        cookies.setSession(visit.request, visit.h, await sessions.begin(accountId));
        return { to: '' };
      },
    },
  ];
}

function setupPage(
  { csrf }: PublicVisit,
  { token, email, problem }: { token: string; email: string; problem?: string },
): Html {
  return plainPage(
    'Set up',
    html`<h1>Welcome</h1>
<p class="muted">Choose how you sign in. The API key that was printed at the start belongs to the same account.</p>
${problem !== undefined && note('bad', problem)}
<form method="post" action="${BASE}/set-up" class="stack">
${csrfField(csrf)}
<input type="hidden" name="token" value="${token}">
<label>E-mail address<input type="email" name="email" value="${email}" required autocomplete="username" autofocus></label>
<label>Password <span class="hint">at least 10 characters</span><input type="password" name="password" required minlength="10" maxlength="200" autocomplete="new-password"></label>
<button class="primary">Set up and sign in</button>
</form>`,
  );
}

function usedPage(): Html {
  return plainPage(
    'Set up',
    html`<h1>This link isn’t valid</h1>
<p>It was used already, or it is incomplete. If nobody has signed in yet, <code>scenepress setup-link</code> prints the right one.</p>
<p><a class="button" href="${BASE}/sign-in">Sign in</a></p>`,
  );
}
