import { DEFAULT_URL, documentOf, type Json, jsonSchemaOf, operationOf } from './operation.ts';
import { ENDPOINTS, jobBody, TAGS } from './render-endpoints.ts';

const DESCRIPTION = `Renders animation scenes written in Python into video.

**Repeating requests.** Repeat a \`GET\` after a network error or a status of 5xx, with growing delays, for example 1, 2,
4, … seconds, up to five times. A \`POST\` may be repeated likewise if it has an \`Idempotency-Key\`. After 429 and 503,
wait as many seconds as \`Retry-After\` says. Don't repeat requests that got another status of 4xx unchanged.

**Webhooks.** The outcome of a job is sent to its \`webhookUrl\`, or else to the default URL of the API key.`;
const WEBHOOK_HEADERS: Record<string, Json> = {
  'Svc-Event': { required: true, schema: { type: 'string', enum: ['completed', 'failed'] } },
  'Svc-Signature': {
    required: true,
    description:
      '`t=<Unix time in seconds>,v1=<HMAC>`: the HMAC-SHA256, in hexadecimal, of `t`, a full stop and the raw bytes of ' +
      'the body, with the webhook secret of the key. Reject it if `t` differs from the current time by more than 5 minutes.',
    schema: { type: 'string', pattern: '^t=[0-9]+,v1=[0-9a-f]{64}$' },
  },
  'Svc-Redelivery': {
    required: false,
    description: 'Present if an operator sends the delivery again.',
    schema: { type: 'string' },
  },
};

/** What is the same at every address: made once, because it takes milliseconds. */
let described: Json | undefined;

/** The OpenAPI 3.1 document of the render API, generated from the descriptions of its endpoints. */
export function openApiDocument(publicUrl: string = DEFAULT_URL): Json {
  described ??= describe();
  return documentOf(
    { title: 'Scenepress render API', version: '2.0.0', description: DESCRIPTION },
    publicUrl,
    described,
  );
}

function describe(): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const endpoint of ENDPOINTS) {
    const operation = operationOf(endpoint, schemas);
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  return {
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: { renderEnded: { post: webhook(schemas) } },
    components: {
      schemas,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `svc_live_…`.' },
      },
    },
  };
}

function webhook(schemas: Json): Json {
  return {
    operationId: 'renderEnded',
    summary: 'A render ended',
    description:
      'Sent when a job with a webhook URL is `completed` or `failed`. Answer with 2xx within 10 seconds; otherwise it is ' +
      'sent again 30 seconds, 5 minutes and 30 minutes after the end of the preceding attempt, with the same body and ' +
      'a new signature. It may arrive twice: recognize repetitions by `jobId`.',
    tags: ['Renders'],
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, parameter]) => ({
      name,
      in: 'header',
      ...parameter,
    })),
    requestBody: { required: true, content: jsonSchemaOf(jobBody, schemas) },
    responses: {
      '2XX': { description: 'The delivery succeeded.' },
      default: { description: 'The delivery failed and is repeated, three times at most.' },
    },
  };
}
