import { fileNames, isScenepressError } from '../../../lib/internal.ts';
import type { AssignmentDetails } from '../../admin/assignment-views.ts';
import type { SceneDetails } from '../../admin/scene-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownNumber } from '../format.ts';
import { type Html, html, type Value, wholeText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { copyable, csrfField, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import {
  addressOf,
  assignmentPath,
  classLinkPath,
  endButton,
  instructionText,
  linkFacts,
  receivedPath,
  stateTag,
} from './assignment-views.ts';
import { codeCard } from './code-view.ts';
import { endRoutes } from './ended-links.ts';
import { scenePath } from './scene-views.ts';
import { LONGEST_NAME } from './scenes.ts';
import { timeField, utcTime } from './times.ts';

const LONGEST_INSTRUCTIONS = 10_000;
/** Class links that a form offers: the newest. */
const OFFERED = 100;

/** The page of each assignment, and the form of a new one. */
export function assignmentRoutes(): Route[] {
  const path = '/assignments/{assignmentId}';
  return [
    {
      method: 'GET',
      path: '/assignments/new',
      for: 'members',
      handler: async (visit) => newPage(visit, await sceneOf(visit, visit.query['scene'])),
    },
    { method: 'POST', path: '/assignments', for: 'members', mostBytes: 128 * 1024, handler: create },
    { method: 'GET', path, for: 'members', handler: assignmentPage },
    { method: 'GET', path: `${path}/code`, for: 'members', handler: download },
    ...endRoutes({
      path,
      async find(visit) {
        const { assignmentId, title } = await shown(visit);
        return { name: title, path: assignmentPath(assignmentId) };
      },
      revoke: ({ admin, params }) => admin.assignments.revoke({ assignmentId: params['assignmentId'] ?? '' }),
      remove: ({ admin, params }) => admin.assignments.remove({ assignmentId: params['assignmentId'] ?? '' }),
      list: () => '/assignments',
      texts: () => texts().assignments,
    }),
  ];
}

function shown({ admin, params }: Visit): Promise<AssignmentDetails> {
  return admin.assignments.show({ assignmentId: params['assignmentId'] ?? '' });
}

function sceneOf({ admin }: Visit, sceneId: string | undefined): Promise<SceneDetails> {
  return admin.scenes.show({ sceneId: sceneId ?? '' });
}

/** The form of a new assignment of a scene, with what was sent and refused. */
async function newPage(visit: Visit, scene: SceneDetails, problem?: string): Promise<Html> {
  const { assignments: t, common } = texts();
  const { admin, viewer, csrf, form } = visit;
  const { sceneId, name, account } = scene;
  const { classLinks } = await admin.classLinks.list({ account, limit: OFFERED });
  const open = classLinks.filter(({ state }) => state === 'open');
  const named = html`<a href="${BASE}${scenePath(sceneId)}">${name}</a>`;
  return page(
    { title: t.newTitle, section: 'assignments', viewer, csrf, lead: filled(t.newLead, { scene: named }) },
    problem !== undefined && note('bad', problem),
    html`<section class="card"><form method="post" action="${BASE}/assignments" class="stack">${csrfField(csrf)}<input type="hidden" name="scene" value="${sceneId}">
<label><span>${t.name} <span class="hint">${t.nameHint}</span></span><input name="title" value="${form['title'] ?? name}" required maxlength="${LONGEST_NAME}" autocomplete="off"></label>
<label><span>${t.instructions} <span class="hint">${t.instructionsHint}</span></span><textarea name="instructions" rows="5" maxlength="${LONGEST_INSTRUCTIONS}">
${wholeText(form['instructions'] ?? '')}</textarea></label>
${
  open.length > 0 &&
  html`<label><span>${t.classLink} <span class="hint">${t.classLinkHint}</span></span><select name="classLink"><option value="">${t.noClassLink}</option>${open.map(
    ({ classLinkId, name }) =>
      html`<option value="${classLinkId}" ${classLinkId === form['classLink'] && 'selected'}>${name}</option>`,
  )}</select></label>`
}
${timeField(t.expires, 'expires', form['expires'], { hint: t.expiresHint })}
${scene.settings.files && html`<p class="small muted">${t.filesStay}</p>`}
<div class="actions"><button class="primary">${t.create}</button><a class="button" href="${BASE}${scenePath(sceneId)}">${common.cancel}</a></div></form></section>`,
  );
}

async function create(visit: Visit): Promise<Answer> {
  const { assignments: t } = texts();
  const { admin, form } = visit;
  const scene = await sceneOf(visit, form['scene']);
  const expires = utcTime(form['expires']?.trim() ?? '');
  if (expires !== '' && !(Date.parse(expires) > Date.now()))
    return { page: await newPage(visit, scene, t.expiresInThePast), status: 400 };
  try {
    const { assignmentId } = await admin.assignments.create({
      account: scene.account,
      scene: scene.sceneId,
      title: form['title'] ?? '',
      instructions: form['instructions']?.replaceAll('\r\n', '\n').trim() || null,
      classLink: form['classLink'] || null,
      expiresAt: expires || null,
    });
    const tell = { note: { kind: 'good' as const, text: t.wasCreated } };
    return { to: assignmentPath(assignmentId), tell };
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'too_much_stored', 'not_found')) throw error;
    return { page: await newPage(visit, scene, error.message), status: httpErrorOf(error).status };
  }
}

async function assignmentPage(visit: Visit): Promise<Html> {
  const { assignments: t } = texts();
  const { viewer, csrf } = visit;
  const assignment = await shown(visit);
  const { assignmentId, title, token, state, copies, instructions, code } = assignment;
  const path = assignmentPath(assignmentId);
  return page(
    {
      title,
      section: 'assignments',
      viewer,
      csrf,
      actions: html`<a class="button" href="${BASE}/assignments">${t.all}</a>`,
    },
    toldNote(visit.told),
    html`<section class="card"><header><h2>${t.link}</h2>${stateTag(state)}</header>
${state === 'open' && copyable(t.address, 'assignment-link', addressOf(receivedPath(token), visit))}
<dl class="details"><dt>${t.copies}</dt><dd><span class="number">${shownNumber(copies)}</span> <span class="muted">${t.copiesHint}</span></dd>
${classLinkFact(assignment)}${linkFacts(assignment, visit)}</dl>
<div class="actions">${state === 'open' && html`<a class="button" href="${BASE}${receivedPath(token)}">${t.open}</a>`}${endButton(path, assignment)}</div></section>`,
    instructions !== null &&
      html`<section class="card"><h2>${t.instructions}</h2>${instructionText(instructions)}</section>`,
    code !== '' && codeCard(code, { whole: `${path}/code` }),
  );
}

function classLinkFact({ classLink }: AssignmentDetails): Value {
  if (!classLink) return false;
  const { classLinkId, name, state } = classLink;
  return html`<dt>${texts().assignments.classLink}</dt><dd><a href="${BASE}${classLinkPath(classLinkId)}">${name}</a> ${state !== 'open' && stateTag(state)}</dd>`;
}

async function download(visit: Visit): Promise<Answer> {
  const { title, code } = await shown(visit);
  const fileName = encodeURIComponent(fileNames()(title)).replaceAll("'", '%27');
  return {
    response: visit.h.response(code).type('text/x-python'),
    headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${fileName}` },
  };
}
