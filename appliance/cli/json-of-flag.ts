import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';

/** The content of a file that a flag names; undefined if it is not JSON. Error: `InvalidArgumentError` if it can't be read. */
export function jsonOfFlag(file: string): unknown {
  const content = contentOf(file);
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new InvalidArgumentError(`It can't be read: ${(cause as Error).message}.`);
  }
}
