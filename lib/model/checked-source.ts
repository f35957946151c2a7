import type { PlacedAudio } from './audio.ts';
import type { Finding } from './finding-types.ts';
import type { GivenFiles } from './owner-file.ts';
import type { DeclaredParam, Params } from './params.ts';
import type { AspectRatio, Quality } from './qualities.ts';
import type { Play } from './renderer-messages.ts';
import type { WaitOptions } from './requests.ts';

/** What is checked besides the code. */
export interface CheckOptions {
  /** Default: every scene that the code defines. */
  className?: string;
  /** Of the render that it is checked for; default `medium`. */
  quality?: Quality;
  /** Default `16:9`. */
  aspectRatio?: AspectRatio;
  /** Frames per second; default: those of the quality. */
  fps?: number;
  /** Values of parameters that the scenes declare, by name. */
  params?: Params;
  /**
   * Sounds that the render would place in its video, as of {@link EnqueueRequest}; needs `className`. A moment that the
   * scene does not have is an error. Not used if the code is only read.
   */
  audio?: readonly PlacedAudio[];
  /**
   * Whether the scenes are run, without drawing them; default true. False: the code is only read, and what is certainly wrong
   * in it is told within some milliseconds. Takes no worker and no budget, and finds less: `scenes` is empty.
   */
  dryRun?: boolean;
}

/** Options of a check by a service. */
export interface CheckRequest extends CheckOptions, WaitOptions {
  /** As of {@link EnqueueRequest}; contents are removed afterwards. Default: all files of the owner, if there is one. */
  files?: GivenFiles;
}

/** A scene that would be rendered. */
export interface CheckedScene {
  className: string;
  /** The length of its video. */
  frames: number;
  /** The length of its video. */
  seconds: number;
  /** It reads the pixels of its camera, which show nothing in a check: a render may differ. */
  readsPixels: boolean;
  /** Its plays, at most 1,000. */
  plays: Play[];
}

/** What was found in a source. */
export interface CheckedSource {
  /**
   * Whether no finding is an error: the scenes would be rendered, unless drawing them fails, such as with a background
   * image that is not there.
   */
  ok: boolean;
  /** What is wrong, each once, in the order of lines. */
  findings: Finding[];
  /** The parameters that the scenes declare with `scenepress_scene.param`, each once. */
  params: DeclaredParam[];
  /** The scenes that would be rendered. */
  scenes: CheckedScene[];
}
