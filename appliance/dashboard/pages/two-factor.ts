import { isScenepressError, ScenepressError } from '../../../lib/internal.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { copyable, csrfField, note, page, toldNote } from '../layout.ts';
import { qrCode } from '../qr-code.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { hashOf } from '../sign-in/sessions.ts';

const PATH = '/account/two-factor';
/** Recovery codes, separated by spaces. */
const CODES = /^(?:[a-z2-7]{4}(?:-[a-z2-7]{4}){3}(?: |$)){1,10}$/;

/** Two-factor sign-in of one's own account: setting up, recovery codes, turning off. */
export function twoFactorRoutes({
  attempts,
  addressOf,
}: Pick<RouteParts, 'attempts' | 'addressOf'>): Route[] {
  return [
    { method: 'GET', path: PATH, for: 'members', handler: async (visit) => twoFactorPage(visit) },
    form('', async ({ admin, form: { offer = '' }, viewer }, proof) => {
      const turnOn = { ...proof, offer, keptSession: hashOf(viewer.token) };
      return withCodes(await admin.twoFactor.turnOn(turnOn), texts().twoFactor.turnedOn);
    }),
    form('/codes', async ({ admin }, proof) =>
      withCodes(await admin.twoFactor.renewCodes(proof), texts().twoFactor.codesRenewed),
    ),
    form('/off', async ({ admin, viewer }, proof) => {
      await admin.twoFactor.turnOff({ ...proof, keptSession: hashOf(viewer.token) });
      return { to: '/account', tell: { note: { kind: 'good', text: texts().twoFactor.turnedOff } } };
    }),
    {
      method: 'POST',
      path: `${PATH}/download`,
      for: 'members',
      async handler({ h, form: { codes = '' } }) {
        // The server has only hashes: the page gives the codes back.
        if (!CODES.test(codes)) throw new ScenepressError('invalid_request', texts().twoFactor.noCodes);
        const text = `Scenepress\n\n${codes.split(' ').join('\n')}\n`;
        const response = h.response(text).type('text/plain; charset=utf-8');
        return {
          response,
          headers: { 'Content-Disposition': 'attachment; filename="scenepress-recovery-codes.txt"' },
        };
      },
    },
  ];

  /** A form that needs the password and a code. */
  function form(
    path: string,
    change: (visit: Visit, proof: { account: string; password: string; code: string }) => Promise<Answer>,
  ): Route {
    return {
      method: 'POST',
      path: `${PATH}${path}`,
      for: 'members',
      async handler(visit) {
        const { viewer, request } = visit;
        const { password = '', code = '' } = visit.form;
        try {
          // A stolen session must not serve to guess the password or a code.
          const who = {
            account: viewer.email.toLowerCase(),
            client: addressOf(request),
            device: `session ${viewer.token}`,
          };
          const proof = { account: viewer.accountId, password, code };
          return (await attempts.attempt(who, () => change(visit, proof))) as Answer;
        } catch (error) {
          if (!isScenepressError(error, 'invalid_request', 'conflict', 'too_many_failures')) throw error;
          const status = error.code === 'too_many_failures' ? 429 : 400;
          return { page: await twoFactorPage(visit, note('bad', error.message)), status };
        }
      },
    };
  }
}

function withCodes({ recoveryCodes }: { recoveryCodes: string[] }, text: string): Answer {
  return { to: PATH, tell: { note: { kind: 'good', text }, secrets: { codes: recoveryCodes.join(' ') } } };
}

async function twoFactorPage(visit: Visit, problem?: Value): Promise<Html> {
  const { admin, viewer, csrf, told } = visit;
  const { twoFactor: t, ownAccount } = texts();
  const account = await admin.accounts.show({ account: viewer.accountId });
  return page(
    {
      title: t.title,
      section: 'account',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/account">${ownAccount.title}</a>`,
    },
    problem ?? toldNote(told),
    told.secrets?.['codes'] !== undefined && codesCard(told.secrets['codes'], csrf),
    account.hasTwoFactor ? changeCards(account, visit) : await setupCard(visit),
  );
}

/** Shown once. */
function codesCard(codes: string, csrf: string): Html {
  const { twoFactor: t } = texts();
  return html`<section class="card"><h2>${t.recoveryCodes}</h2>
<p>${t.keepCodes}</p>
${copyable(t.onceOnly, 'recovery-codes', codes.replaceAll(' ', '\n'))}
<div class="actions"><form method="post" action="${BASE}${PATH}/download">${csrfField(csrf)}<input type="hidden" name="codes" value="${codes}"><button>${t.download}</button></form></div></section>`;
}

async function setupCard({ admin, viewer, csrf, form }: Visit): Promise<Html> {
  const { twoFactor: t } = texts();
  const account = viewer.accountId;
  // A form with an error shows its secret again, which the app may have by now.
  const again =
    form['offer'] === undefined ? undefined : admin.twoFactor.offer({ account, offer: form['offer'] });
  const offered = await again?.catch((error: unknown) => {
    if (!isScenepressError(error, 'invalid_request')) throw error;
  });
  const { secret, uri, offer } = offered ?? (await admin.twoFactor.offer({ account }));
  return html`<section class="card"><h2>${t.setUp}</h2>
<p class="muted">${t.setUpText}</p>
<div class="pairing">${qrCode(uri, t.qrCode)}
<div class="stack">${copyable(t.secret, 'secret', secret)}
<form method="post" action="${BASE}${PATH}" class="stack">
${csrfField(csrf)}
<input type="hidden" name="offer" value="${offer}">
${proofFields(viewer.email, t.codeOfApp)}
<div class="actions"><button class="primary">${t.turnOn}</button></div>
</form></div></div></section>`;
}

function changeCards({ recoveryCodes }: { recoveryCodes: number }, { viewer, csrf }: Visit): Html {
  const { twoFactor: t } = texts();
  return html`<div class="row"><section class="card"><h2>${t.recoveryCodes}</h2>
<p class="muted">${t.codesLeft(recoveryCodes)} ${t.codesText}</p>
<form method="post" action="${BASE}${PATH}/codes" class="stack">
${csrfField(csrf)}
${proofFields(viewer.email, t.anyCode)}
<div class="actions"><button>${t.renewCodes}</button></div>
</form></section>
<section class="card"><h2>${t.turnOff}</h2>
<p class="muted">${t.turnOffText}</p>
<form method="post" action="${BASE}${PATH}/off" class="stack">
${csrfField(csrf)}
${proofFields(viewer.email, t.anyCode)}
<div class="actions"><button class="danger">${t.turnOff}</button></div>
</form></section></div>`;
}

function proofFields(email: string, codeLabel: string): Html {
  return html`<input type="hidden" name="username" value="${email}" autocomplete="username">
<label>${texts().common.password}<input type="password" name="password" required autocomplete="current-password"></label>
<label>${codeLabel}<input name="code" required maxlength="100" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"></label>`;
}
