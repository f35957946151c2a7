import { isScenepressError, ScenepressError } from '../../../lib/internal.ts';
import { findAccount, requireFreeAddress } from '../../admin/first-account.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, page, plainPage } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, pathWithin, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { Entrance } from '../sign-in/entrance.ts';
import { joinPath } from './assignment-views.ts';
import { orInvalid, SECRET_PAGE } from './received.ts';
import { LONGEST_ADDRESS } from './sign-in.ts';

/** The page of a class link: people without an account make one. */
export function joinRoutes(parts: RouteParts): Route[] {
  const { accounts, acts, attempts, classLinks, addressOf } = parts;
  const entrance = new Entrance(parts);
  const path = '/join/{token}';
  const linkOf = ({ params }: Pick<PublicVisit, 'params'>) => classLinks.find(params['token'] ?? '');
  return [
    {
      method: 'GET',
      path,
      for: 'members',
      headers: SECRET_PAGE,
      strangers: (visit) => orInvalid(visit.csrf, () => joinPage(visit)),
      handler: (visit) =>
        orInvalid(visit.csrf, async () => {
          const { assignments: t } = texts();
          const { viewer, csrf, query } = visit;
          const { name } = await linkOf(visit);
          return page(
            { title: t.joinTitle(name), viewer, csrf },
            html`<section class="card"><p>${t.signedIn}</p><p class="actions"><a class="button primary" href="${BASE}${pathWithin(query['next'] ?? '')}">${t.goOn}</a></p></section>`,
          );
        }),
    },
    {
      method: 'POST',
      path,
      for: 'members',
      headers: SECRET_PAGE,
      strangers: (visit) => orInvalid(visit.csrf, () => join(visit)),
      // Signed in meanwhile, in another tab.
      handler: (visit) =>
        orInvalid(visit.csrf, async () => {
          await linkOf(visit);
          return { to: pathWithin(visit.query['next'] ?? '') };
        }),
    },
  ];

  /** `problem`: why the form was refused. */
  async function joinPage(visit: PublicVisit, problem?: string): Promise<Html> {
    const { assignments: t, signIn, common } = texts();
    const { csrf, form, query } = visit;
    const { name, token, state } = await linkOf(visit);
    const next = pathWithin(query['next'] ?? '') && `${query['next']}`;
    const signInPath = `/sign-in${next && `?${new URLSearchParams({ next })}`}`;
    const toSignIn = html`<p><a href="${BASE}${signInPath}">${t.haveAccount}</a></p>`;
    if (state === 'full')
      return plainPage(
        { title: t.joinTitle(name), csrf },
        html`<h1>${t.isFull}</h1><p>${t.invalidText}</p>${toSignIn}`,
      );
    return plainPage(
      { title: t.joinTitle(name), csrf },
      html`<h1>${t.joinTitle(name)}</h1>
<p class="muted">${t.joinText}</p>
${problem !== undefined && note('bad', problem)}
<form method="post" action="${BASE}${joinPath(token, next)}" class="stack">
${csrfField(csrf)}
<label>${common.address}<input type="email" name="email" value="${form['email']}" required maxlength="${LONGEST_ADDRESS}" autocomplete="username" autofocus></label>
<label>${common.password} <span class="hint">${signIn.setUp.passwordHint}</span><input type="password" name="password" required minlength="10" maxlength="200" autocomplete="new-password"></label>
<button class="primary">${t.join}</button>
</form>
${toSignIn}`,
    );
  }

  async function join(visit: PublicVisit): Promise<Answer> {
    const { form, request, query, params } = visit;
    // Before anything is counted.
    await linkOf(visit);
    const email = (form['email'] ?? '').trim().slice(0, LONGEST_ADDRESS + 1);
    const address = addressOf(request);
    try {
      // Whoever tries addresses is limited as with passwords, and hashes are made one at a time.
      const joined = await attempts.attempt({ account: email.toLowerCase(), client: address }, async () => {
        requireFreeAddress(email);
        if (email.includes('@') && (await findAccount(accounts, email)))
          throw new ScenepressError('conflict', texts().assignments.hasAccount);
        return classLinks.join(params['token'] ?? '', { email, password: form['password'] ?? '' });
      });
      if (!joined) throw new ScenepressError('conflict', texts().assignments.hasAccount);
      const { account, classLinkId } = joined;
      const { accountId } = account;
      await acts.record({ accountId, address }, 'classLinks.join', classLinkId);
      const next = query['next'] ?? '';
      if (!(await entrance.enter(visit, account))) return { to: `/sign-in?${new URLSearchParams({ next })}` };
      return { to: pathWithin(next) };
    } catch (error) {
      if (!isScenepressError(error, 'invalid_request', 'conflict', 'too_many_failures')) throw error;
      return { page: await joinPage(visit, error.message), status: httpErrorOf(error).status };
    }
  }
}
