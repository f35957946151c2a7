import Joi from 'joi';
import { ASSIGNMENT_SETTINGS } from '../../classroom/assignment-rules.ts';
import type { Assignment } from '../../model/assignment.ts';
import type { NewAssignment } from '../../model/assignment-requests.ts';
import { type Answer, named } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { CLASS_NAME, DRAFT_CODE, SETTINGS } from './scene-fields.ts';
import { toolErrors } from './tool-errors.ts';

const LIMIT = 50;
const MOST = 100;
const BODY_BYTES = 1024 * 1024;
const text = Joi.string().allow('').required();
const nullable = Joi.string().allow(null).required();
const ID = { assignmentId: 'The id of the assignment.' };

const ASSIGNMENT = named(
  'Assignment',
  Joi.object({
    assignmentId: text,
    url: text.description('The page to pass on: the dashboard serves it.'),
    token: text.description('The secret part of it.'),
    title: text,
    instructions: nullable,
    className: text.description('Empty while none is chosen.'),
    code: text,
    settings: Joi.object().unknown().required(),
    classLinkId: nullable,
    state: Joi.valid('open', 'expired', 'revoked').required().description('`open`: the link works.'),
    copies: Joi.number().integer().min(0).required().description('Accounts that have a copy.'),
    createdAt: text,
    expiresAt: nullable,
    revokedAt: nullable,
  }),
);
const THE_ASSIGNMENT: Record<number, Answer> = {
  200: { description: 'The assignment.', schema: ASSIGNMENT },
};

/** Links under which others get code as a scene of their own. */
export const ASSIGNMENT_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/assignments`,
    operationId: 'listAssignments',
    summary: 'List assignments',
    description:
      'Assignments of the account, newest first. For the next page repeat the query with `cursor`.',
    tag: 'Assignments',
    scopes: ['read', 'render'],
    query: {
      limit: Joi.number().integer().min(1).max(MOST).description(`Default: ${LIMIT}.`),
      cursor: Joi.string().description('The `next` of the preceding page.'),
    },
    responses: {
      200: {
        description: 'A page; `next` is null at the end.',
        schema: named(
          'AssignmentPage',
          Joi.object({ assignments: Joi.array().items(ASSIGNMENT).required(), next: nullable }),
        ),
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: list,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/assignments`,
    operationId: 'createAssignment',
    summary: 'Give an assignment',
    description:
      'Makes a link to the current draft of a scene, or to code. An account that opens it gets a copy; renders of the copy ' +
      'are charged to that account.',
    tag: 'Assignments',
    scopes: ['render'],
    body: {
      name: 'AssignmentRequest',
      mostBytes: BODY_BYTES,
      schema: Joi.object({
        ...ASSIGNMENT_SETTINGS,
        className: CLASS_NAME,
        code: DRAFT_CODE,
        settings: SETTINGS,
      }),
    },
    responses: {
      201: { description: 'The assignment.', schema: ASSIGNMENT },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async (call) => {
      const given = { ...(call.body as Omit<NewAssignment, 'owner'>), owner: call.caller.owner };
      return json(201, assignmentJson(call, await call.service.assignments.create(given)));
    },
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/assignments/{assignmentId}`,
    operationId: 'getAssignment',
    summary: 'Get an assignment',
    description: 'Its link, its texts, and how many accounts have a copy.',
    tag: 'Assignments',
    scopes: ['read', 'render'],
    params: ID,
    responses: { ...THE_ASSIGNMENT, ...toolErrors(401, 403, 404, 429) },
    answer: async (call) =>
      json(200, assignmentJson(call, await call.service.assignments.get(idOf(call), scopeOf(call)))),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/assignments/{assignmentId}/revoke`,
    operationId: 'revokeAssignment',
    summary: 'Revoke an assignment',
    description: 'Its link stops working at once, for good; copies stay with those who have them.',
    tag: 'Assignments',
    scopes: ['render'],
    params: ID,
    responses: { ...THE_ASSIGNMENT, ...toolErrors(401, 403, 404, 429, 503) },
    answer: async (call) =>
      json(200, assignmentJson(call, await call.service.assignments.revoke(idOf(call), scopeOf(call)))),
  },
  {
    method: 'DELETE',
    path: `${TOOLS_PATH}/assignments/{assignmentId}`,
    operationId: 'removeAssignment',
    summary: 'Remove an assignment',
    description: 'Its texts are erased; copies stay with those who have them.',
    tag: 'Assignments',
    scopes: ['render'],
    params: ID,
    responses: {
      204: { description: 'The assignment is removed.' },
      ...toolErrors(401, 403, 404, 429, 503),
    },
    answer: async (call) => {
      await call.service.assignments.remove(idOf(call), scopeOf(call));
      return new Response(null, { status: 204 });
    },
  },
];

async function list(call: ToolCall): Promise<Response> {
  const { limit = LIMIT, cursor } = call.query as { limit?: number; cursor?: string };
  const assignments = await call.service.assignments.list({
    ...{ ...scopeOf(call), limit },
    ...(cursor !== undefined && { before: cursor }),
  });
  return json(200, {
    assignments: assignments.map((assignment) => assignmentJson(call, assignment)),
    next: assignments.length < limit ? null : (assignments.at(-1)?.assignmentId ?? null),
  });
}

function idOf({ params }: ToolCall): string {
  return params['assignmentId'] ?? '';
}

function scopeOf({ caller: { owner } }: ToolCall): { owner: string } {
  return { owner };
}

/** Without its owner, who is the caller. */
function assignmentJson({ urlOf }: ToolCall, { owner: _, ...assignment }: Assignment): object {
  const base = urlOf('').slice(0, -TOOLS_PATH.length);
  return { ...assignment, url: `${base}/dashboard/a/${assignment.token}` };
}
