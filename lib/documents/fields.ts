import assert from 'node:assert/strict';
import { isoTime } from '../clock.ts';
import { Flaw } from './document-file.ts';

/** A field of a record and its representation in a file. */
export interface Field<Value> {
  /** The expected value, for the message `must be …`. */
  rule: string;
  accepts(value: unknown): boolean;
  /** Converts an accepted value. */
  read(value: unknown): Value;
  write(value: Value): unknown;
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

const TIME_RULE = 'a time such as "2026-11-22T18:30:00.000Z"';

/** A time in epoch milliseconds, represented as ISO 8601 in UTC. */
export const time: Field<number> = {
  rule: TIME_RULE,
  accepts: isTime,
  read: (value) => Date.parse(value as string),
  write: isoTime,
};

/** A time or null. */
export const timeOrNull: Field<number | null> = {
  rule: `null, or ${TIME_RULE}`,
  accepts: (value) => value === null || isTime(value),
  read: (value) => (value === null ? null : time.read(value)),
  write: (value) => (value === null ? null : isoTime(value)),
};

/** A time, or undefined in the record and null or absent in the file. */
export const timeOrAbsent: Field<number | undefined> = {
  rule: `null, or ${TIME_RULE}`,
  accepts: (value) => value === undefined || timeOrNull.accepts(value),
  read: (value) => timeOrNull.read(value ?? null) ?? undefined,
  write: (value) => timeOrNull.write(value ?? null),
};

/** A text that satisfies a rule. */
export function text(rule: string, keeps: (text: string) => boolean = () => true): Field<string> {
  return {
    rule,
    accepts: (value) => typeof value === 'string' && keeps(value),
    read: (value) => value as string,
    write: (value) => value,
  };
}

/** A text that satisfies a rule, or null. */
export function textOrNull(rule: string, keeps: (text: string) => boolean): Field<string | null> {
  return {
    rule: `null, or ${rule}`,
    accepts: (value) => value === null || (typeof value === 'string' && keeps(value)),
    read: (value) => value as string | null,
    write: (value) => value,
  };
}

/** A text that matches, or undefined in the record and null or absent in the file. */
export function textOrAbsent<Text extends string>(rule: string, pattern: RegExp): Field<Text | undefined> {
  return {
    rule: `null, or ${rule}`,
    accepts: (value) => (value ?? null) === null || (typeof value === 'string' && pattern.test(value)),
    read: (value) => (value ?? undefined) as Text | undefined,
    write: (value) => value,
  };
}

/** A whole number of at least 1, or undefined in the record and null or absent in the file. */
export const countOrAbsent: Field<number | undefined> = {
  rule: 'null, or a whole number of at least 1',
  accepts: (value) => (value ?? null) === null || (Number.isSafeInteger(value) && (value as number) >= 1),
  read: (value) => (value ?? undefined) as number | undefined,
  write: (value) => value,
};

/** Maps names in the file to names and fields of the record. */
export interface Fields<Row> {
  [name: string]: { [Member in keyof Row]-?: readonly [Member, Field<Row[Member]>] }[keyof Row];
}

/** Parses a record; throws a {@link Flaw} that names the invalid field. */
export function readRecord<Row>(fields: Fields<Row>, value: unknown): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Flaw('it must be an object: {…}');
  const found = value as Record<string, unknown>;
  const row: Record<PropertyKey, unknown> = {};
  for (const [name, [member, field]] of Object.entries(fields)) {
    const given = Object.hasOwn(found, name) ? found[name] : undefined;
    if (!field.accepts(given)) {
      throw new Flaw(`"${name}" ${given === undefined ? 'is missing: it ' : ''}must be ${field.rule}`);
    }
    const read = field.read(given);
    if (read !== undefined) row[member] = read;
  }
  for (const name of Object.keys(found)) {
    if (!Object.hasOwn(fields, name)) throw new Flaw(`"${name.slice(0, 80)}" is not a known field`);
  }
  return row as Row;
}

/** Asserts that a record can be read back after writing. */
export function assertRecord<Row>(fields: Fields<Row>, row: Row): void {
  for (const [name, value] of Object.entries(writtenRecord(fields, row))) {
    const [member, { accepts, rule }] = fields[name] as Fields<Row>[string];
    assert(accepts(value), `${String(member)} must be ${rule}`);
  }
}

/** The representation of a record in a file. */
export function writtenRecord<Row>(fields: Fields<Row>, row: Row): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [name, [member, field]] of Object.entries(fields)) {
    written[name] = (field as Field<unknown>).write(row[member]);
  }
  return written;
}
