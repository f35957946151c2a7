import type Joi from 'joi';
import type { Endpoint } from './endpoint.ts';

export type Json = Record<string, unknown>;

/** Where a service listens by default. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** A document, with what is the same at every address. */
export function documentOf(
  info: { title: string; version: string; description: string },
  publicUrl: string,
  described: Json,
): Json {
  return {
    openapi: '3.1.0',
    info: {
      ...info,
      contact: { name: 'The operator of the service', url: publicUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl, description: 'The service that this document comes from.' }],
    ...described,
  };
}

/** The OpenAPI operation of an endpoint; adds its schemas to `schemas`. */
export function operationOf(endpoint: Endpoint, schemas: Json): Json {
  const {
    operationId,
    summary,
    description,
    tag,
    params = {},
    query = {},
    headers = {},
    body,
    upload,
    responses,
  } = endpoint;
  const parameters = [
    ...Object.entries(params).map(([name, description]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    ...Object.entries(query).map(([name, schema]) => ({
      name,
      in: 'query',
      required: (schema.describe().flags as { presence?: string } | undefined)?.presence === 'required',
      description: (schema.describe().flags as { description?: string } | undefined)?.description ?? '',
      schema: schemaOf(schema),
    })),
    ...Object.entries(headers).map(([name, { description, ...schema }]) => ({
      name,
      in: 'header',
      description,
      schema,
    })),
  ];
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(upload && {
      requestBody: {
        ...upload,
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          ...jsonContent(body.name, body.schema, schemas),
          ...(body.takesFiles && formContent(body.name, schemas)),
        },
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { description, schema, headers, media = [] }]) => [
        status,
        {
          description,
          ...(headers && { headers: integerHeaders(headers) }),
          ...((schema || media.length > 0) && {
            content: {
              ...(schema && jsonSchemaOf(schema, schemas)),
              ...Object.fromEntries(media.map((type) => [type, {}])),
            },
          }),
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

/** The content of a JSON response; adds its schema to `schemas`. */
export function jsonSchemaOf(schema: Joi.Schema, schemas: Json): Json {
  return jsonContent(nameOf(schema), schemaOf(schema), schemas);
}

/** The name of a named schema. */
function nameOf(schema: Joi.Schema): string {
  // A schema that is derived from another one has the name of that, too.
  return (schema.describe() as { metas: { name: string }[] }).metas.at(-1)?.name ?? '';
}

function schemaOf(schema: Joi.Schema): object {
  return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
}

function jsonContent(name: string, schema: object, schemas: Json): Json {
  schemas[name] = withoutDefaults(schema);
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}

/** A form with a request, and with files under the names by which scenes find them; adds its schema to `schemas`. */
function formContent(name: string, schemas: Json): Json {
  const form = `${name}WithFiles`;
  schemas[form] = {
    type: 'object',
    properties: { request: { $ref: `#/components/schemas/${name}` } },
    required: ['request'],
    additionalProperties: { type: 'string', format: 'binary' },
  };
  const schema = { $ref: `#/components/schemas/${form}` };
  return { 'multipart/form-data': { schema, encoding: { request: { contentType: 'application/json' } } } };
}

/** Says defaults in words: generators of clients take properties with `default` for required ones. */
function withoutDefaults(schema: object): object {
  const {
    properties,
    default: value,
    ...rest
  } = schema as { properties?: Json; default?: unknown; description?: string };
  if (value !== undefined) rest.description = `${rest.description} Default: \`${value}\`.`;
  if (!properties) return rest;
  const entries = Object.entries(properties).map(([name, each]) => [name, withoutDefaults(each as object)]);
  return { ...rest, properties: Object.fromEntries(entries) };
}
