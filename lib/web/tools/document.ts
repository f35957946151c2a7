import type { Endpoint } from '../openapi/endpoint.ts';
import { linkedSchemas } from '../openapi/linked-schemas.ts';
import { DEFAULT_URL, documentOf, type Json, jsonSchemaOf, operationOf } from '../openapi/operation.ts';
import { PARTS } from './fields.ts';
import { TOOL_ROUTES } from './routes.ts';
import { SCENE_PARTS } from './scene-fields.ts';

const DESCRIPTION = `What programs that write scenes need beside the render API: checks, pictures, lists, waits, events and
batches. The keys are those of the render API; a key may be limited to the scopes \`render\`, \`check\` and \`read\`.

Requests that fail are answered as there: \`{ error, message }\`. Repeat a \`GET\` after a network error or a status of
5xx, and a \`POST\` with an \`Idempotency-Key\`, with growing delays; after 429 and 503 wait as many seconds as
\`Retry-After\` says.`;
const TAGS = {
  Scenes: 'Checks and pictures, without a job.',
  Renders: 'What adds jobs.',
  Jobs: 'Jobs that there are.',
  Files: 'Files of the account, which its scenes read.',
  'Kept scenes': 'Scenes that the account keeps as documents, with drafts and versions.',
  Assignments: 'Links under which others get code as a scene of their own.',
  Shares: 'Addresses at which people watch videos without an account.',
  Account: 'The account behind an API key.',
};

/** What is the same at every address: made once, because it takes milliseconds. */
let described: Json | undefined;

/** The OpenAPI 3.1 document of the tools API. */
export function toolsDocument(publicUrl: string = DEFAULT_URL): Json {
  described ??= describe();
  return documentOf(
    { title: 'Scenepress tools API', version: '1.0.0', description: DESCRIPTION },
    publicUrl,
    described,
  );
}

/** Of what runs a scene. */
const TRACE_HEADER: NonNullable<Endpoint['headers']> = {
  traceparent: { description: 'The trace that the request belongs to (W3C Trace Context).', type: 'string' },
};

function describe(): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const part of [...PARTS, ...SCENE_PARTS]) jsonSchemaOf(part, schemas);
  for (const { scopes, body, answer: _, ...route } of TOOL_ROUTES) {
    const endpoint: Endpoint = {
      ...route,
      headers: { ...route.headers, ...(body?.takesFiles && TRACE_HEADER) },
      ...(body && {
        body: {
          name: body.name,
          takesFiles: body.takesFiles,
          schema: body.schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }),
        },
      }),
    };
    const operation = operationOf(endpoint, schemas);
    if (body?.isOptional)
      operation['requestBody'] = { ...(operation['requestBody'] as Json), required: false };
    if (!scopes) operation['security'] = [];
    else operation['description'] = `${route.description} Needs the scope ${scopes.join(' or ')}.`;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  return {
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: linkedSchemas(schemas),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `svc_live_…`.' },
      },
    },
  };
}
