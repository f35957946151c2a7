import { type Command, InvalidArgumentError } from 'commander';
import type { FrameSelection, StillAt } from '../../lib/internal.ts';
import { wholeNumber } from './whole-number.ts';

/** The flags that choose frames of a scene. */
export interface FrameFlags {
  fromPlay?: number;
  toPlay?: number;
  /** The frame of the thumbnail. */
  poster?: StillAt;
  stills?: StillAt[];
}

export function addFrameFlags(command: Command): Command {
  return command
    .option(
      '--from-play <number>',
      'the video begins with this play (the first is 0), after those before it were run without being drawn',
      wholeNumber,
    )
    .option('--to-play <number>', 'the video ends with this play', wholeNumber)
    .option('--stills <frames>', 'also a PNG of each of these frames, such as 2.5,play:3,last', (text) =>
      text.split(',').map((frame) => frameOf(frame.trim())),
    )
    .option(
      '--poster <frame>',
      'the frame that the thumbnail shows, as with --at (default: one with much contrast)',
      frameOf,
    );
}

/** What a request says of these flags. */
export function framesOfFlags({ fromPlay, toPlay, poster, stills }: FrameFlags): FrameSelection {
  return {
    ...(fromPlay !== undefined && { fromPlay }),
    ...(toPlay !== undefined && { toPlay }),
    ...(poster !== undefined && { poster }),
    ...(stills && { stills }),
  };
}

/** Reads `2.5`, `play:3` or `last`. */
export function frameOf(text: string): StillAt {
  const [, seconds, play] = /^(?:(\d+(?:\.\d+)?)|play:(\d+))$/.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds);
  if (play !== undefined) return { play: Number(play) };
  if (text === 'last') return text;
  throw new InvalidArgumentError('Expected a time in seconds such as 2.5, play:3, or last.');
}
