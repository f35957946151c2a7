import { type ClassLink, isScenepressError } from '../../../lib/internal.ts';
import type { ReceivedAssignment } from '../../admin/assignment-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { note, page, plainPage, postButton } from '../layout.ts';
import { type Answer, BASE, type PublicVisit, type Route, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { instructionText, joinPath, receivedPath } from './assignment-views.ts';

/** Pages whose paths have a secret. No page of the dashboard sends other sites a referrer. */
export const SECRET_PAGE: Record<string, string> = { 'X-Robots-Tag': 'noindex, nofollow' };

/** What a link that does not work tells, whatever the reason. */
export function invalidLink(csrf: string): Answer {
  const { assignments: t, errors } = texts();
  const shown = plainPage(
    { title: t.invalid, csrf },
    html`<h1>${t.invalid}</h1><p>${t.invalidText}</p>
<p><a class="button" href="${BASE}">${errors.toTheOverview}</a></p>`,
  );
  return { page: shown, status: 404 };
}

/** Answers as of a link that does not work, if it is not found. */
export async function orInvalid(csrf: string, answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    if (!isScenepressError(error, 'not_found')) throw error;
    return invalidLink(csrf);
  }
}

/** The page of an assignment for who has its link. */
export function receivedRoutes({ classLinks, service }: RouteParts): Route[] {
  const path = '/a/{token}';
  const strangers = (visit: PublicVisit) => orInvalid(visit.csrf, () => landing(visit));
  return [
    {
      method: 'GET',
      path,
      for: 'members',
      headers: SECRET_PAGE,
      strangers,
      handler: (visit) => orInvalid(visit.csrf, () => received(visit)),
    },
    {
      method: 'POST',
      path,
      for: 'members',
      headers: SECRET_PAGE,
      strangers,
      handler: (visit) => orInvalid(visit.csrf, () => open(visit)),
    },
  ];

  /** For people who are not signed in. */
  async function landing({ csrf, params }: PublicVisit): Promise<Answer> {
    const { assignments: t } = texts();
    const { title, token, classLinkId } = await service.assignments.find(params['token'] ?? '');
    const link = classLinkId === null ? undefined : await classLinkOf(classLinkId);
    const next = `${BASE}${receivedPath(token)}`;
    const canJoin = link?.state === 'open';
    return plainPage(
      { title, csrf },
      html`<h1>${title}</h1>
<p>${t.needsAccount}</p>
<p class="actions">${link && canJoin && html`<a class="button primary" href="${BASE}${joinPath(link.token, next)}">${t.join}</a>`}<a class="button ${!canJoin && 'primary'}" href="${BASE}/sign-in?${new URLSearchParams({ next }).toString()}">${t.signIn}</a></p>`,
    );
  }

  /** Undefined once it is removed. */
  async function classLinkOf(classLinkId: string): Promise<ClassLink | undefined> {
    try {
      return await classLinks.get(classLinkId);
    } catch (error) {
      if (!isScenepressError(error, 'not_found')) throw error;
      return undefined;
    }
  }
}

/** Leads to the copy that the person has, or offers one. */
async function received(visit: Visit): Promise<Answer> {
  const { admin, viewer, params } = visit;
  const { token = '' } = params;
  const assignment = await admin.assignments.read({ account: viewer.accountId, token });
  if (assignment.sceneId !== null) return { to: copyPath(assignment.sceneId) };
  return offer(visit, assignment);
}

function offer(
  { viewer, csrf, params }: Visit,
  { title, instructions }: ReceivedAssignment,
  problem?: string,
) {
  const { assignments: t } = texts();
  return page(
    { title, viewer, csrf },
    problem !== undefined && note('bad', problem),
    html`<section class="card">${instructions !== null && instructionText(instructions)}
<div class="actions">${postButton({ to: receivedPath(params['token'] ?? ''), csrf, label: t.begin, look: 'primary' })}</div>
<p class="small muted">${t.beginText}</p></section>`,
  );
}

/** Opens the copy, which is made if there is none yet. */
async function open(visit: Visit): Promise<Answer> {
  const { admin, viewer, params } = visit;
  const account = viewer.accountId;
  const { token = '' } = params;
  try {
    const { sceneId } = await admin.assignments.open({ account, token });
    return { to: copyPath(sceneId) };
  } catch (error) {
    if (!isScenepressError(error, 'too_much_stored')) throw error;
    const assignment = await admin.assignments.read({ account, token });
    return { page: offer(visit, assignment, error.message), status: httpErrorOf(error).status };
  }
}

function copyPath(sceneId: string): string {
  return `/playground?scene=${encodeURIComponent(sceneId)}`;
}
