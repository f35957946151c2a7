import type { Account } from '../../../lib/index.ts';
import { isScenepressError } from '../../../lib/internal.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, plainPage } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, pathWithin, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { Entrance } from '../sign-in/entrance.ts';

/** The page of the second step, below the base. */
export const CODE_PATH = '/sign-in/code';

/** The second step of signing in: a code of the app, or a recovery code. */
export function signInCodeRoutes(parts: RouteParts): Route[] {
  const { acts, codeAttempts, cookies, devices, secondStep, twoFactor, addressOf } = parts;
  const entrance = new Entrance(parts);
  return [
    {
      method: 'GET',
      path: CODE_PATH,
      for: 'everyone',
      async handler(visit) {
        return (await accountOf(visit)) ? codePage(visit) : fromTheBeginning(visit);
      },
    },
    { method: 'POST', path: CODE_PATH, for: 'everyone', handler: async (visit) => giveCode(visit) },
  ];

  async function giveCode(visit: PublicVisit): Promise<Answer> {
    const { form, request, h } = visit;
    const account = await accountOf(visit);
    if (!account) return fromTheBeginning(visit);
    const { accountId } = account;
    const address = addressOf(request);
    const device = devices.find(cookies.deviceTokenIn(request) ?? '', account);
    let used: 'app' | 'recovery' | undefined;
    try {
      used = await codeAttempts.attempt({ account: accountId, client: address, device }, () =>
        twoFactor.use(accountId, form['code'] ?? ''),
      );
    } catch (error) {
      if (!isScenepressError(error, 'too_many_failures')) throw error;
      return { page: codePage(visit, error.message), status: 429 };
    }
    if (used === undefined) {
      await acts.record({ accountId, address }, 'sign-in.wrongCode', null);
      return { page: codePage(visit, texts().signIn.code.wrong), status: 401 };
    }
    if (!(await entrance.enter(visit, account))) return fromTheBeginning(visit);
    cookies.endSecondStep(h);
    const act = used === 'app' ? 'sign-in' : 'sign-in.recoveryCode';
    await acts.record({ accountId, address }, act, null);
    return { to: pathWithin(form['next'] ?? '') };
  }

  /** Whose password was given in this browser. */
  function accountOf({ request, csrf }: PublicVisit): Promise<Account | undefined> {
    return secondStep.find(cookies.secondStepTokenIn(request), csrf);
  }
}

function fromTheBeginning({ form, query }: PublicVisit): Answer {
  const next = form['next'] ?? query['next'] ?? '';
  return { to: `/sign-in?${new URLSearchParams({ ...(next && { next }), ended: 'code' })}` };
}

function codePage({ csrf, form, query }: PublicVisit, problem?: string): Html {
  const { signIn } = texts();
  const t = signIn.code;
  const next = form['next'] ?? query['next'] ?? '';
  const isRecovery = (form['with'] ?? query['with']) === 'recovery';
  const other = new URLSearchParams({ ...(next && { next }), ...(!isRecovery && { with: 'recovery' }) });
  const field = isRecovery
    ? html`<label>${t.recoveryCode}<input name="code" required maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false" autofocus></label>
<input type="hidden" name="with" value="recovery">`
    : html`<label>${t.code}<input name="code" required maxlength="100" inputmode="numeric" autocomplete="one-time-code" autofocus></label>`;
  return plainPage(
    { title: signIn.title, csrf },
    html`<h1>${t.title}</h1>
<p class="muted">${isRecovery ? t.recoveryText : t.text}</p>
${problem !== undefined && note('bad', problem)}
<form method="post" action="${BASE}${CODE_PATH}" class="stack">
${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
${field}
<button class="primary">${signIn.title}</button>
</form>
<p class="small"><a href="${BASE}${CODE_PATH}?${other.toString()}">${isRecovery ? t.useApp : t.useRecoveryCode}</a></p>
<p class="small muted">${t.lost}</p>`,
  );
}
