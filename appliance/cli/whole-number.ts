import { InvalidArgumentError } from 'commander';

/** Argument parser of `--limit` and similar flags. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
