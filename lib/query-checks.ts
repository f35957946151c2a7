import { ScenepressError } from './errors.ts';
import { isStorableText } from './storable-text.ts';

// Checks of the parts of a query, which may come from a request. An absent part is valid. Error: `invalid_request`.

export function checkText(name: string, value: unknown, noun: string = 'a string'): void {
  if (value === undefined || isStorableText(value)) return;
  const rule = typeof value === 'string' ? ' of well-formed Unicode without NUL' : '';
  throw invalid(`${name} must be ${noun}${rule}`);
}

export function checkCount(name: string, value: unknown): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= 1))
    throw invalid(`${name} must be a positive integer`);
}

export function checkInteger(name: string, value: unknown): void {
  if (value !== undefined && !Number.isSafeInteger(value)) throw invalid(`${name} must be an integer`);
}

export function checkBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw invalid(`${name} must be a boolean`);
}

export function checkOneOf(name: string, value: unknown, values: readonly unknown[]): void {
  if (value !== undefined && !values.includes(value))
    throw invalid(`${name} must be one of: ${values.join(', ')}`);
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
