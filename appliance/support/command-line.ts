import { isSea } from 'node:sea';

/** A command line of this program for messages; a checkout and an npm package provide it only through npx. */
export function ownCommand(words: string): string {
  return `\`${plainCommand(words)}\``;
}

/** The same, to be copied. */
export function plainCommand(words: string): string {
  return `${isSea() ? process.execPath : 'npx scenepress'} ${words}`;
}
