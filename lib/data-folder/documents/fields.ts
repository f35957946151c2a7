import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import Joi from 'joi';
import { isoTime } from '../../time/clock.ts';
import { Flaw } from './document-file.ts';

/** A field of a record and its representation in a file. */
export interface Field<Value> {
  /** The expected value, for the message `must be …`. */
  rule: string;
  /** Accepts the value in the file, and makes that of the record. */
  schema: Joi.Schema;
  write(value: Value): unknown;
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A time in epoch milliseconds, represented as ISO 8601 in UTC. */
export const time: Field<number> = {
  rule: 'a time such as "2026-11-22T18:30:00.000Z"',
  schema: Joi.string()
    .pattern(TIME)
    .custom((text: string, { error }) => {
      const epochMs = Date.parse(text);
      return Number.isNaN(epochMs) ? error('any.invalid') : epochMs;
    })
    .required(),
  write: isoTime,
};

export const count: Field<number> = {
  rule: 'a whole number of at least 1',
  schema: Joi.number().integer().min(1).required(),
  write: (value) => value,
};

/** A text that satisfies a rule. */
export function text<Text extends string>(
  rule: string,
  keeps: (text: string) => boolean = () => true,
): Field<Text> {
  const schema = Joi.string().allow('').required();
  return {
    rule,
    schema: schema.custom((text: string, { error }) => (keeps(text) ? text : error('any.invalid'))),
    write: (value) => value,
  };
}

/** A field that may be null. */
export function orNull<Value>({ rule, schema, write }: Field<Value>): Field<Value | null> {
  return {
    rule: `null, or ${rule}`,
    schema: schema.allow(null),
    write: (value) => (value === null ? null : write(value)),
  };
}

/** A field that is undefined in the record, and null or absent in the file; `written`: as which it is written. */
export function orAbsent<Value>(
  { rule, schema, write }: Field<Value>,
  written?: null,
): Field<Value | undefined> {
  return {
    rule: `null, or ${rule}`,
    schema: schema.optional().empty(null),
    write: (value) => (value === undefined ? written : write(value)),
  };
}

/** A field that earlier versions did not write: null or absent in the file where the record has `value`. */
export function orElse<Value>(
  { rule, schema, write }: Field<NonNullable<Value>>,
  value: Value,
): Field<Value> {
  return {
    rule: `null, or ${rule}`,
    schema: schema
      .optional()
      .empty(null)
      .default(() => value),
    write: (written) =>
      written === null || written === undefined || isDeepStrictEqual(written, value)
        ? undefined
        : write(written),
  };
}

/** Maps names in the file to names and fields of the record. */
type FieldMap<Row> = Record<
  string,
  { [Member in keyof Row]-?: readonly [Member, Field<Row[Member]>] }[keyof Row]
>;

/** The fields of a record. */
export class Fields<Row> {
  readonly #fields: readonly (readonly [name: string, member: keyof Row & string, field: Field<unknown>])[];
  readonly #schema: Joi.ObjectSchema<Record<string, unknown>>;

  constructor(fields: FieldMap<Row>) {
    this.#fields = Object.entries(fields).map(([name, [member, field]]) => [
      name,
      member as keyof Row & string,
      field as Field<unknown>,
    ]);
    const schemas = this.#fields.map(([name, , { rule, schema }]) => {
      const messages = {
        '*': `"${name}" must be ${rule}`,
        'any.required': `"${name}" is missing: it must be ${rule}`,
      };
      return [name, schema.messages(messages)];
    });
    this.#schema = Joi.object(Object.fromEntries(schemas)).required();
  }

  /** Parses a record; throws a {@link Flaw} that names the invalid field. */
  read(value: unknown): Row {
    const { error, value: found } = this.#schema.validate(value, { convert: false });
    const flaw = error?.details[0];
    if (flaw?.path.length === 0) throw new Flaw('it must be an object: {…}');
    if (flaw?.type === 'object.unknown')
      throw new Flaw(`"${String(flaw.path.at(-1)).slice(0, 80)}" is not a known field`);
    if (flaw) throw new Flaw(flaw.message);
    const members = this.#fields.map(([name, member]) => [member, found?.[name]]);
    return Object.fromEntries(members.filter(([, read]) => read !== undefined)) as Row;
  }

  /** The representation of a record in a file. */
  written(row: Row): Record<string, unknown> {
    return Object.fromEntries(this.#fields.map(([name, member, field]) => [name, field.write(row[member])]));
  }

  /** Asserts that a record can be read back after writing. */
  assert(row: Row): void {
    const { error } = this.#schema.validate(this.written(row), { convert: false });
    assert(error === undefined, error?.message);
  }
}
