import type { ArtifactName } from './artifacts.ts';
import type { PlayRange, StillPlace } from './output-types.ts';
import { type StillAt, stillPlaceOf } from './still-place.ts';

/** Which frames of a scene become its video and pictures, as a request says it. */
export interface FrameSelection {
  /** The first play of the video, counted from 0; earlier ones are run without being drawn. Default: the first one. */
  fromPlay?: number | null;
  /** The last play of the video; the scene ends after it. Default: the last one. */
  toPlay?: number | null;
  /** The frame that the thumbnail shows. Default: one with much contrast. */
  poster?: StillAt | null;
  /** Frames that also become a PNG each: at most eight. */
  stills?: readonly StillAt[] | null;
}

/** What a job records of its request; what was not given is absent. */
export interface Selection {
  fromPlay?: number;
  toPlay?: number;
  poster?: StillAt;
  stills?: readonly StillAt[];
}

/** The plays of a video; null: all of the scene. */
export function partOf({ fromPlay = 0, toPlay }: Selection = {}): PlayRange | null {
  return fromPlay === 0 && toPlay === undefined ? null : { first: fromPlay, last: toPlay ?? null };
}

/** The frames that become pictures besides the video, and the name of the file of each. */
export function picturesOf({ poster, stills = [] }: Selection = {}): {
  places: StillPlace[];
  names: ArtifactName[];
} {
  const places = [...stills, ...(poster === undefined ? [] : [poster])].map(stillPlaceOf);
  const names = places.map(
    (_, index): ArtifactName =>
      index < stills.length ? (`still-${index + 1}.png` as ArtifactName) : 'thumbnail.jpg',
  );
  return { places, names };
}
