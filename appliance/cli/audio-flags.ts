import { InvalidArgumentError } from 'commander';
import type { LocalRequest } from '../../lib/index.ts';
import { jsonOfFlag } from './json-of-flag.ts';

export type Audio = NonNullable<LocalRequest['audio']>;

/**
 * Adds what a flag `--audio` says: `file@place`, whose place, after the last @, is seconds or a cue; or `@file`, a JSON array
 * as the field `audio` of requests, which the request is checked with.
 */
export function addAudio(text: string, earlier: Audio = []): Audio {
  if (/^@[^@]+$/.test(text)) return [...earlier, ...listIn(text.slice(1))];
  const [, file, place = ''] = /^(.+)@(.+)$/s.exec(text) ?? [];
  if (file === undefined)
    throw new InvalidArgumentError(
      'Expected file@seconds or file@cue, such as intro.mp3@1.5 or end.wav@proof, or @ and a file with a JSON array.',
    );
  const isTime = /^\d+(\.\d*)?$/.test(place);
  return [...earlier, { file, ...(isTime ? { atSeconds: Number(place) } : { atCue: place }) }];
}

function listIn(file: string): Audio {
  const list = jsonOfFlag(file);
  if (!Array.isArray(list))
    throw new InvalidArgumentError(
      'Expected a file with a JSON array, such as [{"file": "intro.mp3", "atSeconds": 1.5, "text": "Hello."}].',
    );
  return list as Audio;
}
