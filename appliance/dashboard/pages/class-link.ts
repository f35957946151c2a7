import { isScenepressError } from '../../../lib/internal.ts';
import type { ClassLinkDetails } from '../../admin/assignment-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { copyable, emptyState, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import {
  addressOf,
  classLinkPath,
  endButton,
  joinPath,
  linkFacts,
  seatsOf,
  stateTag,
} from './assignment-views.ts';
import { assignmentsPage } from './assignments.ts';
import { endRoutes } from './ended-links.ts';
import { utcTime } from './times.ts';

/** The page of each class link. Only administrators make them. */
export function classLinkRoutes(): Route[] {
  const path = '/class-links/{classLinkId}';
  return [
    { method: 'POST', path: '/class-links', for: 'admins', handler: create },
    { method: 'GET', path, for: 'members', handler: classLinkPage },
    ...endRoutes({
      path,
      async find(visit) {
        const { classLinkId, name } = await shown(visit);
        return { name, path: classLinkPath(classLinkId) };
      },
      revoke: ({ admin, params }) => admin.classLinks.revoke({ classLinkId: params['classLinkId'] ?? '' }),
      remove: ({ admin, params }) => admin.classLinks.remove({ classLinkId: params['classLinkId'] ?? '' }),
      list: () => '/assignments',
      texts() {
        const { assignments: t } = texts();
        return {
          ...{ revokeQuestion: t.revokeClassLink, wasRevoked: t.classLinkWasRevoked },
          ...{ removeQuestion: t.removeClassLink, wasRemoved: t.wasRemoved },
        };
      },
    }),
  ];
}

function shown({ admin, params }: Visit): Promise<ClassLinkDetails> {
  return admin.classLinks.show({ classLinkId: params['classLinkId'] ?? '' });
}

async function create(visit: Visit): Promise<Answer> {
  const { assignments: t } = texts();
  const { admin, form, viewer } = visit;
  const expires = utcTime(form['expires']?.trim() ?? '');
  if (expires !== '' && !(Date.parse(expires) > Date.now()))
    return { page: await assignmentsPage(visit, t.expiresInThePast), status: 400 };
  try {
    const { classLinkId } = await admin.classLinks.create({
      account: form['account']?.trim() || viewer.email,
      name: form['name']?.trim() ?? '',
      seats: Number(form['seats']),
      creditsPerSeat: Number(form['creditsPerSeat'] ?? 0),
      expiresAt: expires || null,
    });
    const tell = { note: { kind: 'good' as const, text: t.classLinkWasCreated } };
    return { to: classLinkPath(classLinkId), tell };
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'not_found')) throw error;
    return { page: await assignmentsPage(visit, error.message), status: httpErrorOf(error).status };
  }
}

async function classLinkPage(visit: Visit): Promise<Html> {
  const { assignments: t } = texts();
  const { viewer, csrf } = visit;
  const link = await shown(visit);
  const { classLinkId, name, token, state, creditsPerSeat } = link;
  const path = classLinkPath(classLinkId);
  return page(
    {
      title: name,
      section: 'assignments',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/assignments">${t.all}</a>`,
    },
    toldNote(visit.told),
    html`<section class="card"><header><h2>${t.classLink}</h2>${stateTag(state)}</header>
${(state === 'open' || state === 'full') && copyable(t.address, 'class-link', addressOf(joinPath(token), visit))}
<dl class="details"><dt>${t.seats}</dt><dd class="number">${seatsOf(link)}</dd>
${creditsPerSeat > 0 && html`<dt>${t.credits}</dt><dd class="number">${shownNumber(creditsPerSeat)}</dd>`}
${linkFacts(link, visit)}</dl>
<div class="actions">${endButton(path, link)}</div></section>`,
    html`<section class="card flush"><header><h2>${t.joined}</h2></header>${joinedTable(link, visit)}</section>`,
  );
}

function joinedTable({ joined }: ClassLinkDetails, { viewer }: Visit): Html {
  const { assignments: t, common } = texts();
  if (joined.length === 0) return emptyState(t.nobodyYet, t.nobodyYetText);
  const rows = joined.map(({ userId, email, joinedAt }) => {
    const address = email ?? html`<span class="muted">${t.deleted}</span>`;
    const named =
      viewer.role === 'admin' && email !== null
        ? html`<a href="${BASE}/accounts/${userId}">${address}</a>`
        : address;
    return html`<tr><th scope="row" class="rowhead">${named}</th><td data-label="${t.joinedAt}">${shownTime(joinedAt)}</td></tr>`;
  });
  return html`<div class="scroll"><table class="cards"><thead><tr><th>${common.address}</th><th>${t.joinedAt}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
