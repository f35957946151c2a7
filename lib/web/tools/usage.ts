import Joi from 'joi';
import { FAILED_BY } from '../../model/failures.ts';
import { named } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';

const count = Joi.number().integer().min(0);

/** Sums of ended renders. */
export const USAGE_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/usage`,
    operationId: 'getUsage',
    summary: 'Get the usage by day and key',
    description:
      'Ended renders of the account: how many, how long, and what they cost. Days are those of UTC.',
    tag: 'Account',
    scopes: ['read'],
    query: {
      since: Joi.date()
        .iso()
        .description('Of jobs created at this time or later, ISO 8601. Default: 30 days ago.'),
    },
    responses: {
      200: {
        description: 'Oldest first.',
        schema: named(
          'Usage',
          Joi.object({
            days: Joi.array()
              .items(
                Joi.object({
                  day: Joi.string().required(),
                  keyId: Joi.string().allow(null).required(),
                  completed: count.required(),
                  failures: Joi.object(
                    Object.fromEntries(FAILED_BY.map((by) => [by === 'cancel' ? 'canceled' : by, count])),
                  ).required(),
                  seconds: Joi.number().required(),
                  credits: count.required(),
                }),
              )
              .required(),
          }),
        ),
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: async ({ service, caller: { owner }, query }) => {
      const since = query['since'] as Date | undefined;
      const days = await service.usage({ owner, ...(since && { sinceMs: since.getTime() }) });
      return json(200, {
        days: days.map(({ failures: { cancel, ...failures }, ...day }) => ({
          ...day,
          failures: { ...failures, ...(cancel !== undefined && { canceled: cancel }) },
        })),
      });
    },
  },
];
