import Joi from 'joi';
import { DEFAULT_PRICING } from '../../lib/index.ts';
import { assertNetworks, assertSchedule, QUALITY_NAMES } from '../../lib/internal.ts';

export function count(fallback?: number, minimum = 1): Joi.NumberSchema {
  const schema = Joi.number().integer().min(minimum);
  return fallback === undefined ? schema : schema.default(fallback);
}

/** Comma-separated prices in the order of the qualities: `1,2,4,8,16`. */
export const prices: Joi.Schema = Joi.custom((value: unknown) => {
  const numbers = String(value).split(',').map(Number);
  if (
    numbers.length !== QUALITY_NAMES.length ||
    !numbers.every((price) => Number.isFinite(price) && price > 0)
  ) {
    throw new Error(`not ${QUALITY_NAMES.length} prices`);
  }
  return Object.fromEntries(QUALITY_NAMES.map((quality, index) => [quality, numbers[index]]));
}).default(DEFAULT_PRICING.creditsPerSecond);

/** Comma-separated CIDRs; an array in a configuration file. */
export const networks: Joi.Schema = Joi.custom((value: unknown) => {
  const list = (Array.isArray(value) ? value : String(value).split(',')).map((cidr) => String(cidr).trim());
  assertNetworks(list);
  return list;
}).default([]);

/** Comma-separated origins, or `*`; an array in a configuration file. */
export const origins: Joi.Schema = Joi.custom((value: unknown) => {
  const list = (Array.isArray(value) ? value : String(value).split(',')).map((origin) =>
    String(origin).trim(),
  );
  for (const origin of list) {
    if (origin !== '*' && new URL(origin).origin !== origin) throw new Error('not an origin');
  }
  return list;
}).default([]);

/** A URL; trailing slashes are removed. */
export const address: Joi.Schema = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .replace(/\/+$/, '');

/** A cron pattern of minutes. */
export const cronPattern: Joi.Schema = Joi.string().custom((value: string) => {
  assertSchedule(value);
  return value;
});

/** Comma-separated words of a set; an array in a configuration file. */
export function listOf(words: readonly string[]): Joi.Schema {
  return Joi.custom((value: unknown) => {
    const list = (Array.isArray(value) ? value : String(value).split(',')).map((word) => String(word).trim());
    if (list.length === 0 || !list.every((word) => words.includes(word))) throw new Error('not in the set');
    return [...new Set(list)];
  });
}

/** A URL of the web that requests are made to, without credentials. */
export const endpoint: Joi.Schema = address.custom((value: string) => {
  const { username, password } = new URL(value);
  if (username !== '' || password !== '') throw new Error('a URL with credentials');
  return value;
});
