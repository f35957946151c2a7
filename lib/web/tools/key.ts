import Joi from 'joi';
import { KEY_SCOPES } from '../../keys/key-scopes.ts';
import { errors, named } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolRoute } from './route.ts';

/** The key of a request. */
export const KEY_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/key`,
    operationId: 'getKey',
    summary: 'Get the scopes of the key',
    description: 'What the key of the request may be used for.',
    tag: 'Account',
    scopes: KEY_SCOPES,
    responses: {
      200: {
        description: 'The key, without its secret.',
        schema: named(
          'Key',
          Joi.object({
            keyId: Joi.string().allow(null).required(),
            keyPrefix: Joi.string().allow('').required().description('Safe to show.'),
            scopes: Joi.array()
              .items(Joi.valid(...KEY_SCOPES))
              .required(),
          }),
        ),
      },
      ...errors(401, 403),
    },
    answer: async ({ caller: { keyId, keyPrefix, scopes = KEY_SCOPES } }) =>
      json(200, { keyId, keyPrefix, scopes }),
  },
];
