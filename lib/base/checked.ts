import { inspect } from 'node:util';
import Joi from 'joi';
import { ScenepressError } from './errors.ts';
import { unknownOption } from './known-options.ts';
import { isStorableText } from './storable-text.ts';

/** A schema for each option: the compiler reports one that is missing, and one that does not exist. */
export type Schemas<Options> = { readonly [Name in keyof Required<Options>]: Joi.Schema };

export const COUNT: Joi.NumberSchema = Joi.number().integer().min(1);
export const POSITIVE: Joi.NumberSchema = Joi.number().greater(0);
/** Infinity: no limit. */
export const LIMIT: Joi.NumberSchema = Joi.number().min(0).allow(Number.POSITIVE_INFINITY);
/** A text that all databases keep. */
export const TEXT: Joi.Schema = Joi.string()
  .allow('')
  .custom((value: string, { message }) =>
    isStorableText(value)
      ? value
      : message({ custom: '{{#label}} must be a string of well-formed Unicode without NUL' }),
  );

const PREFERENCES: Joi.ValidationOptions = {
  abortEarly: false,
  convert: false,
  errors: { wrap: { label: false } },
  messages: {
    'any.required': '{{#label}} must be given',
    'number.infinity': '{{#label}} must be finite',
    'string.empty': '{{#label}} must not be empty',
    'array.min': '{{#label}} must have {{#limit}} or more items',
  },
};

/** A group of options, with defaults for those that are absent or undefined. */
export function group<Options extends object>(
  schemas: Schemas<Options>,
  defaults: Options,
): Joi.ObjectSchema<Options> {
  const withDefaults = Object.entries<Joi.Schema>(schemas).map(([name, schema]) => {
    const value = defaults[name as keyof Options];
    return [name, value === undefined ? schema : schema.default(value)];
  });
  return Joi.object(Object.fromEntries(withDefaults)).default();
}

/** An object with these methods. Its content is not shown in messages: it may be secret. */
export function having(noun: string, methods: readonly string[]): Joi.Schema {
  return Joi.any().custom((value: Record<string, unknown> | null, { message }) => {
    const lacking = methods.filter((method) => typeof value?.[method] !== 'function');
    if (lacking.length === 0) return value;
    const given =
      typeof value === 'object' && value !== null
        ? `an instance of ${value.constructor?.name ?? 'Object'}`
        : `a value of the type ${typeof value}`;
    const rule = `${noun}; what was given, ${given}, has no ${lacking.join(', ')}`;
    return message({ custom: '{{#label}} must be {{#rule}}' }, { rule });
  });
}

/**
 * Options or a query, checked, with defaults; nothing is converted. Error: `invalid_request`, which names the first part
 * that does not exist or that its schema refuses.
 *
 * @param taker what takes the options, for the error
 */
export function checked<Options extends object>(
  taker: string,
  given: unknown,
  schema: Joi.ObjectSchema<Options>,
): Options {
  const { error, value } = schema.validate(given, PREFERENCES);
  if (error === undefined) return value;
  const { details } = error;
  const flaw = details.find(({ type }) => type === 'object.unknown') ?? details[0];
  const { type, path, message, context } = flaw as Joi.ValidationErrorItem;
  if (type === 'object.unknown') {
    const above = path.slice(0, -1);
    throw unknownOption(above.join('.') || taker, String(path.at(-1)), namesOf(schema, above));
  }
  if (path.length === 0)
    throw new ScenepressError(
      'invalid_request',
      `${taker} takes its options as an object: { ${namesOf(schema).join(', ')} }.`,
    );
  const isShown = !['custom', 'any.required', 'string.empty'].includes(type);
  const shown = inspect(context?.value, {
    depth: 0,
    maxStringLength: 80,
    breakLength: Number.POSITIVE_INFINITY,
  });
  throw new ScenepressError('invalid_request', `${message}${isShown ? `, not ${shown}` : ''}.`);
}

/** As Joi describes a schema. */
interface Described {
  keys?: Record<string, Described>;
  items?: Described[];
}

/** The names of the members of a part; Joi's `extract` does not reach the items of lists. */
function namesOf(schema: Joi.Schema, path: readonly (string | number)[] = []): string[] {
  let part: Described | undefined = schema.describe() as Described;
  for (const step of path) part = typeof step === 'number' ? part?.items?.[0] : part?.keys?.[step];
  return Object.keys(part?.keys ?? {});
}
