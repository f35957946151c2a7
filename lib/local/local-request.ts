import { ScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import type { PlacedAudio } from '../model/audio.ts';
import { audioOf } from '../model/audio-rules.ts';
import { checkFormats, type JobFormat } from '../model/formats.ts';
import { paramsOf } from '../model/param-rules.ts';
import type { Params } from '../model/params.ts';
import {
  checkSource,
  parseRenderRequest,
  type RenderRequest,
  type ValidRenderRequest,
} from '../model/render-request.ts';
import { type FrameSelection, partOf, type Selection } from '../model/selection.ts';
import { selectionOf } from '../model/selection-rules.ts';
import type { StillAt } from '../model/still-place.ts';

const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;

/** The outputs of a render. */
export interface LocalOutputOptions {
  /**
   * Default `mp4`. `png`: the last picture, with all plays skipped; `png-sequence`: each frame, in an archive.
   */
  format?: 'mp4' | 'webm' | 'mov' | 'gif' | 'png' | 'png-sequence';
  /** Draws no background. Not for MP4. */
  transparent?: boolean;
  /**
   * A PNG of one frame, as a render shows it, instead of `format`: the last one, the one at a time in seconds, or the last
   * one of a play, counted from 0.
   */
  still?: StillAt;
  /** Skips the plays before this one, as Manim does: what moves by itself stays where it is. The first is 0. */
  firstPlay?: number;
  /** Ends the scene after this play. */
  lastPlay?: number;
  /** Also makes a video of each section, in an archive. */
  sections?: boolean;
  /** Settings of a manim.cfg, such as `background_color`. */
  config?: Record<string, string>;
}

/** A scene to render. */
export interface LocalRequest extends Pick<RenderRequest, 'quality' | 'aspectRatio' | 'fps'>, FrameSelection {
  /** Python source with the scene class in it: a text, or the bytes of a file in the encoding that it names. */
  code: string | Uint8Array;
  /** The scene class to render: any identifier of Python. */
  className: string;
  /** Instead of the size of `quality`; `aspectRatio` then only selects the units of the frame. */
  sizePx?: { width: number; height: number };
  /** The file with the source, relative to the renderer's `sceneFolder`; default: the one that is named there. */
  file?: string;
  /** Values of parameters that the scene declares, by name: JSON of at most 64 KiB. */
  params?: Params;
  /** Sounds in the folder of the scene that are placed in the video, as of jobs of a service. */
  audio?: readonly PlacedAudio[];
  /** Default: MP4 of the whole scene. */
  output?: LocalOutputOptions;
  /** What the frames become besides the MP4, as jobs of a service make it. */
  formats?: readonly JobFormat[];
  /** Default true. False: neither copies frames of the last video of the scene, nor keeps this one for the next render. */
  incremental?: boolean;
}

const OUTPUT: Names<LocalOutputOptions> = {
  format: true,
  still: true,
  transparent: true,
  firstPlay: true,
  lastPlay: true,
  sections: true,
  config: true,
};

const REQUEST: Names<LocalRequest> = {
  code: true,
  className: true,
  quality: true,
  aspectRatio: true,
  fps: true,
  sizePx: true,
  file: true,
  params: true,
  audio: true,
  output: true,
  formats: true,
  fromPlay: true,
  toPlay: true,
  poster: true,
  stills: true,
  incremental: true,
};

/** A valid request with its defaults applied. */
export type ValidLocalRequest = Omit<LocalRequest, keyof FrameSelection> &
  Pick<ValidRenderRequest, 'quality' | 'aspectRatio'> & { selection?: Selection };

/**
 * Validates a request. Error: `invalid_request`.
 *
 * ```ts
 * const request = parseLocalRequest({ code: await readFile('scene.py'), className: 'Größe' });
 * await renderer.render(request);
 * ```
 */
export function parseLocalRequest(request: LocalRequest): ValidLocalRequest {
  const { code, className, sizePx, file, params, audio, output, incremental, ...more } = known(
    'render',
    request,
    REQUEST,
  );
  const { formats, fromPlay, toPlay, poster, stills, ...others } = more;
  if (sizePx) known('sizePx', sizePx, { width: true, height: true });
  if (output) known('output', output, OUTPUT);
  const validParams = paramsOf(params);
  const placed = audioOf(audio);
  checkSource(code);
  const isMp4 = !output?.still && (output?.format ?? 'mp4') === 'mp4';
  if (formats) checkFormats(formats, { isMp4 });
  const selection = selectionOf('render', { fromPlay, toPlay, poster, stills });
  if (selection) checkSelection(selection, output, { isMp4 });
  const isBytes = code instanceof Uint8Array;
  const isIdentifier = typeof className === 'string' && IDENTIFIER.test(className);
  const valid = parseRenderRequest({
    code: isBytes ? ' ' : code,
    className: isIdentifier ? '_' : className,
    ...others,
  });
  return {
    ...valid,
    ...(isBytes && { code }),
    ...(isIdentifier && { className }),
    ...(sizePx && { sizePx }),
    ...(file !== undefined && { file }),
    ...(validParams && { params: validParams }),
    ...(placed && { audio: placed }),
    ...(output && { output }),
    ...((formats || selection?.stills) && {
      formats: [...(formats ?? []), ...(selection?.stills ? (['stills'] as const) : [])],
    }),
    ...(selection && { selection }),
    ...(incremental !== undefined && { incremental }),
  };
}

/** Error: `invalid_request` for frames that the output can't have. */
function checkSelection(
  selection: Selection,
  { still, firstPlay, lastPlay }: LocalOutputOptions = {},
  { isMp4 }: { isMp4: boolean },
): void {
  const isPart = partOf(selection) !== null;
  if (isPart && (still !== undefined || firstPlay !== undefined || lastPlay !== undefined))
    throw invalid('fromPlay and toPlay can not be combined with still, firstPlay or lastPlay');
  if (!isMp4 && (selection.poster !== undefined || selection.stills))
    throw invalid('poster and stills are made together with MP4 only');
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
