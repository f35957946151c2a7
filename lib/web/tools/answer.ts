import Joi from 'joi';
import { checked } from '../../base/checked.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { ArtifactLinks } from '../../model/job-json.ts';
import type { Clock } from '../../time/clock.ts';
import { type Authenticate, bearerTokenOf, type Caller } from '../caller.ts';
import { HttpRejection, nothingHere, unauthorized } from '../http-errors.ts';
import { bodyRequired, decodeUtf8, parseObject } from '../request-body.ts';
import { hasScope } from '../scopes.ts';
import { toolsDocument } from './document.ts';
import { isForm, type ReceivedForm, receiveForm } from './form.ts';
import { json, TOOLS_PATH, type ToolRoute } from './route.ts';
import { routeOf } from './routes.ts';
import type { Streams } from './streams.ts';
import type { ToolsService } from './tools-service.ts';

/** What the tools API needs of the server that it is mounted in. */
export interface ToolsContext {
  service: ToolsService;
  authenticate: Authenticate;
  links: ArtifactLinks;
  /** Where {@link TOOLS_PATH} is, without a trailing slash. */
  baseUrl: string;
  /** Reads the body, decompressed. Error: 413 beyond so many bytes. */
  readBody: (mostBytes: number) => Promise<Uint8Array | undefined>;
  /** The body, decompressed, while it is received. */
  openBody: () => AsyncIterable<Uint8Array>;
  streams: Streams;
  /** Ends streams of an account's events, before the server stops; other waits end with the service. */
  stopping?: AbortSignal | undefined;
  clock: Clock;
}

/** The caller of a route that needs no key. */
const ANYBODY: Caller = { owner: '', keyId: null, keyPrefix: '', webhookUrl: null };

/** Whether a path belongs to the tools API. */
export function isOfTools([api, tools]: readonly string[]): boolean {
  return api === 'api' && tools === 'tools';
}

/** Answers a request to the tools API. Rejects with errors for {@link answerTo}. */
export async function answerTool(
  request: Request,
  segments: readonly string[],
  context: ToolsContext,
): Promise<Response> {
  const { method, headers } = request;
  if (method === 'GET' && `/${segments.join('/')}` === `${TOOLS_PATH}/openapi.json`)
    return json(200, toolsDocument(context.baseUrl));
  const found = routeOf(method, segments);
  const caller = found && !found.route.scopes ? ANYBODY : await callerOf(headers, context.authenticate);
  // Without a live key, existing and unknown paths get the same response.
  if (!found) throw nothingHere();
  const { route, params } = found;
  if (route.scopes && !hasScope(caller, ...route.scopes)) throw insufficientScope(route);
  const query = queryOf(new URL(request.url).searchParams, route);
  const form = await formOf(route, headers, context);
  try {
    const text = form?.text ?? (route.body ? await textOf(route.body, context) : '');
    const body =
      route.body && text !== '' ? checked('The request', parseObject(text), route.body.schema) : {};
    const { service, links, baseUrl, streams, stopping, clock, openBody: content } = context;
    return await route.answer({
      ...{ service, caller, params, query, text, headers, content, links, streams, stopping, clock },
      signal: request.signal,
      body: form ? { ...body, files: form.files((body as { files?: Record<string, string> }).files) } : body,
      urlOf: (path) => `${baseUrl}${TOOLS_PATH}${path}`,
    });
  } finally {
    await form?.end();
  }
}

/** The form with the files of a request; undefined: it is JSON. */
async function formOf(
  { body }: ToolRoute,
  headers: Headers,
  { openBody }: ToolsContext,
): Promise<ReceivedForm | undefined> {
  const contentType = headers.get('content-type');
  if (!body?.takesFiles || !isForm(contentType)) return undefined;
  return receiveForm(openBody(), { contentType, mostBytes: body.mostBytes });
}

async function callerOf(headers: Headers, authenticate: Authenticate): Promise<Caller> {
  const token = bearerTokenOf(headers.get('authorization'));
  const caller = token === undefined ? null : await authenticate(token);
  if (!caller) throw unauthorized();
  return caller;
}

function insufficientScope({ scopes = [] }: ToolRoute): HttpRejection {
  const needed = scopes.join(' or ');
  const message = `This key does not have the scope ${needed}. Use another key, or ask for one that has it.`;
  return new HttpRejection(403, { error: 'insufficient_scope', message });
}

/** The parameters of the query, converted. Error: `invalid_request`. */
function queryOf(given: URLSearchParams, { query = {} }: ToolRoute): Record<string, unknown> {
  const { error, value } = Joi.object(query).validate(Object.fromEntries(given), {
    errors: { wrap: { label: false } },
  });
  if (error) throw new ScenepressError('invalid_request', `${error.message}.`);
  return value as Record<string, unknown>;
}

async function textOf(
  { mostBytes, isOptional }: NonNullable<ToolRoute['body']>,
  { readBody }: ToolsContext,
): Promise<string> {
  const bytes = await readBody(mostBytes);
  if (bytes && bytes.length > 0) return decodeUtf8(bytes);
  if (isOptional) return '';
  throw bodyRequired();
}
