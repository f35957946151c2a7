import { inspect } from 'node:util';
import { ScenepressError } from './errors.ts';
import { known } from './known-options.ts';

/** What an option may be. */
export interface Rule {
  allowed: string;
  isValid: (value: unknown) => boolean;
}

/** The longest delay of a timer. */
const MOST_MS = 2 ** 31 - 1;

const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);

export const COUNT: Rule = {
  allowed: 'an integer of at least 1',
  isValid: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
};

export const COUNT_OR_INFINITY: Rule = {
  allowed: `${COUNT.allowed}, or Infinity`,
  isValid: (value) => value === Number.POSITIVE_INFINITY || COUNT.isValid(value),
};

export const COUNT_OR_INFINITY_OR_FUNCTION: Rule = {
  allowed: `${COUNT.allowed}, Infinity, or a function that returns it`,
  isValid: (value) => typeof value === 'function' || COUNT_OR_INFINITY.isValid(value),
};

export const COUNT_OR_ZERO: Rule = {
  allowed: 'an integer of at least 0',
  isValid: (value) => value === 0 || COUNT.isValid(value),
};

export const POSITIVE: Rule = {
  allowed: 'a finite number above 0',
  isValid: (value) => Number.isFinite(value) && (value as number) > 0,
};

export const POSITIVE_OR_INFINITY: Rule = {
  allowed: 'a number above 0',
  isValid: (value) => isNumber(value) && value > 0,
};

export const NOT_NEGATIVE: Rule = {
  allowed: 'a number of at least 0',
  isValid: (value) => isNumber(value) && value >= 0,
};

export const DELAY_MS: Rule = {
  allowed: `a number above 0, of at most ${MOST_MS}`,
  isValid: (value) => isNumber(value) && value > 0 && value <= MOST_MS,
};

export const FUNCTION: Rule = {
  allowed: 'a function',
  isValid: (value) => typeof value === 'function',
};

export const OBJECT: Rule = {
  allowed: 'an object',
  isValid: (value) => typeof value === 'object' && value !== null,
};

/** Error: `invalid_request` when the value of an option breaks its rule. */
export function checkOption(name: string, value: unknown, { allowed, isValid }: Rule): void {
  if (isValid(value)) return;
  const shown = inspect(value, { depth: 0, maxStringLength: 80, breakLength: Number.POSITIVE_INFINITY });
  throw new ScenepressError('invalid_request', `${name} must be ${allowed}, not ${shown}.`);
}

/** Error: `invalid_request` when an object lacks some of these methods. Its content is not shown: it may be secret. */
export function checkMethods(name: string, value: unknown, noun: string, methods: readonly string[]): void {
  const given = value as Record<string, unknown> | null | undefined;
  const lacking = methods.filter((method) => typeof given?.[method] !== 'function');
  if (lacking.length === 0) return;
  throw new ScenepressError(
    'invalid_request',
    `${name} must be ${noun}; what was given, ${nameOf(value)}, has no ${lacking.join(', ')}.`,
  );
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `a value of the type ${typeof value}`;
  return `an instance of ${value.constructor?.name ?? 'Object'}`;
}

/**
 * Options of a group, checked, with the defaults of those that are absent or undefined. Error: `invalid_request` for the
 * first that does not exist or breaks its rule.
 */
export function groupOf<Group extends object>(
  group: string,
  given: Partial<Group> = {},
  defaults: Group,
  rules: { [Name in keyof Required<Group>]: Rule },
): Group {
  checkOption(group, given, OBJECT);
  known(group, given, rules);
  const checked = { ...defaults };
  for (const [name, rule] of Object.entries(rules) as [keyof Group & string, Rule][]) {
    const value = given[name];
    if (value === undefined) continue;
    checkOption(`${group}.${name}`, value, rule);
    checked[name] = value as Group[typeof name];
  }
  return checked;
}
