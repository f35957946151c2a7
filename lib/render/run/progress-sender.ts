import type { RenderMessage, RenderProgress, RenderStage } from '../../model/render-task.ts';
import type { JobReport } from '../../model/renderer-messages.ts';

const STAGES: RenderStage[] = ['loading', 'rendering', 'finishing'];
const PROGRESS_INTERVAL_MS = 50;
// Tolerance: a late preview may be followed by one in time.
const PREVIEW_HASTE = 0.5;

/**
 * Forwards progress reports of a job at a limited rate, so a scene cannot flood the service. Skipped reports are
 * merged into the next message.
 */
export class ProgressSender {
  readonly #send: (message: RenderMessage) => void;
  readonly #previewIntervalMs: number;
  readonly #nowMs: () => number;
  readonly #progress: RenderProgress = { stage: 'loading', frames: 0, seconds: 0 };
  #begun = false;
  readonly #enteredAtMs: Partial<Record<RenderStage, number>> = {};
  /** Excludes stage messages: the first frame often follows one immediately, and the next may take long. */
  #advanceSentAtMs = Number.NEGATIVE_INFINITY;
  #previewSentAtMs = Number.NEGATIVE_INFINITY;

  /** `previewIntervalMs`: 0 for no previews. */
  constructor(options: {
    send: (message: RenderMessage) => void;
    previewIntervalMs: number;
    nowMs: () => number;
  }) {
    this.#send = options.send;
    this.#previewIntervalMs = options.previewIntervalMs;
    this.#nowMs = options.nowMs;
  }

  /** Handles a report of the job. */
  hear(report: JobReport): void {
    if (report.type === 'stage') this.#enter(report.stage);
    else if (report.type === 'progress') this.#advance(report.frames, report.seconds);
    else if (report.type === 'preview') this.#show(report.jpeg);
  }

  /** The time of each entered stage, in milliseconds. The first began at `startedAtMs`, the last ends now. */
  stagesMs(startedAtMs: number): Partial<Record<RenderStage, number>> {
    const entered = STAGES.filter((stage) => this.#enteredAtMs[stage] !== undefined);
    const beginnings = entered.map((stage, index) =>
      index === 0 ? startedAtMs : (this.#enteredAtMs[stage] ?? 0),
    );
    const ends = [...beginnings.slice(1), this.#nowMs()];
    return Object.fromEntries(
      entered.map((stage, index) => [stage, Math.round((ends[index] ?? 0) - (beginnings[index] ?? 0))]),
    );
  }

  /** Sends a stage once; ignores earlier stages. */
  #enter(stage: RenderStage): void {
    const isNew = !this.#begun || STAGES.indexOf(stage) > STAGES.indexOf(this.#progress.stage);
    if (!isNew) return;
    this.#enteredAtMs[stage] = this.#nowMs();
    this.#sendProgress({ stage });
  }

  #advance(frames: number, seconds: number): void {
    Object.assign(this.#progress, { frames, seconds });
    if (this.#nowMs() - this.#advanceSentAtMs < PROGRESS_INTERVAL_MS) return;
    this.#advanceSentAtMs = this.#nowMs();
    this.#sendProgress({});
  }

  #show(jpegBase64: string): void {
    const restMs = this.#previewIntervalMs * PREVIEW_HASTE;
    if (restMs === 0 || this.#nowMs() - this.#previewSentAtMs < restMs) return;
    this.#previewSentAtMs = this.#nowMs();
    this.#send({ type: 'preview', jpegBase64 });
  }

  #sendProgress(change: Partial<RenderProgress>): void {
    this.#begun = true;
    this.#send({ type: 'progress', ...Object.assign(this.#progress, change) });
  }
}
