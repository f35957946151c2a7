import type { SpokenWord } from './speech-types.ts';

/** A sound that a request places in a video. */
export interface PlacedAudio {
  /** The name of one of the job's files. */
  file: string;
  /** When it begins in the video; or else `atCue`. */
  atSeconds?: number;
  /** The moment of the scene at which it begins: a cue, a section, or the text of a caption. */
  atCue?: string;
  /** What is said: becomes captions over the time of the sound. */
  text?: string;
  /** When its words are said, from the beginning of the file: captions follow them. */
  words?: readonly SpokenWord[];
}
