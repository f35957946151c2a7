import Joi from 'joi';
import type { Quality, Role } from '../../lib/index.ts';
import { assertNetworks, assertSchedule, QUALITY_NAMES, ROLES } from '../../lib/internal.ts';

/** The values of each type of option, apart from `choice`, whose row lists them. */
export interface OptionValues {
  /** A path of a file that must be readable, unless the row says `mayBeMissing`. */
  file: string;
  /** As `file`. */
  folder: string;
  host: string;
  url: string;
  endpoint: string;
  issuer: string;
  postgresUrl: string;
  schemaName: string;
  machineName: string;
  bucket: string;
  keyPrefix: string;
  region: string;
  word: string;
  command: string;
  token: string;
  password: string;
  emailAddress: string;
  masterKey: string;
  cronPattern: string;
  /** An integer of at least 1, or `min`. */
  count: number;
  /** A number of at least 0. */
  amount: number;
  /** A number above 0. */
  positive: number;
  /** True if its flag is given; the flag has no value. */
  switch: boolean;
  boolean: boolean;
  choice: string;
  origins: string[];
  networks: string[];
  prices: Record<Quality, number>;
  roles: Role[];
  qualities: Quality[];
}

export interface OptionType {
  /** Allowed values, as they follow "must be" in error messages. */
  allowed: string;
  /** Placeholder of the value in `--help`; absent for a switch. */
  value?: string;
  schema: Joi.Schema;
  /** Hides the secret part of a value. */
  shown?: (value: string) => string;
}

/** What narrows the values of a type. */
export interface Range {
  min?: number;
  max?: number;
  of?: readonly string[];
}

/** The type of an option. */
export function optionType(name: keyof OptionValues, range: Range): OptionType {
  if (name === 'count') return count(range);
  if (name === 'choice') return choice(range.of ?? []);
  return TYPES[name];
}

function count({ min = 1, max }: Range): OptionType {
  const schema = Joi.number().integer().min(min);
  const allowed = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    allowed: `a whole number ${allowed}`,
    value: 'number',
    schema: max === undefined ? schema : schema.max(max),
  };
}

function choice(words: readonly string[]): OptionType {
  return {
    allowed: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    value: words.join('|'),
    schema: Joi.string().valid(...words),
  };
}

/** A comma-separated list; an array in a configuration file. */
function list<Value>(parsed: (words: string[]) => Value): Joi.Schema {
  return Joi.custom((value: unknown) =>
    parsed((Array.isArray(value) ? value : String(value).split(',')).map((word) => String(word).trim())),
  );
}

function someOf(words: readonly string[]): Joi.Schema {
  return list((given) => {
    if (!given.every((word) => words.includes(word))) throw new Error('not in the set');
    return [...new Set(given)];
  });
}

const text = (pattern: RegExp) => Joi.string().pattern(pattern);

/** Trailing slashes are removed. */
const url = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .replace(/\/+$/, '');

