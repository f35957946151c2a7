import type { Request } from '@hapi/hapi';
import type { Account } from '../../../lib/index.ts';
import { isScenepressError } from '../../../lib/internal.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, plainPage } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, pathWithin, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { Entrance } from '../sign-in/entrance.ts';
import { CODE_PATH } from './sign-in-code.ts';

/** Why a user has to sign in again. */
const ENDED = new Map([
  ['session', 'sessionEnded'],
  ['form', 'formNotSent'],
  ['code', 'codeExpired'],
] as const);
/** No address is longer; a made-up one must not fill the memory. */
export const LONGEST_ADDRESS = 254;

/** Signing in and out. */
export function signInRoutes(parts: RouteParts): Route[] {
  const { accounts, acts, attempts, cookies, devices, sessions, addressOf } = parts;
  const entrance = new Entrance(parts);
  return [
    {
      method: 'GET',
      path: '/sign-in',
      for: 'everyone',
      async handler(visit) {
        const { next = '', ended = '' } = visit.query;
        const why = ENDED.get(ended as 'session' | 'form' | 'code');
        const problem = why && note('warn', texts().signIn[why]);
        return signInPage(visit, { next, email: '', problem });
      },
    },
    {
      method: 'POST',
      path: '/sign-in',
      for: 'everyone',
      handler: async (visit) => signIn(visit),
    },
    {
      method: 'POST',
      path: '/sign-out',
      for: 'members',
      async handler({ viewer, h }) {
        await sessions.end(viewer.token);
        cookies.endSession(h);
        return { to: '/sign-in' };
      },
    },
  ];

  async function signIn(visit: PublicVisit): Promise<Answer> {
    const { form, request } = visit;
    const { email = '', password = '', next = '' } = form;
    const address = addressOf(request);
    const name = email.trim().slice(0, LONGEST_ADDRESS).toLowerCase();
    const device = await deviceOf(request, name);
    const refuse = (status: number, text: Value) => ({
      page: signInPage(visit, { next, email, problem: note('bad', text) }),
      status,
    });
    let account: Account | undefined;
    try {
      account = await attempts.attempt({ account: name, client: address, device }, () =>
        accounts.verifyPassword(email.trim(), password),
      );
    } catch (error) {
      if (!isScenepressError(error, 'too_many_failures')) throw error;
      return refuse(429, error.message);
    }
    if (!account) {
      const known = await accounts.find(name).catch(() => undefined);
      // Not awaited, because the time would show that the account exists.
      if (known) void acts.record({ accountId: known.accountId, address }, 'sign-in.failed', null);
      return refuse(401, texts().signIn.wrong);
    }
    if (account.totpSecretSealed !== undefined) {
      entrance.askForCode(visit, account);
      const within = pathWithin(next);
      return {
        to: within === '' ? CODE_PATH : `${CODE_PATH}?${new URLSearchParams({ next: BASE + within })}`,
      };
    }
    if (!(await entrance.enter(visit, account))) return refuse(401, texts().signIn.wrong);
    await acts.record({ accountId: account.accountId, address }, 'sign-in', null);
    return { to: pathWithin(next) };
  }

  /** Of a browser in which somebody has signed in to the account before. */
  async function deviceOf(request: Request, name: string): Promise<string | undefined> {
    const token = cookies.deviceTokenIn(request);
    if (token === undefined) return undefined;
    return devices.find(token, await accounts.find(name).catch(() => undefined));
  }
}

function signInPage(
  { csrf }: PublicVisit,
  { next, email, problem }: { next: string; email: string; problem?: Html | undefined },
): Html {
  const { signIn: t, common } = texts();
  return plainPage(
    { title: t.title, csrf },
    html`<h1>${t.title}</h1>
${problem}
<form method="post" action="${BASE}/sign-in" class="stack">
${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
<label>${common.address}<input type="email" name="email" value="${email}" required autocomplete="username" ${email === '' && 'autofocus'}></label>
<label>${common.password}<input type="password" name="password" required autocomplete="current-password" ${email !== '' && 'autofocus'}></label>
<button class="primary">${t.title}</button>
</form>
<p class="small muted">${t.forgotten}</p>`,
  );
}
