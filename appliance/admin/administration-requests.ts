import Joi from 'joi';
import type { JobStatus, Quality } from '../../lib/index.ts';
import {
  type AccountRole,
  areScopes,
  type DeliveryState,
  type Identity,
  isWebhookUrl,
  KEY_SCOPES,
  type KeyScope,
  QUALITY_NAMES,
  ScenepressError,
} from '../../lib/internal.ts';

/** `https://…`, or null. */
export const webhookUrl: Joi.StringSchema = Joi.string()
  .custom((value: string, { error }) => (isWebhookUrl(value) ? value : error('any.invalid')))
  .allow(null)
  .messages({ '*': 'The webhook URL must be an https:// URL without user name and password.' });

interface KeyRequest {
  name: string;
  webhookUrl: string | null;
  scopes: readonly KeyScope[];
  expires: string | null;
}

export const keyRequest: Joi.ObjectSchema<KeyRequest> = Joi.object<KeyRequest>({
  name: Joi.string()
    .trim()
    .min(1)
    .max(100)
    .required()
    .messages({ '*': 'A key needs a name of 1 to 100 characters.' }),
  webhookUrl: webhookUrl.default(null),
  scopes: Joi.any()
    .custom((value: unknown, { error }) => (areScopes(value) ? value : error('any.invalid')))
    .default(() => KEY_SCOPES)
    .messages({ '*': `A key needs at least one of the scopes ${KEY_SCOPES.join(', ')}, each once.` }),
  expires: Joi.string()
    .trim()
    .max(100)
    .allow(null)
    .default(null)
    .messages({ '*': 'The expiry of a key must be a text.' }),
});

/** A person at an issuer; its texts are checked where it is stored. */
export const accountIdentity: Joi.ObjectSchema<Identity | null> = Joi.object<Identity | null>({
  issuer: Joi.string().allow('').required(),
  subject: Joi.string().allow('').required(),
})
  .allow(null)
  .required()
  .messages({ '*': 'An identity has an issuer and a subject.' });

/** The most credits of one grant: sums of thousands of grants are still exact. */
export const MOST_GRANTED = 1_000_000_000_000;

export const amount: Joi.NumberSchema = Joi.number()
  .integer()
  .min(1)
  .max(MOST_GRANTED)
  .required()
  .messages({
    '*': `Credits must be a whole number from 1 to ${MOST_GRANTED.toLocaleString('en')}.`,
  });

export const idempotencyKey: Joi.StringSchema<string | undefined> = Joi.string<string | undefined>()
  .min(1)
  .max(255)
  .messages({ '*': 'An idempotency key has 1 to 255 characters.' });

export const MOST_LINES = 10_000;
export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;

export const listLimit: Joi.NumberSchema = Joi.number()
  .integer()
  .min(1)
  .max(MOST_LINES)
  .default(50)
  .messages({ '*': `The limit must be a whole number from 1 to ${MOST_LINES}.` });

export const jobStatus: Joi.StringSchema<JobStatus> = Joi.string<JobStatus>()
  .valid(...JOB_STATUSES)
  .messages({ '*': `The status must be one of ${JOB_STATUSES.join(', ')}.` });

/** ISO 8601; in milliseconds when checked. */
export const time: Joi.Schema<number> = Joi.custom((value: unknown) => {
  const ms = Date.parse(String(value));
  if (Number.isNaN(ms)) throw new Error('not a time');
  return ms;
})
  .required()
  .messages({ '*': 'A time is written as 2026-11-22T18:30:00Z.' });

export const optionalTime: Joi.Schema<number | undefined> = time.optional();

export const quality: Joi.StringSchema<Quality> = Joi.string<Quality>()
  .valid(...QUALITY_NAMES)
  .messages({ '*': `The quality must be one of ${QUALITY_NAMES.join(', ')}.` });

/** The text of an error to search for. */
export const errorText: Joi.StringSchema = Joi.string()
  .max(200)
  .messages({ '*': 'The text of an error must have at most 200 characters.' });

/** A part of e-mail addresses. */
export const addressText: Joi.StringSchema = Joi.string()
  .allow('')
  .max(254)
  .messages({ '*': 'A part of an e-mail address must have at most 254 characters.' });

/** The id of the last row of a page. */
export const placeInList: Joi.StringSchema = Joi.string()
  .max(300)
  .messages({ '*': 'A list continues after the id of a row.' });

/** The name of the last file of a page. */
export const nameInList: Joi.StringSchema = Joi.string()
  .max(512)
  .messages({ '*': 'A list of files continues after the name of one.' });

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

export const deliveryState: Joi.StringSchema<DeliveryState> = Joi.string<DeliveryState>()
  .valid(...DELIVERY_STATES)
  .messages({ '*': `The state of a delivery must be one of ${DELIVERY_STATES.join(', ')}.` });

export const MOST_DAYS = 366;

export const days: Joi.NumberSchema = Joi.number()
  .integer()
  .min(1)
  .max(MOST_DAYS)
  .default(30)
  .messages({ '*': `The number of days must be a whole number from 1 to ${MOST_DAYS}.` });

export const accountRole: Joi.StringSchema<AccountRole | undefined> = Joi.string<AccountRole | undefined>()
  .valid('admin', 'member')
  .messages({ '*': 'A role is admin or member.' });

/** The value as converted by its schema. Errors: `invalid_request` with the schema's message. */
export function check<T>(schema: Joi.Schema<T>, value: unknown): T {
  const result = schema.validate(value);
  if (result.error) throw new ScenepressError('invalid_request', result.error.message);
  return result.value as T;
}
