import type { MessagePort } from 'node:worker_threads';
import type { ArtifactFormat, ArtifactName } from './artifacts.ts';
import type { PlacedAudio } from './audio.ts';
import type { Finding } from './finding-types.ts';
import type { LocalOutput, Picture, StillPlace } from './output-types.ts';
import type { DeclaredParam, Params } from './params.ts';
import type { Play, SceneFault, WorkTimes } from './renderer-messages.ts';
import type { Selection } from './selection.ts';
import type { SpeechRequest } from './speech.ts';
import type { SpokenWord } from './speech-types.ts';

export type { Play, SceneFault } from './renderer-messages.ts';

/** A render task of a worker; {@link RenderMessage}s are sent over `port`. @internal */
export interface RenderTask {
  jobId: string;
  code: SceneSource;
  className: string;
  widthPx: number;
  heightPx: number;
  fps: number;
  /** Minimum interval of previews; 0: no previews. */
  previewIntervalMs: number;
  /** Renders with a lower CPU priority. */
  background: boolean;
  /** Whether the video gets an index, with which a later render can copy its frames. */
  isIndexed?: boolean;
  /** The video whose frames may be copied; default: none. */
  earlier?: EarlierVideo;
  /** The machine's TeX is being changed: the render fails, by `tex`, if it has to start TeX. */
  isTexHeld?: boolean;
  /** The pool answers requests for speech. */
  hasSpeech?: boolean;
  /** Only of a {@link LocalRenderer}. */
  local?: LocalOutput;
  /** Draws one frame, as PNG, instead of a video. */
  still?: StillPlace;
  /** Draws some pictures, and looks for faults of what a video of this height in pixels shows. */
  inspect?: number;
  /** Of the scene's random numbers; default: another one in each render. */
  seed?: number;
  /** Of the scene; default: none. */
  params?: Params;
  /** What is heard besides the sounds of the scene. */
  audio?: readonly PlacedAudio[];
  /** What else is made besides MP4. */
  formats?: readonly ArtifactFormat[];
  /** Which frames become the video and pictures; default: all, and none. */
  selection?: Selection;
  /**
   * Absolute path of the folder with the job's files, which its scene reads by their paths relative to it. Nothing in it
   * may change before the run has ended; it must be readable by the service, and its files by everyone. Default: none.
   */
  files?: string;
  port: MessagePort;
}

/**
 * An earlier video, of which a render copies the frames that are equal. Both files must be readable by the service and
 * are copied for the encoder at the start of the render. A missing, changed or unsuitable one is ignored. @internal
 */
export interface EarlierVideo {
  /** Path of the index that was written with it. */
  index: string;
  /** Path of the MP4. */
  video: string;
}

/** The code of scenes: a text, or the bytes of a Python file, in the encoding that its coding line names. */
export type SceneSource = string | Uint8Array;

/** A task to list the scenes of a source. */
export interface ListTask {
  listScenesOf: SceneSource;
  /** The file with the source, relative to the author's folder; default: that of the renderer. */
  file?: string;
  /** As of {@link RenderTask}. */
  files?: string;
  /** With a low CPU priority. */
  background: boolean;
}

/** The result of a {@link ListTask}. `failed`: the code failed or exceeded a limit. */
export type ListResult = { kind: 'listed'; scenes: string[]; durationMs: number } | ShortFailure;

/** A task to run a scene without drawing it. */
export interface CheckTask {
  checkSceneOf: SceneSource;
  className: string;
  widthPx: number;
  heightPx: number;
  fps: number;
  /** With a low CPU priority. */
  background: boolean;
  /** As of {@link RenderTask}. */
  isTexHeld?: boolean;
  /** A render would have speech: it is silence here. */
  hasSpeech?: boolean;
  /** As of {@link RenderTask}. */
  local?: LocalOutput;
  /** As of {@link RenderTask}. */
  params?: Params;
  /** As of {@link RenderTask}. */
  audio?: readonly PlacedAudio[];
  /** As of {@link RenderTask}. */
  files?: string;
}

/** The result of a {@link CheckTask}: the length of its video and its plays, and the parameters that it declares. */
export type CheckResult =
  | {
      kind: 'checked';
      frames: number;
      seconds: number;
      readsPixels: boolean;
      plays: Play[];
      params: DeclaredParam[];
      durationMs: number;
    }
  | (ShortFailure & { params?: DeclaredParam[] });

/** What a worker is given. @internal */
export type AnyTask = RenderTask | ListTask | CheckTask;
/** What a worker returns. @internal */
export type AnyResult = RenderResult | ListResult | CheckResult;

/** Why a short task has no result. */
export type ShortFailure =
  | ({ kind: 'failed'; durationMs: number } & SceneFailure)
  /** The renderer is at fault. */
  | { kind: 'died'; message: string };

/** The stage of a render. */
export type RenderStage = 'loading' | 'rendering' | 'finishing';