const TYPES: Record<Exclude<keyof OptionValues, 'count' | 'choice'>, OptionType> = {
  file: { allowed: 'a path', value: 'file', schema: Joi.string() },
  folder: { allowed: 'a path', value: 'folder', schema: Joi.string() },
  host: { allowed: 'an address or a host name', value: 'address', schema: Joi.string() },
  url: { allowed: 'an http:// or https:// URL', value: 'url', schema: url },
  endpoint: {
    allowed: 'an http:// or https:// URL without credentials',
    value: 'url',
    schema: url.custom((value: string) => {
      const { username, password } = new URL(value);
      if (username !== '' || password !== '') throw new Error('a URL with credentials');
      return value;
    }),
    shown: withoutPassword,
  },
  issuer: {
    allowed: 'an http:// or https:// URL without credentials, query and fragment',
    value: 'url',
    // Compared as text, so that a final slash stays.
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .custom((value: string) => {
        const { username, password, search, hash } = new URL(value);
        if (username + password + search + hash !== '') throw new Error('more than an address');
        return value;
      }),
  },
  postgresUrl: {
    allowed: 'a URL like postgres://user@host:5432/name',
    value: 'url',
    schema: Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .custom((value: string, { error }) => (URL.canParse(value) ? value : error('any.invalid'))),
    shown: withoutPassword,
  },
  schemaName: {
    allowed: 'lower-case letters, digits and underscores',
    value: 'name',
    schema: text(/^[a-z_][a-z0-9_]{0,40}$/),
  },
  machineName: {
    allowed: '1 to 60 characters without spaces',
    value: 'name',
    schema: text(/^[^\s\p{C}]{1,60}$/u),
  },
  bucket: {
    allowed: 'the name of a bucket',
    value: 'name',
    schema: text(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/),
  },
  keyPrefix: {
    allowed: 'text that does not begin with a slash',
    value: 'prefix',
    schema: text(/^[^/]/),
  },
  region: { allowed: 'the name of a region', value: 'region', schema: text(/^[a-z0-9-]+$/) },
  word: { allowed: 'text without spaces', value: 'id', schema: text(/^\S+$/) },
  command: { allowed: 'a program with arguments', value: 'command', schema: text(/\S/) },
  token: { allowed: 'at least 16 characters without spaces', value: 'token', schema: text(/^\S{16,}$/) },
  password: { allowed: '10 to 200 characters', value: 'password', schema: Joi.string().min(10).max(200) },
  emailAddress: { allowed: 'an e-mail address', value: 'address', schema: text(/^[^\s@]+@[^\s@]+$/) },
  masterKey: { allowed: '64 hexadecimal digits', value: 'key', schema: Joi.string().hex().length(64) },
  cronPattern: {
    allowed: 'a cron pattern such as "30 2 * * *": minute, hour, day, month and weekday',
    value: 'pattern',
    schema: Joi.string().custom((value: string) => {
      assertSchedule(value);
      return value;
    }),
  },
  amount: { allowed: 'a number of at least 0', value: 'number', schema: Joi.number().min(0) },
  positive: { allowed: 'a number above 0', value: 'number', schema: Joi.number().greater(0) },
  switch: { allowed: 'true or false', schema: Joi.boolean() },
  boolean: { allowed: 'true or false', value: 'true|false', schema: Joi.boolean() },
  origins: {
    allowed: 'comma-separated origins (https://name, without a path), or *',
    value: 'origins',
    schema: list((origins) => {
      if (!origins.every((origin) => origin === '*' || new URL(origin).origin === origin))
        throw new Error('not an origin');
      return origins;
    }),
  },
  networks: {
    allowed: 'comma-separated networks (CIDR)',
    value: 'networks',
    schema: list((networks) => {
      assertNetworks(networks);
      return networks;
    }),
  },
  prices: {
    allowed: `${QUALITY_NAMES.length} comma-separated numbers above 0`,
    value: 'prices',
    schema: list((words) => {
      const prices = words.map(Number);
      if (
        prices.length !== QUALITY_NAMES.length ||
        !prices.every((price) => Number.isFinite(price) && price > 0)
      )
        throw new Error(`not ${QUALITY_NAMES.length} prices`);
      return Object.fromEntries(QUALITY_NAMES.map((quality, index) => [quality, prices[index]]));
    }),
  },
  roles: {
    allowed: `some of ${ROLES.join(', ')}, separated by commas`,
    value: 'roles',
    schema: someOf(ROLES),
  },
  qualities: {
    allowed: `some of ${QUALITY_NAMES.join(', ')}, separated by commas`,
    value: 'qualities',
    schema: someOf(QUALITY_NAMES),
  },
};

/** A URL as it may be shown. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return '(hidden)';
  const parsed = new URL(address);
  if (parsed.password !== '') parsed.password = '***';
  for (const name of [...parsed.searchParams.keys()])
    if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
