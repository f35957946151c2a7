import { isScenepressError } from '../../../lib/internal.ts';
import { shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, languageChoice, note, page, toldNote } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { Entrance } from '../sign-in/entrance.ts';
import { formTokenOf, type ListedSession } from '../sign-in/sessions.ts';
import { sessionsCard } from './own-sessions.ts';

/** One's own account: password and sessions. */
export function accountRoutes(parts: RouteParts): Route[] {
  const { accounts, attempts, cookies, devices, sessions, addressOf } = parts;
  const entrance = new Entrance(parts);
  const accountPage = async (visit: Visit, message: Value) =>
    accountPageOf(visit, await sessions.list(visit.viewer), message);
  return [
    {
      method: 'GET',
      path: '/account',
      for: 'members',
      handler: async (visit) => accountPage(visit, toldNote(visit.told)),
    },
    {
      method: 'POST',
      path: '/account/password',
      for: 'members',
      async handler(visit) {
        const { admin, viewer, form, request, h } = visit;
        const { current = '', password = '' } = form;
        try {
          // A stolen session must not serve to guess the password.
          const who = {
            account: viewer.email.toLowerCase(),
            client: addressOf(request),
            device: `session ${viewer.token}`,
          };
          await attempts.attempt(who, () =>
            admin.accounts.changePassword({ account: viewer.accountId, current, password }),
          );
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict', 'too_many_failures')) throw error;
          const status = error.code === 'too_many_failures' ? 429 : 400;
          return { page: await accountPage(visit, note('bad', error.message)), status };
        }
        const session = await sessions.begin(viewer.accountId, entrance.originOf(request));
        cookies.setSession(request, h, {
          session,
          device: devices.tokenFor(await accounts.find(viewer.accountId)),
        });
        return {
          to: '/account',
          csrf: formTokenOf(session),
          tell: { note: { kind: 'good', text: texts().ownAccount.passwordChanged } },
        };
      },
    },
  ];
}

async function accountPageOf(
  { admin, viewer, csrf }: Visit,
  sessions: ListedSession[],
  message: Value,
): Promise<Html> {
  const { ownAccount: t, twoFactor, common, layout } = texts();
  const account = viewer.accountId;
  const stored = await admin.accounts.storedBytes({ account });
  const { hasTwoFactor, recoveryCodes } = await admin.accounts.show({ account });
  return page(
    { title: t.title, section: 'account', viewer, csrf },
    message,
    html`<section class="card"><dl class="details">
<dt>${common.address}</dt><dd>${viewer.email}</dd>
<dt>${common.userId}</dt><dd><code>${viewer.accountId}</code></dd>
<dt>${common.role}</dt><dd>${viewer.role === 'admin' ? common.administrator : common.member}</dd>
<dt>${common.stored}</dt><dd>${shownUse(stored)} <span class="muted">${t.storedHint}</span></dd>
</dl></section>
<div class="row">
<section class="card"><h2>${t.changePassword}</h2>
<form method="post" action="${BASE}/account/password" class="stack">
${csrfField(csrf)}
<input type="hidden" name="username" value="${viewer.email}" autocomplete="username">
<label>${t.current}<input type="password" name="current" required autocomplete="current-password"></label>
<label>${t.chosen} <span class="hint">${t.passwordHint}</span><input type="password" name="password" required minlength="10" maxlength="200" autocomplete="new-password"></label>
<div class="actions"><button class="primary">${t.changePassword}</button></div>
</form></section>
<section class="card"><h2>${twoFactor.title}</h2>
<p>${hasTwoFactor ? html`<span class="tag good">${twoFactor.on}</span> ${twoFactor.codesLeft(recoveryCodes)}` : html`<span class="tag">${twoFactor.off}</span>`}</p>
<p class="muted">${twoFactor.text}</p>
<div class="actions"><a class="button" href="${BASE}/account/two-factor">${hasTwoFactor ? twoFactor.change : twoFactor.setUp}</a></div>
</section>
<section class="card"><h2>${layout.language}</h2>
<p class="muted">${t.languageText}</p>
<div class="actions">${languageChoice(csrf)}</div>
</section></div>`,
    sessionsCard(sessions, csrf),
  );
}