/** The progress of a running job. There is no percentage, because Manim does not know a scene's length in advance. */
export interface RenderProgress {
  /** What the render does at present. */
  stage: RenderStage;
  /** Frames drawn so far. */
  frames: number;
  /** Length of the video so far. */
  seconds: number;
}

/**
 * Why a render is stopped: the job was canceled; another worker has the claim on it, or it has ended
 * (`claim_lost`); the claim could not be renewed in time (`claim_expired`); the cost exceeds the owner's credits; the
 * service stops.
 */
export type StopReason = 'canceled' | 'claim_lost' | 'claim_expired' | 'funds' | 'shutdown';

/** Worker to service, while a task runs. */
export type RenderMessage =
  | { type: 'started' }
  | ({ type: 'progress' } & RenderProgress)
  | { type: 'preview'; jpegBase64: string }
  | { type: 'output'; text: string }
  | ({ type: 'speech'; request: number } & SpeechRequest);

/** Service to worker, while a task runs. */
export type TaskMessage =
  | { type: 'stop'; reason: StopReason }
  /** Of the request with this number. */
  | ({ type: 'spoken'; request: number } & SpokenAnswer);

/** What became of a text; `error`: the end of a sentence for the author of the scene. */
export interface SpokenAnswer {
  audio: Uint8Array | null;
  words: SpokenWord[];
  error: string | null;
}

/** An output file of a render, inaccessible to the scene. */
export interface RenderedFile {
  name: ArtifactName;
  path: string;
}

/**
 * What a render spends its time on: starting its process and sandbox (`start`); the scene's own code, with imports and
 * the creation of mobjects (`scene`); TeX (`tex`); copying mobjects (`copy`); animations and updaters (`update`);
 * drawing (`draw`); waiting for the encoder (`encode`); completing its files (`collect`).
 */
export type RenderWork = keyof WorkTimes | 'start' | 'collect';

/** Time and memory of a render. */
export interface RenderUsage {
  /** Wall-clock time of each stage that it entered, in milliseconds. */
  stagesMs: Partial<Record<RenderStage, number>>;
  /**
   * Wall-clock time by kind of work, in milliseconds; the sum is that of the render. As the scene's process measured it,
   * so a scene can falsify its own. Absent when the process did not report it.
   */
  workMs?: Record<RenderWork, number>;
  /**
   * The most memory that all processes of the scene were seen to use, without that which encodes its video, measured five
   * times a second; null: not measured.
   */
  peakMemoryBytes: number | null;
  /** How many frames were copied from an earlier video of the scene, because they are equal. */
  copiedFrames: number;
  /** Length of the video; absent without one. */
  videoSeconds?: number;
}

/** Why a scene failed: in a sentence for its author, what it failed by, and what else is known about it. */
export interface SceneFailure {
  error: string;
  failedBy: SceneFault;
  finding?: Finding;
}

/** What an inspection found, as the scene's process reported it. */
export interface Inspection {
  /** The length of the video. */
  frames: number;
  /** The length of the video. */
  seconds: number;
  readsPixels: boolean;
  /** For each play, the names of what it animates. */
  moves: string[][];
  /** The pictures, in their order. */
  pictures: Picture[];
  findings: Finding[];
  /** The parameters that the scene declares. */
  params: DeclaredParam[];
}

/** The result of a render. `durationMs` is wall-clock time. */
export type RenderResult =
  | {
      kind: 'rendered';
      durationMs: number;
      frames: number;
      seconds: number;
      files: RenderedFile[];
      /** Path of the index of the video, for tasks with `isIndexed`. */
      index?: string;
      /** Other files of a local render. */
      localFiles?: { name: string; path: string }[];
      /** For tasks with `inspect`. */
      inspection?: Inspection;
      /** The plays of the scene, as it reported them. */
      plays: Play[];
      /** Contains the files; the receiver must remove it. */
      folder: string;
      output?: string;
      usage?: RenderUsage;
    }
  /** The scene failed or exceeded a limit. `output`: what its code printed, and warnings. */
  | ({ kind: 'failed'; durationMs: number; output?: string; usage?: RenderUsage } & SceneFailure)
  /** The scene's process was killed: by the scene itself, or by the system. Can be retried. */
  | ({ kind: 'killed'; durationMs: number; output?: string; usage?: RenderUsage } & SceneFailure)
  | { kind: 'stopped'; durationMs: number; reason: StopReason }
  /** The disk of the work folder is full, or can hold no more files; can be retried when there is space. */
  | { kind: 'disk_full'; durationMs: number }
  /** The scene was not read, for lack of a renderer or, with `isShortage`, of a system resource. */
  | { kind: 'unavailable'; durationMs: 0; message: string; isShortage?: boolean }
  /**
   * The worker's thread died, or a process of the renderer that no scene can reach; or, with `isShortage`, the machine
   * was short of something while the scene failed.
   */
  | { kind: 'interrupted'; durationMs: 0; message: string; isShortage?: boolean }
  /** The renderer failed; can be retried. */
  | { kind: 'died'; durationMs: number; message: string };
