import type Joi from 'joi';
import type { KeyScope } from '../../keys/key-scopes.ts';
import type { ArtifactLinks } from '../../model/job-json.ts';
import type { Clock } from '../../time/clock.ts';
import type { Caller } from '../caller.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import type { Streams } from './streams.ts';
import type { ToolsService } from './tools-service.ts';

/** The prefix of all routes. */
export const TOOLS_PATH = '/api/tools/v1';

/** A request that has been authenticated, and whose parts are valid. */
export interface ToolCall {
  service: ToolsService;
  caller: Caller;
  /** The placeholders of the path. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** The parsed body; an empty object without one. */
  body: Readonly<Record<string, unknown>>;
  /** The body as it was received. */
  text: string;
  headers: Headers;
  /** The body of a route with `upload`, decompressed, while it is received. */
  content: () => AsyncIterable<Uint8Array>;
  /** Aborted when the client has left. */
  signal: AbortSignal;
  /** Links to artifacts. */
  links: ArtifactLinks;
  /** The URL of a path below {@link TOOLS_PATH}. */
  urlOf: (path: string) => string;
  streams: Streams;
  /** Ends streams of an account's events. */
  stopping: AbortSignal | undefined;
  clock: Clock;
}

/** A call of the tools API: how it is described, and what answers it. */
export interface ToolRoute extends Omit<Endpoint, 'body'> {
  /** A key needs one of these; undefined: no key is needed. */
  scopes: readonly KeyScope[] | undefined;
  body?: {
    /** Of the schema, in the document. */
    name: string;
    schema: Joi.ObjectSchema;
    mostBytes: number;
    /** Whether it may be a form, with contents of files; default false. */
    takesFiles?: boolean;
    /** Whether the request may have none; default false. */
    isOptional?: boolean;
  };
  answer: (call: ToolCall) => Promise<Response>;
}

/** A JSON response. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return jsonText(status, JSON.stringify(value), headers);
}

/** A response with JSON that is text already. */
export function jsonText(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  });
}
