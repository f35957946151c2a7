import type { CheckedScene, CheckOptions } from './checked-source.ts';
import type { Finding } from './finding-types.ts';
import type { Play } from './renderer-messages.ts';

/** What is inspected besides the code, and for which video. */
export type InspectOptions = Omit<CheckOptions, 'dryRun' | 'audio'>;

/** A picture of a scene. */
export interface InspectedPicture {
  /** From 1; it is written on the contact sheet. */
  number: number;
  /** The play that it is of, counted from 0; null: of none, in a scene that plays nothing. */
  play: number | null;
  /** The line of the code that plays it, from 1; null: not known. */
  line: number | null;
  /** Its time in the video. */
  seconds: number;
  /** The picture as JPEG, 480 by 270 pixels in `16:9`. */
  jpeg: Uint8Array;
}

/** A play of an inspected scene. */
export interface InspectedPlay extends Play {
  /** The names of variables with the mobjects that it animates, or their classes; at most 20. */
  moves: string[];
}

/** A scene that was inspected. */
export interface InspectedScene extends CheckedScene {
  plays: InspectedPlay[];
  /** What its code printed, and warnings; at most 33,000 characters. */
  output: string;
  /** A contact sheet of the pictures as JPEG: at most 1.15 megapixels and 200 kB. Of many pictures it shows some. */
  sheet: Uint8Array;
  /** At most 120: after each play, and moments within it. */
  pictures: InspectedPicture[];
}

/** What was found in a source, with pictures. */
export interface InspectedSource<Scene extends InspectedScene = InspectedScene> {
  /** Whether no finding is an error: faults of what a scene shows are warnings. */
  ok: boolean;
  /** Errors of the code, and faults of what its scenes show, each once, in the order of lines. */
  findings: Finding[];
  /** The scenes that would be rendered. */
  scenes: Scene[];
}
