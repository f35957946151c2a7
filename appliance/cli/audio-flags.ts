import { InvalidArgumentError } from 'commander';
import type { LocalRequest } from '../../lib/index.ts';

export type Audio = NonNullable<LocalRequest['audio']>;

/** Adds what a flag `--audio <file@place>` says; the place, after the last @, is seconds or a cue. */
export function addAudio(text: string, earlier: Audio = []): Audio {
  const [, file, place = ''] = /^(.+)@(.+)$/s.exec(text) ?? [];
  if (file === undefined)
    throw new InvalidArgumentError(
      'Expected file@seconds or file@cue, such as intro.mp3@1.5 or end.wav@proof.',
    );
  const isTime = /^\d+(\.\d*)?$/.test(place);
  return [...earlier, { file, ...(isTime ? { atSeconds: Number(place) } : { atCue: place }) }];
}
