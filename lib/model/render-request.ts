import { ScenepressError } from '../base/errors.ts';
import { nearestOf } from '../base/known-options.ts';
import { ASPECT_RATIOS, type AspectRatio, QUALITY_NAMES, type Quality } from './qualities.ts';

/** A client's render request (contract §2.1); `metadata` is any JSON value. */
export interface RenderRequest {
  /** Python source with the scene class in it. */
  code: string;
  /** The scene class to render. */
  className: string;
  /** Default `medium`. */
  quality?: Quality;
  /** Default `16:9`. */
  aspectRatio?: AspectRatio;
  /** Frames per second, an integer of at least 1; default: the quality's own. */
  fps?: number;
  metadata?: unknown;
  /** Receives the outcome; null: no webhook; absent: the API key's default. */
  webhookUrl?: string | null;
}

/** A valid request with its defaults applied. */
export type ValidRenderRequest = RenderRequest & Required<Pick<RenderRequest, 'quality' | 'aspectRatio'>>;

interface Field {
  isValid: (value: unknown) => boolean;
  /** The error when it is not valid, word for word that of contract §7. */
  message: string;
  /** The JSON Schema of its values. */
  schema: Record<string, unknown>;
}

const CLASS_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The fields in the order in which they are checked. Nothing is converted: `"30"` is no `fps`. */
const FIELDS: Record<keyof RenderRequest, Field> = {
  code: {
    isValid: (value) => typeof value === 'string' && value.length > 0,
    message: 'code is required',
    schema: {
      type: 'string',
      description: 'Scene source: imports, helpers and the scene class may all be in it.',
      minLength: 1,
    },
  },
  className: {
    isValid: isClassName,
    message: 'className must be a valid Python identifier',
    schema: {
      type: 'string',
      description: 'The scene class inside `code` to render.',
      pattern: CLASS_NAME.source,
    },
  },
  quality: {
    isValid: (value) => value === undefined || QUALITY_NAMES.includes(value as Quality),
    message: `quality must be one of: ${QUALITY_NAMES.join(', ')}`,
    schema: {
      type: 'string',
      description: 'From the fastest to the one that takes most render time and credits.',
      default: 'medium',
      enum: QUALITY_NAMES,
    },
  },
  aspectRatio: {
    isValid: (value) => value === undefined || ASPECT_RATIOS.includes(value as AspectRatio),
    message: `aspectRatio must be one of: ${ASPECT_RATIOS.join(', ')}`,
    schema: {
      type: 'string',
      description: '`16:9` is landscape, `9:16` portrait.',
      default: '16:9',
      enum: ASPECT_RATIOS,
    },
  },
  fps: {
    isValid: (value) => value === undefined || (Number.isInteger(value) && (value as number) >= 1),
    message: 'fps must be a positive integer',
    schema: {
      type: 'integer',
      description: 'Frames per second. When omitted, the default of the quality.',
      minimum: 1,
    },
  },
  metadata: {
    isValid: () => true,
    message: '',
    schema: { description: 'Stored with the job and echoed back unchanged. Any JSON value.' },
  },
  webhookUrl: {
    isValid: (value) => value === undefined || value === null || isWebhookUrl(value),
    message: 'webhookUrl must be an https:// URL',
    schema: {
      type: ['string', 'null'],
      description: 'Overrides the default webhook URL of the API key for this job; null: no webhook.',
      pattern: '^https://',
    },
  },
};

/** The JSON Schema of a render request. {@link parseRenderRequest} also requires a host in `webhookUrl`. */
export const RENDER_REQUEST_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: Object.fromEntries(Object.entries(FIELDS).map(([name, { schema }]) => [name, schema])),
  required: ['code', 'className'],
  additionalProperties: false,
};

/**
 * Whether a value is a URL with `https://`, a host, and no user or password in it.
 *
 * ```ts
 * isWebhookUrl('https://example.com/hook'); // true
 * isWebhookUrl('http://example.com/hook'); // false
 * ```
 */
export function isWebhookUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !value.startsWith('https://')) return false;
  const url = URL.parse(value);
  return !!url?.hostname && !url.username && !url.password;
}

const NAMES = Object.keys(FIELDS);
const RULES = Object.entries(FIELDS).map(([name, field]) => ({
  name: name as keyof RenderRequest,
  ...field,
}));
const LONGEST_NAME_SHOWN = 80;

/**
 * Validates a request. Error: `invalid_request` for the first violated rule, with the message of contract §7.
 *
 * ```ts
 * const request = parseRenderRequest(JSON.parse(body));
 * await service.enqueue({ ...request, owner: 'ada' });
 * ```
 */
export function parseRenderRequest(value: unknown): ValidRenderRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('A request is an object.');
  const given = value as RenderRequest;
  for (const { name, isValid, message } of RULES) if (!isValid(given[name])) throw invalid(message);
  checkSource(given.code);
  for (const name in given)
    if (!NAMES.includes(name))
      throw invalid(`${name.slice(0, LONGEST_NAME_SHOWN)} is not allowed${hintOf(name)}`);
  const { code, className, quality = 'medium', aspectRatio = '16:9', fps, metadata, webhookUrl } = given;
  const request: ValidRenderRequest = { code, className, quality, aspectRatio };
  if (fps !== undefined) request.fps = fps;
  if (metadata !== undefined) request.metadata = metadata;
  if (webhookUrl !== undefined) request.webhookUrl = webhookUrl;
  return request;
}

function hintOf(name: string): string {
  const nearest = nearestOf(name, NAMES);
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}

/** Error: `invalid_request` for code that is empty or no Unicode. */
export function checkSource(code: string | Uint8Array): void {
  const isSource = typeof code === 'string' || code instanceof Uint8Array;
  if (!isSource || code.length === 0) throw invalid(FIELDS.code.message);
  if (typeof code !== 'string' || code.isWellFormed()) return;
  // Programs that read a file in another encoding make lone surrogates of its bytes.
  const line = code.split('\n').findIndex((text) => !text.isWellFormed()) + 1;
  throw invalid(
    `code is not UTF-8: line ${line} has half of a character, as from a file in another encoding`,
  );
}

/** Whether a job can have this class name (contract §2.1); Python has others. */
export function isClassName(value: unknown): value is string {
  return typeof value === 'string' && CLASS_NAME.test(value);
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
