import type { RenderProgress } from '../../lib/index.ts';
import type { RenderStage } from '../../lib/internal.ts';
import { counted } from './output.ts';

const BAR_WIDTH = 24;
const BLOCK_WIDTH = 6;
const REDRAW_MS = 100;
export const STAGES: Record<RenderStage, string> = {
  loading: 'Loading the scene',
  rendering: 'Rendering',
  finishing: 'Finishing',
};

/**
 * Shows the progress of a render on standard error: an animated line on a terminal, else one line per stage. The bar
 * only indicates activity: the length of a scene isn't known before it ends.
 */
export class ProgressLine {
  #progress: RenderProgress | null = null;
  #timer: NodeJS.Timeout | undefined;
  #step = 0;
  readonly #startedAt = performance.now();
  readonly #idleText: string;
  #said: string | null = null;

  /** `idleText`: shown while there is no progress. */
  constructor(idleText = 'Starting') {
    this.#idleText = idleText;
  }

  start(): void {
    if (!process.stderr.isTTY) return;
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Null clears the progress. */
  show(progress: RenderProgress | null): void {
    const changed = progress && progress.stage !== this.#progress?.stage;
    this.#progress = progress;
    if (changed && !process.stderr.isTTY) process.stderr.write(`${STAGES[progress.stage]} …\n`);
  }

  /** Replaces the text shown while there is no progress; null restores it. */
  say(words: string | null): void {
    this.#said = words;
  }

  stop(): void {
    this.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Writes text of a scene, above the line. */
  write(text: string): void {
    this.clear();
    process.stderr.write(text);
    // The animated line needs one of its own.
    if (this.#timer && !text.endsWith('\n')) process.stderr.write('\n');
  }

  /** Clears the line for other output; it is redrawn below that. */
  clear(): void {
    if (this.#timer) process.stderr.write('\r\x1b[K');
  }

  #draw(): void {
    const { stage, frames, seconds } = this.#progress ?? { stage: undefined, frames: 0, seconds: 0 };
    const at = this.#step++ % BAR_WIDTH;
    const bar = Array.from({ length: BAR_WIDTH }, (_, cell) =>
      (cell - at + BAR_WIDTH) % BAR_WIDTH < BLOCK_WIDTH ? '█' : '░',
    ).join('');
    const elapsed = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    const drawn = frames > 0 ? `  ${counted(frames, 'frame')}, ${seconds.toFixed(1)} s of video` : '';
    const words = stage ? STAGES[stage] : (this.#said ?? this.#idleText);
    process.stderr.write(`\r${bar}  ${words}${drawn}  (${elapsed} s)\x1b[K`);
  }
}
