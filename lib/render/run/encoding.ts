import { join } from 'node:path';
import type { EncodeJob, JobReport, RenderEnded } from '../../model/renderer-messages.ts';
import type { Zygote } from '../start/zygote.ts';
import type { EndReason, ForkOutcome, Forks, Occupied } from './forks.ts';

const SOCKET_NAME = 'frames';

/** The encoding of a render's frames, in a fork of its own while the render runs. */
export class Encoding {
  /** Where it takes the frames of the render. */
  readonly frames: string;
  /** Why it was interrupted or could not begin; undefined while it runs and when it has an outcome. */
  error: Error | undefined;
  readonly #forks: Pick<Forks, 'run'>;
  readonly #occupied: Occupied;
  readonly #folder: string;
  readonly #job: EncodeJob;
  readonly #onPreview: (report: JobReport) => void;
  readonly #onFailed: () => void;
  #outcome: Promise<ForkOutcome> | undefined;
  #tell: ((message: RenderEnded) => void) | undefined;
  #hasRenderEnded = false;

  /** `folder`: for the files to publish; `onFailed`: called when it fails before the render has ended. */
  constructor(options: {
    forks: Pick<Forks, 'run' | 'seen'>;
    encoder: Zygote;
    background: boolean;
    folder: string;
    job: EncodeJob;
    onPreview: (report: JobReport) => void;
    onFailed: () => void;
  }) {
    this.frames = join(options.forks.seen(options.folder), SOCKET_NAME);
    this.#forks = options.forks;
    this.#occupied = { zygote: options.encoder, background: options.background, endReason: undefined };
    this.#folder = options.folder;
    this.#job = options.job;
    this.#onPreview = options.onPreview;
    this.#onFailed = options.onFailed;
  }

  /** Begins. A render that starts at the same time waits for it. */
  begin(): void {
    this.#outcome = this.#forks.run(this.#occupied, this.#folder, this.#job, this.#hear, {
      frames: this.frames,
      onConnected: (tell) => {
        this.#tell = tell;
        if (this.#hasRenderEnded) tell({ type: 'renderEnded' });
      },
    });
    this.#outcome.then(
      (outcome) => {
        if (hasFailed(outcome)) this.#noteFailure();
      },
      (error: Error) => {
        this.error = error;
        this.#noteFailure();
      },
    );
  }

  /** Lets it write the files, because all processes of the render are dead, and waits for its end. */
  outcome(): Promise<ForkOutcome> {
    this.#hasRenderEnded = true;
    this.#tell?.({ type: 'renderEnded' });
    return this.#outcome as Promise<ForkOutcome>;
  }

  /** Ends it early. The first reason counts. */
  end(reason: EndReason): void {
    this.#occupied.endReason ??= reason;
    this.#hasRenderEnded = true;
    if (this.#outcome !== undefined) this.#occupied.zygote.killJob();
  }

  /** Resolves when it has ended, early if it still runs. */
  async close(): Promise<void> {
    this.end('shutdown');
    await this.#outcome?.catch(() => {}); // Reported by `outcome`, or no longer of interest.
  }

  #noteFailure(): void {
    if (!this.#hasRenderEnded) this.#onFailed();
  }

  readonly #hear = (report: JobReport): void => {
    if (report.type === 'preview') this.#onPreview(report);
  };
}

/** Whether an encoding was refused or ended by other than the end of its render. */
export function hasFailed({ verdict, end }: ForkOutcome): boolean {
  return verdict?.type === 'failed' || end.exitCode !== 0;
}
