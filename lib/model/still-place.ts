import { ScenepressError } from '../base/errors.ts';
import type { StillPlace } from './output-types.ts';

/** Which frame is drawn: the last one, the one at a time in seconds, or the last one of a play, counted from 0. */
export type StillAt = 'last' | number | { play: number };

/** Error: `invalid_request` for a frame that no video can have. */
export function stillPlaceOf(at: StillAt): StillPlace {
  const place = placeOf(at);
  const isValid = Number.isFinite(place?.value) && (place?.value ?? -1) >= 0;
  if (!place || !isValid || (place.at === 'play' && !Number.isInteger(place.value)))
    throw new ScenepressError(
      'invalid_request',
      "still is 'last', seconds of at least 0, or { play } counted from 0",
    );
  return place;
}

function placeOf(at: StillAt | undefined): StillPlace | undefined {
  if (at === 'last') return { at: 'last', value: 0 };
  if (typeof at === 'number') return { at: 'seconds', value: at };
  return typeof at === 'object' && at !== null ? { at: 'play', value: at.play } : undefined;
}
