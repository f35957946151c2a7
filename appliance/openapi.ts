import type Joi from 'joi';
import { ENDPOINTS, type Endpoint } from './render-api/endpoints.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the render API, made from the schemas that its requests are checked with. */
export function openApiDocument(publicUrl?: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of ENDPOINTS) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Scenepress render API',
      version: '2.0.0',
      description: 'Renders animation scenes written in Python into video.',
    },
    ...(publicUrl && { servers: [{ url: publicUrl }] }),
    security: [{ apiKey: [] }],
    paths,
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  };
}

function operationOf({ operationId, summary, params, body, responses }: Endpoint): Json {
  return {
    operationId,
    summary,
    ...(params && {
      parameters: Object.entries(params).map(([name, description]) => ({
        name,
        in: 'path',
        required: true,
        description,
        schema: { type: 'string' },
      })),
    }),
    ...(body && { requestBody: { required: true, content: jsonContent(body) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { description, schema }]) => [
        status,
        { description, content: jsonContent(schema) },
      ]),
    ),
  };
}

function jsonContent(schema: Joi.Schema): Json {
  return {
    'application/json': { schema: schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) },
  };
}
