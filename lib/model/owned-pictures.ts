import type { Finding } from './finding-types.ts';
import type { InspectedScene, InspectOptions } from './inspected-source.ts';
import type { GivenFiles } from './owner-file.ts';
import type { WaitOptions } from './requests.ts';
import type { StillAt } from './still-place.ts';

/** Options of {@link RenderService.inspect}. */
export interface InspectRequest extends InspectOptions, WaitOptions {
  /** As of {@link EnqueueRequest}; contents are removed afterwards. Default: all files of the owner, if there is one. */
  files?: GivenFiles;
}

/** What was charged and kept for an owner. */
export interface TakenPictures {
  /** For {@link RenderService.openPicture}; null without an owner: nothing is kept. */
  snapshotId: string | null;
  /** 0 without an owner. */
  creditsCost: number;
}

/** A scene that a service has inspected. Its pictures are kept for an hour as `sheet.jpg`, `picture-1.jpg` and so on. */
export interface ServiceInspectedScene extends InspectedScene, TakenPictures {}

/** Options of {@link RenderService.still}. */
export interface StillRequest extends InspectOptions, WaitOptions {
  /** As of {@link EnqueueRequest}; contents are removed afterwards. Default: all files of the owner, if there is one. */
  files?: GivenFiles;
  /** Which frame; default: the last one. */
  at?: StillAt;
}

/** A frame of a scene. It is kept for an hour as `still.png`. */
export interface Still extends TakenPictures {
  className: string;
  /** In the size of the quality. */
  png: Uint8Array;
}

/** A frame, or why there is none. */
export interface StillResult {
  ok: boolean;
  /** The error of the code; empty if there is a frame. */
  findings: Finding[];
  /** Null when the scene failed. */
  still: Still | null;
}
