import { isoTime } from '../../../lib/internal.ts';
import { shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, postButton } from '../layout.ts';
import { type Answer, BASE, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import type { ListedSession } from '../sign-in/sessions.ts';

/** Ending one's own sessions. */
export function ownSessionRoutes({ acts, cookies, sessions, addressOf }: RouteParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/account/sign-out-session',
      for: 'members',
      async handler({ viewer, form, request, h }) {
        const { accountId } = viewer;
        const id = form['session'] ?? '';
        const own = (await sessions.list(viewer)).find(({ isCurrent }) => isCurrent);
        if (await sessions.endOne(viewer, id))
          await acts.record({ accountId, address: addressOf(request) }, 'sign-out.session', null);
        if (own?.id !== id) return told(texts().ownAccount.sessionEnded);
        cookies.endSession(h);
        return { to: '/sign-in' };
      },
    },
    {
      method: 'POST',
      path: '/account/sign-out-others',
      for: 'members',
      async handler({ viewer, request }) {
        const { accountId } = viewer;
        await sessions.endOthers(viewer);
        await acts.record({ accountId, address: addressOf(request) }, 'sign-out.others', null);
        return told(texts().ownAccount.othersEnded);
      },
    },
    {
      method: 'POST',
      path: '/account/sign-out-everywhere',
      for: 'members',
      async handler({ viewer, request, h }) {
        const { accountId } = viewer;
        await sessions.endAll(accountId);
        await acts.record({ accountId, address: addressOf(request) }, 'sign-out.everywhere', null);
        cookies.endSession(h);
        return { to: '/sign-in' };
      },
    },
  ];
}

function told(text: string): Answer {
  return { to: '/account', tell: { note: { kind: 'good', text } } };
}

/** The sessions of a person, each with a button that ends it. */
export function sessionsCard(sessions: ListedSession[], csrf: string): Html {
  const { ownAccount: t, layout } = texts();
  const rows = sessions.map(
    ({ id, createdAtMs, lastUsedAtMs, browser, address, isCurrent }) => html`<tr>
<th scope="row" class="rowhead">${browserText(browser)}${isCurrent && html` <span class="tag good">${t.thisBrowser}</span>`}</th>
<td data-label="${t.network}">${address}</td>
<td data-label="${t.signedIn}">${shownTime(isoTime(createdAtMs))}</td>
<td data-label="${t.lastUsed}">${shownTime(isoTime(lastUsedAtMs))}</td>
<td><form method="post" action="${BASE}/account/sign-out-session">${csrfField(csrf)}<input type="hidden" name="session" value="${id}"><button class="link" aria-label="${layout.signOut}: ${browserText(browser)}">${layout.signOut}</button></form></td>
</tr>`,
  );
  return html`<section class="card flush"><header><h2>${t.sessions}</h2></header>
<div class="scroll"><table class="cards"><thead><tr><th>${t.browser}</th><th>${t.network}</th><th>${t.signedIn}</th><th>${t.lastUsed}</th><th><span class="visually-hidden">${layout.signOut}</span></th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="muted">${t.sessionsText}</p>
<div class="actions">${sessions.length > 1 && postButton({ to: '/account/sign-out-others', csrf, label: t.signOutOthers })}${postButton({ to: '/account/sign-out-everywhere', csrf, label: t.signOutEverywhere })}</div></section>`;
}

function browserText(browser: string | null): string {
  const { ownAccount: t } = texts();
  const [name = '', system = ''] = browser?.split('/') ?? [];
  if (name !== '' && system !== '') return t.browserOn(name, system);
  return name || system || t.unknownBrowser;
}
