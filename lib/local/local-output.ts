import type { LocalOutput, StillPlace } from '../model/output-types.ts';
import type { AspectRatio } from '../model/qualities.ts';
import { stillPlaceOf } from '../model/still-place.ts';
import type { LocalOutputOptions } from './local-request.ts';

const WHOLE_MP4: Omit<LocalOutput, 'portrait'> = {
  format: 'mp4',
  transparent: false,
  firstPlay: 0,
  lastPlay: -1,
  sections: false,
  config: {},
  file: null,
};

/** What the renderer is asked for, and which frame instead of all. */
export function outputOf(
  { still, ...output }: LocalOutputOptions,
  aspectRatio: AspectRatio | undefined,
): LocalOutput & { still?: StillPlace } {
  const local: LocalOutput = { ...WHOLE_MP4, ...output, portrait: aspectRatio === '9:16' };
  return still === undefined ? local : { ...local, still: stillPlaceOf(still) };
}
