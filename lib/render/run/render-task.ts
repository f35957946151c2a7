import type { MessagePort } from 'node:worker_threads';

/** What a worker is given to render; see {@link RenderMessage} for what passes over `port` meanwhile. */
export interface RenderTask {
  jobId: string;
  code: string;
  className: string;
  widthPx: number;
  heightPx: number;
  fps: number;
  /** A small picture of the frame being drawn, at most this often; 0: none. */
  previewIntervalMs: number;
  /** Renders that aren't go first where the processor is short. */
  background: boolean;
  port: MessagePort;
}

/** What a worker is given to list the scenes of. */
export interface ListTask {
  /** The source whose scenes are to be listed. */
  listScenesOf: string;
}

/** The names of a source's scenes; `error`: the source is at fault, or went over a limit. */
export type ListResult =
  | { kind: 'listed'; scenes: string[] }
  | { kind: 'failed'; error: string }
  /** The renderer is at fault. */
  | { kind: 'died'; message: string };

/** Where a render is. */
export type RenderStage = 'loading' | 'rendering' | 'finishing' | 'checking';

/** How far a running job is. Manim doesn't know a scene's length beforehand, so there is no percentage. */
export interface RenderProgress {
  stage: RenderStage;
  /** Frames drawn so far. */
  frames: number;
  /** Length of the video so far. */
  seconds: number;
}

/**
 * Why a render is stopped from outside: its job is somebody else's, or over (`worthless`); its cost passed what its owner
 * has; it could not be told that the job is still its own (`cut off`); the service stops.
 */
export type StopReason = 'worthless' | 'funds' | 'cut off' | 'shutdown';

/** Worker to service, while a task runs. */
export type RenderMessage =
  | { type: 'started' }
  | ({ type: 'progress' } & RenderProgress)
  | { type: 'preview'; jpegBase64: string };

/** Service to worker, while a task runs. */
export interface StopMessage {
  type: 'stop';
  reason: StopReason;
}

/** A file that a render left, checked and out of the scene's reach. */
export interface RenderedFile {
  name: 'video.mp4' | 'thumbnail.jpg' | 'captions.vtt';
  path: string;
}

/** How a task ended. `durationMs` is render wall-clock time. */
export type RenderResult =
  | {
      kind: 'rendered';
      durationMs: number;
      frames: number;
      seconds: number;
      files: RenderedFile[];
      /** Holds the files; whoever gets the result removes it. */
      folder: string;
    }
  /** The scene is at fault, or went over a limit. */
  | { kind: 'failed'; durationMs: number; error: string }
  | { kind: 'stopped'; durationMs: number; reason: StopReason }
  /** The disk that renders are written to is full: it may be tried again when there is room. */
  | { kind: 'no_room'; durationMs: number }
  /** There was no renderer to try it with, or, with `isShortage`, the machine lacked what it takes to. */
  | { kind: 'unavailable'; durationMs: 0; message: string; isShortage?: boolean }
  /** The worker's thread died: whose fault that is can't be told. */
  | { kind: 'interrupted'; durationMs: 0; message: string }
  /** The renderer is at fault: it may be tried again. */
  | { kind: 'died'; durationMs: number; message: string };
