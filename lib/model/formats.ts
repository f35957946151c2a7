import { ScenepressError } from '../base/errors.ts';
import { ARTIFACTS, type ArtifactFormat } from './artifacts.ts';

/** What a format needs of the drawing of a scene. */
interface Need {
  /** One without a background: the scene is drawn a second time. */
  isTransparent: boolean;
  /** The colours of each pixel, instead of those of MP4. */
  hasColours: boolean;
  /** The sections of the scene. */
  hasSections: boolean;
}

const OF_MP4: Need = { isTransparent: false, hasColours: false, hasSections: false };

const COLOURS: Need = { ...OF_MP4, hasColours: true };
const SECTIONS: Need = { ...OF_MP4, hasSections: true };
const TRANSPARENT: Need = { ...COLOURS, isTransparent: true };

const NEEDS: Readonly<Record<ArtifactFormat, Need>> = {
  srt: OF_MP4,
  gif: COLOURS,
  webp: COLOURS,
  apng: COLOURS,
  webm: OF_MP4,
  av1: OF_MP4,
  hevc: OF_MP4,
  m4a: OF_MP4,
  sprites: OF_MP4,
  'last-frame': COLOURS,
  png: COLOURS,
  sections: SECTIONS,
  slides: SECTIONS,
  pdf: SECTIONS,
  'mp4-chapters': SECTIONS,
  stills: COLOURS,
  'transparent-webm': TRANSPARENT,
  mov: TRANSPARENT,
  'transparent-png': TRANSPARENT,
};

/** A drawing of a scene, and what its frames become; without a background, nothing but that. */
export interface Drawing extends Need {
  formats: ArtifactFormat[];
}

/** What a request may ask for. Every job makes MP4. */
export type JobFormat = 'mp4' | ArtifactFormat;

const OTHERS = [...new Set(Object.values(ARTIFACTS).map(({ format }) => format))].filter(
  (format) => format !== null,
);

/** How many formats a request may name besides MP4. */
export const MOST_FORMATS = 6;

/** All formats that a request may name. Stills are asked for by their places. */
export const JOB_FORMATS: readonly JobFormat[] = ['mp4', ...OTHERS.filter((format) => format !== 'stills')];

/** Error: `invalid_request`, which names the formats that there are. `isMp4`: the frames become MP4, too. */
export function checkFormats(given: readonly JobFormat[], { isMp4 }: { isMp4: boolean }): void {
  const formats: unknown = given;
  if (!Array.isArray(formats)) throw invalid('formats is a list');
  const unknown = formats.find((format) => !JOB_FORMATS.includes(format));
  if (unknown !== undefined)
    throw invalid(`There is no format ${String(unknown).slice(0, 50)}. Formats: ${JOB_FORMATS.join(', ')}`);
  if (othersOf(formats).length > MOST_FORMATS)
    throw invalid(`formats has more than ${MOST_FORMATS} formats besides mp4`);
  if (!isMp4 && othersOf(formats).length > 0) throw invalid('formats are made together with MP4 only');
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', `${message}.`);
}

/** Those besides MP4, without repetitions, in the order of the table. */
export function othersOf(formats: readonly JobFormat[] | null | undefined): ArtifactFormat[] {
  return OTHERS.filter((format) => formats?.includes(format));
}

/** The drawings that formats need, in their order: the first is that of MP4. */
export function drawingsOf(formats: readonly ArtifactFormat[]): [first: Drawing, second?: Drawing] {
  const first = drawingOf(formats, { isTransparent: false });
  const second = drawingOf(formats, { isTransparent: true });
  return second.formats.length > 0 ? [first, second] : [first];
}

function drawingOf(all: readonly ArtifactFormat[], { isTransparent }: Pick<Need, 'isTransparent'>): Drawing {
  const formats = all.filter((format) => NEEDS[format].isTransparent === isTransparent);
  const needs = (need: keyof Need) => formats.some((format) => NEEDS[format][need]);
  return { isTransparent, hasColours: needs('hasColours'), hasSections: needs('hasSections'), formats };
}
