import Joi from 'joi';
import { QUALITY_NAMES } from '../../../lib/internal.ts';

/** A schema for each member of a type; the compiler reports one that is missing, and one that does not exist. */
export type Members<T> = { [Name in keyof T]-?: Joi.Schema };

/** An object with these members and no others. All are required, except those that are marked as optional. */
export function object<T extends object>(members: Members<T>): Joi.ObjectSchema {
  const all = Object.entries<Joi.Schema>(members).map(([name, schema]) => [name, required(schema)]);
  return Joi.object(Object.fromEntries(all));
}

function required(schema: Joi.Schema): Joi.Schema {
  const { presence } = (schema.describe().flags ?? {}) as { presence?: string };
  return presence === 'optional' ? schema : schema.required();
}

/** An object with members of any names. */
export function record(value: Joi.Schema): Joi.ObjectSchema {
  return Joi.object().pattern(Joi.string(), value);
}

export function list(items: Joi.Schema): Joi.ArraySchema {
  return Joi.array().items(items);
}

/** One of the values of a type; the compiler reports one that is missing. */
export function oneOf<T extends string>(values: Record<T, true>): Joi.StringSchema {
  return Joi.string().valid(...Object.keys(values));
}

/** Null, or what the schema permits. A list of values with null in it would be a schema that contradicts itself. */
export function orNull(schema: Joi.Schema): Joi.AlternativesSchema {
  return Joi.alternatives(schema, Joi.valid(null));
}

/** Text, which may be empty. */
export const text: Joi.StringSchema = Joi.string().allow('');
export const number: Joi.NumberSchema = Joi.number();
/** A whole number of at least 0. */
export const count: Joi.NumberSchema = Joi.number().integer().min(0);
/** ISO 8601, UTC. */
export const time: Joi.StringSchema = Joi.string().isoDate();
export const yes: Joi.BooleanSchema = Joi.boolean();

export const quality: Joi.StringSchema = Joi.string().valid(...QUALITY_NAMES);
