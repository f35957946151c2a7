import { isScenepressError } from '../../../lib/internal.ts';
import type { ShareInfo, ShownShare } from '../../admin/share-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, pathWithin, type Route, type Visit } from '../route.ts';
import { createRoute } from './share-card.ts';
import { problemOf, settingsForm, settingsOf } from './share-settings.ts';
import { addCard, arrangeRoute, videoCard } from './share-videos.ts';
import {
  linkOf,
  openButton,
  revokeButton,
  shareFacts,
  shareName,
  sharePath,
  shareTag,
} from './share-views.ts';

/** The page of each share. */
export function shareRoutes(): Route[] {
  return [
    createRoute(),
    { method: 'GET', path: '/shares/{shareId}', for: 'members', handler: (visit) => sharePage(visit) },
    { method: 'POST', path: '/shares/{shareId}', for: 'members', handler: save },
    arrangeRoute(),
    {
      method: 'GET',
      path: '/shares/{shareId}/revoke',
      for: 'members',
      handler: (visit) => confirmPage(visit, 'revoke'),
    },
    {
      method: 'POST',
      path: '/shares/{shareId}/revoke',
      for: 'members',
      async handler({ admin, params }) {
        const { shareId } = await admin.shares.revoke({ shareId: params['shareId'] ?? '' });
        return told(sharePath(shareId), texts().shares.wasRevoked);
      },
    },
    {
      method: 'GET',
      path: '/shares/{shareId}/remove',
      for: 'members',
      handler: (visit) => confirmPage(visit, 'remove'),
    },
    {
      method: 'POST',
      path: '/shares/{shareId}/remove',
      for: 'members',
      async handler(visit) {
        const share = await visit.admin.shares.remove({ shareId: visit.params['shareId'] ?? '' });
        return told(listOf(visit, share), texts().shares.wasRemoved);
      },
    },
  ];
}

function told(to: string, text: string): Answer {
  return { to, tell: { note: { kind: 'good', text } } };
}

function shown({ admin, params }: Visit): Promise<ShownShare> {
  return admin.shares.show({ shareId: params['shareId'] ?? '' });
}

/** The list that a share stands in. */
function listOf({ viewer }: Visit, { account }: ShareInfo): string {
  return account === viewer.email ? '/shares' : `/shares?account=${encodeURIComponent(account)}`;
}

async function save(visit: Visit): Promise<Answer> {
  const { admin, form } = visit;
  const share = await shown(visit);
  const { shareId } = share;
  const settings = settingsOf(form, share);
  const problem = problemOf(settings);
  if (problem !== undefined) return { page: await sharePage(visit, problem), status: 400 };
  try {
    await admin.shares.update({ shareId, ...settings });
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
    return { page: await sharePage(visit, error.message), status: httpErrorOf(error).status };
  }
  return told(pathWithin(form['back'] ?? '') || sharePath(shareId), texts().shares.saved);
}

/** `problem`: why the settings of the form were refused. */
async function sharePage(visit: Visit, problem?: string): Promise<Html> {
  const { shares: t, common } = texts();
  const { viewer, csrf, form } = visit;
  const share = await shown(visit);
  const { account, shareId, state } = share;
  const given = problem === undefined ? {} : { given: form };
  return page(
    {
      title: shareName(share),
      section: 'shares',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}${listOf(visit, share)}">${t.all}</a>`,
    },
    problem === undefined ? toldNote(visit.told) : note('bad', problem),
    html`<div class="${state === 'revoked' ? 'stack' : 'columns'}">
<div class="stack"><section class="card"><header><h2>${t.link}</h2>${shareTag(share)}</header>${linkOf(share, visit)}<dl class="details">${account !== viewer.email && html`<dt>${common.account}</dt><dd>${account}</dd>`}${shareFacts(share, { settings: state === 'revoked' })}</dl><div class="actions">${openButton(share, visit)}${revokeButton(share)}${
      state === 'revoked' &&
      html`<a class="button" href="${BASE}${sharePath(shareId)}/remove">${t.remove}</a>`
    }</div></section>
${videoCard(share, visit)}${await addCard(share, visit)}</div>
${state !== 'revoked' && html`<section class="card"><h2>${t.settings}</h2>${settingsForm(share, visit, { ...given, look: 'stack' })}</section>`}</div>`,
  );
}

async function confirmPage(visit: Visit, act: 'revoke' | 'remove'): Promise<Html> {
  const { shares: t, common } = texts();
  const { viewer, csrf } = visit;
  const share = await shown(visit);
  const path = sharePath(share.shareId);
  const [title, question] =
    act === 'revoke' ? [t.revokeTitle, t.revokeQuestion] : [t.removeTitle, t.removeQuestion];
  return page(
    { title, section: 'shares', viewer, csrf },
    html`<section class="card">
<p>${filled(question, { name: html`<strong>${shareName(share)}</strong>` })}</p>
<div class="actions">${postButton({ to: `${path}/${act}`, csrf, label: title, look: 'danger' })}<a class="button" href="${BASE}${path}">${common.cancel}</a></div>
</section>`,
  );
}
