import Joi from 'joi';
import { ScenepressError } from '../errors.ts';
import { ASPECT_RATIOS, type AspectRatio, QUALITIES, type Quality } from './job.ts';

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

const CLASS_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function says(message: string): Record<string, string> {
  return { '*': message };
}

/** `https://`, a host, and no user or password in it. */
export function isWebhookUrl(value: string): boolean {
  const url = URL.parse(value);
  return value.startsWith('https://') && !!url?.hostname && !url.username && !url.password;
}

function assertWebhookUrl(value: string): string {
  if (!isWebhookUrl(value)) throw new Error('not an https:// URL');
  return value;
}

/**
 * The schema of a render request, in the order in which its fields are checked. Its messages are the contract's
 * (§7), word for word. Nothing is converted: `"30"` is no `fps`.
 */
export const renderRequestSchema: Joi.ObjectSchema<RenderRequest> = Joi.object<RenderRequest>({
  code: Joi.string()
    .required()
    .messages(says('code is required'))
    .description('Scene source: imports, helpers and the scene class may all be in it.'),
  className: Joi.string()
    .pattern(CLASS_NAME)
    .required()
    .messages(says('className must be a valid Python identifier'))
    .description('The scene class inside `code` to render.'),
  quality: Joi.string()
    .valid(...QUALITIES)
    .default('medium')
    .messages(says(`quality must be one of: ${QUALITIES.join(', ')}`))
    .description('`low` and `medium` are fastest; `twok` and `fourk` cost more render time and credits.'),
  aspectRatio: Joi.string()
    .valid(...ASPECT_RATIOS)
    .default('16:9')
    .messages(says(`aspectRatio must be one of: ${ASPECT_RATIOS.join(', ')}`))
    .description('`16:9` is landscape, `9:16` portrait.'),
  fps: Joi.number()
    .unsafe()
    .integer()
    .min(1)
    .messages(says('fps must be a positive integer'))
    .description('Frames per second. When omitted, the default of the quality.'),
  metadata: Joi.any().description('Stored with the job and echoed back unchanged. Any JSON value.'),
  webhookUrl: Joi.string()
    .pattern(/^https:\/\//)
    .custom(assertWebhookUrl)
    .allow(null)
    .messages(says('webhookUrl must be an https:// URL'))
    .description('Overrides the default webhook URL of the API key for this job; null: no webhook.'),
});

/** Set once: passed to `validate`, joi would merge the options on each call. */
const strictSchema = renderRequestSchema.prefs({ convert: false, abortEarly: true });

/** A valid request with its defaults applied. */
export type ValidRenderRequest = RenderRequest & Required<Pick<RenderRequest, 'quality' | 'aspectRatio'>>;

const LONGEST_NAME_SHOWN = 80;

/** Fast path: validates common requests in a tenth of the schema's time. Undefined when the schema must decide. */
function plainlyValid(value: unknown): ValidRenderRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // The spread below would drop inherited properties.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const request = { quality: 'medium', aspectRatio: '16:9', ...value } as ValidRenderRequest;
  for (const name in request) if (!FIELDS.has(name)) return undefined;
  const { code, className, quality, aspectRatio, fps, webhookUrl } = request;
  return typeof code === 'string' &&
    code.length > 0 &&
    typeof className === 'string' &&
    CLASS_NAME.test(className) &&
    QUALITIES.includes(quality) &&
    ASPECT_RATIOS.includes(aspectRatio) &&
    (fps === undefined || (Number.isInteger(fps) && fps >= 1)) &&
    (webhookUrl === undefined || webhookUrl === null)
    ? request
    : undefined;
}

const FIELDS = new Set(Object.keys(renderRequestSchema.describe()['keys'] as object));

/** Validates a request. Error: `invalid_request` for the first violated rule, with the message of contract §7. */
export function parseRenderRequest(value: unknown): ValidRenderRequest {
  const plain = plainlyValid(value);
  if (plain) return plain;
  // joi would treat a property of this name as the prototype.
  const hasProto = Object.hasOwn(Object(value), '__proto__');
  const own = hasProto
    ? Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== '__proto__'))
    : value;
  const { error, value: request } = strictSchema.validate(own);
  if (!error && hasProto) throw notAllowed('__proto__');
  if (!error) return request as ValidRenderRequest;
  const detail = error.details[0];
  if (detail?.type === 'object.unknown') throw notAllowed(String(detail.context?.key));
  throw new ScenepressError('invalid_request', detail?.message ?? error.message);
}

function notAllowed(name: string): ScenepressError {
  return new ScenepressError('invalid_request', `${name.slice(0, LONGEST_NAME_SHOWN)} is not allowed`);
}
