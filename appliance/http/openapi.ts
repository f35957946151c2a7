import type Joi from 'joi';
import { ENDPOINTS, type Endpoint } from './render-api/endpoints.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the render API, generated from the descriptions of its endpoints. */
export function openApiDocument(publicUrl?: string): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const endpoint of ENDPOINTS) {
    const operation = operationOf(endpoint, schemas);
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
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
    components: { schemas, securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  };
}

/** The OpenAPI operation of an endpoint; adds its schemas to `schemas`. */
function operationOf({ operationId, summary, params, body, responses }: Endpoint, schemas: Json): Json {
  const parameters = Object.entries(params ?? {}).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  return {
    operationId,
    summary,
    ...(params && { parameters }),
    ...(body && { requestBody: { required: true, content: jsonContent(body.name, body.schema, schemas) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { description, schema, headers }]) => [
        status,
        {
          description,
          ...(headers && { headers: integerHeaders(headers) }),
          content: responseContent(schema, schemas),
        },
      ]),
    ),
  };
}

function integerHeaders(headers: Record<string, string>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'integer' } },
    ]),
  );
}

function responseContent(schema: Joi.Schema, schemas: Json): Json {
  const { name } = (schema.describe() as { metas: [{ name: string }] }).metas[0];
  return jsonContent(name, schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), schemas);
}

function jsonContent(name: string, schema: object, schemas: Json): Json {
  schemas[name] = schema;
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}
