import type { RenderProgress } from '../../lib/index.ts';
import { isScenepressError } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { printable } from './output.ts';
import type { ProgressLine } from './progress-line.ts';
import { OTHER_ARTIFACTS } from './render-output.ts';
import type { RenderedScene } from './render-scenes.ts';

/** The render of a scene begins. */
export interface StartedEvent {
  event: 'started';
  file: string;
  scene: string;
}

/** The progress of a render, at most once a second. */
export interface ProgressEvent extends Omit<RenderProgress, 'seconds'> {
  event: 'progress';
  file: string;
  scene: string;
  /** Length of the video so far. */
  videoSeconds: number;
}

/** What became of a scene, or of a file whose scenes are not known. */
export interface FinishedEvent
  extends Omit<RenderedScene, 'status' | 'scene' | 'durationMs' | 'usage' | 'output'> {
  event: 'finished';
  file: string;
  scene: string | null;
  /** `skipped`: it could not be tried. */
  status: RenderedScene['status'] | 'skipped';
  /** How long the render took; null if there was none. */
  seconds: number | null;
}

const PROGRESS_MS = 1000;
const NO_OTHERS = Object.fromEntries(OTHER_ARTIFACTS.map(({ field }) => [field, null]));

/** Reports the renders of several files: with `--json` a line for each event, otherwise only errors. */
export class RenderEvents {
  readonly #isJson: boolean;
  readonly #progress: ProgressLine;

  constructor({ json = false }: { json?: boolean }, progress: ProgressLine) {
    this.#isJson = json;
    this.#progress = progress;
  }

  /** Returns what reports its progress. */
  started(file: string, scene: string): (progress: RenderProgress) => void {
    this.#print({ event: 'started', file, scene });
    let reportedAt = Number.NEGATIVE_INFINITY;
    return ({ seconds: videoSeconds, ...progress }) => {
      const now = performance.now();
      if (now - reportedAt < PROGRESS_MS) return;
      reportedAt = now;
      this.#print({ event: 'progress', file, scene, ...progress, videoSeconds });
    };
  }

  rendered(file: string, result: RenderedScene): void {
    const { durationMs, usage: _, output: __, ...shown } = result;
    this.#print({ event: 'finished', file, ...shown, seconds: durationMs / 1000 });
  }

  /** It failed otherwise than by its scene, or could not be tried; sets the exit code. Other errors are thrown. */
  refused(file: string, scene: string | null, error: unknown): void {
    if (!(error instanceof UserError) && !isScenepressError(error)) throw error;
    const hasFailed = error instanceof UserError && error.exitCode === 1;
    if (hasFailed) process.exitCode ||= 1;
    else process.exitCode = 2;
    if (!this.#isJson) {
      this.#progress.clear();
      process.stderr.write(`${[file, scene].filter(Boolean).join(': ')}: ${printable(error.message)}\n`);
    }
    this.#print({
      event: 'finished',
      file,
      scene,
      status: hasFailed ? 'failed' : 'skipped',
      ...{ video: null, ...NO_OTHERS, sections: null, seconds: null },
      ...{ error: error.message, failedBy: null, diagnosis: null },
    });
  }

  #print(event: StartedEvent | ProgressEvent | FinishedEvent): void {
    if (this.#isJson) process.stdout.write(`${JSON.stringify(event)}\n`);
  }
}
