import { isSea } from 'node:sea';

/** A command of this program as it can be typed here: a checkout and an npm package have it by npx only. */
export function ownCommand(words: string): string {
  return `\`${isSea() ? process.execPath : 'npx scenepress'} ${words}\``;
}
