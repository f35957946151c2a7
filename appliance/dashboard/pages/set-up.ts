import { isScenepressError } from '../../../lib/internal.ts';
import { FIRST_ACCOUNT } from '../../admin/first-account.ts';
import { INVITATION_DAYS, SetupLink, type Verified } from '../../admin/setup-link.ts';
import { type Html, html } from '../html.ts';
import { csrfField, note, plainPage } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** The page of one-time links: claims the account of the first start, or sets the password of another. */
export function setupRoutes({
  accounts,
  acts,
  masterKeys,
  cookies,
  devices,
  sessions,
  attempts,
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
        const verified = await link.verify(token);
        if (typeof verified === 'string') return worthless(verified, link);
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
        if (typeof verified === 'string') return worthless(verified, link);
        const { account, isFirst } = verified;
        const { accountId, passwordHash = null } = account;
        const address = addressOf(visit.request);
        try {
          const claim = isFirst && ({ email: email.trim(), role: 'admin' } as const);
          // One at a time, because hashing takes as long as checking.
          await attempts.attempt({ account: accountId, client: address }, () =>
            accounts.setPassword(accountId, { password, replaces: passwordHash, ...claim }),
          );
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict', 'too_many_failures')) throw error;
          const status = error.code === 'too_many_failures' ? 429 : 400;
          return { page: setupPage(visit, { token, email, isFirst, problem: error.message }), status };
        }
        const action = isFirst ? 'accounts.claim' : 'accounts.acceptInvitation';
        await acts.record({ accountId, address }, action, accountId);
        await sessions.endAll(accountId);
        cookies.setSession(visit.request, visit.h, {
          session: await sessions.begin(accountId),
          device: devices.tokenFor(await accounts.find(accountId)),
        });
        return { to: '' };
      },
    },
  ];
}

function setupPage(
  { csrf }: PublicVisit,
  { token, email, isFirst, problem }: { token: string; email: string; isFirst: boolean; problem?: string },
): Html {
  return plainPage(
    'Set up',
    html`<h1>Welcome</h1>
<p class="muted">${isFirst ? 'Choose how you sign in. The API key that was printed at the start belongs to the same account.' : 'Choose a password. You sign in with this address.'}</p>
${problem !== undefined && note('bad', problem)}
<form method="post" action="${BASE}/set-up" class="stack">
${csrfField(csrf)}
<input type="hidden" name="token" value="${token}">
<label>E-mail address<input type="email" name="email" value="${email}" required autocomplete="username" ${isFirst ? 'autofocus' : 'readonly'}></label>
<label>Password <span class="hint">at least 10 characters</span><input type="password" name="password" required minlength="10" maxlength="200" autocomplete="new-password" ${!isFirst && 'autofocus'}></label>
<button class="primary">Set up and sign in</button>
</form>`,
  );
}

const ASK = 'Ask an administrator for another: they make it on the page of your account.';
/** The operator, who alone can use commands, has not signed in yet. */
const FIRST = html`No account has a password yet: on the machine of the service, <code>scenepress setup-link</code> prints the right one.`;

/** What happened to a link, and what to do. */
const WORTHLESS = {
  expired: {
    status: 410,
    title: 'This link has expired',
    text: `Links for choosing a password are valid for ${INVITATION_DAYS} days.`,
  },
  invalid: {
    status: 404,
    title: "This link isn't valid",
    text: 'It was used already, the password was set in another way, or the link is incomplete.',
  },
} as const;

async function worthless(why: Extract<Verified, string>, link: SetupLink): Promise<Answer> {
  const { status, title, text } = WORTHLESS[why];
  const page = plainPage(
    'Set up',
    html`<h1>${title}</h1>
<p>${text} ${(await link.claimable()) ? FIRST : ASK}</p>
<p><a class="button" href="${BASE}/sign-in">Sign in</a></p>`,
  );
  return { page, status };
}
