import { EventEmitter } from 'node:events';
import type { Clock } from '../../lib/index.ts';
import type { RenderResult, RenderTask, StopReason } from '../../lib/model/render-task.ts';
import type { PooledRender, RenderEvents } from '../../lib/render/pool/render-pool.ts';
import type { Renderer } from '../../lib/render/pool/renderer.ts';

const LONGEST_RENDER_MS = 30_000;

/** Renders nothing, by a clock, and ends in every way in which a render can. */
export class SimulatedRenderer extends EventEmitter<{ ready: [] }> {
  readonly size: number;
  readonly #clock: Clock;
  readonly #random: () => number;
  #running = 0;
  /** The largest number of concurrent renders. */
  mostRunning = 0;

  constructor(options: { size: number; clock: Clock; random: () => number }) {
    super();
    this.size = options.size;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  render({ jobId }: Omit<RenderTask, 'port'>, events: RenderEvents): PooledRender {
    const { promise: result, resolve } = Promise.withResolvers<RenderResult>();
    this.#running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.#running);
    const durationMs = Math.floor(this.#random() * LONGEST_RENDER_MS);
    let startedMs: number | undefined;
    const workedMs = () => (startedMs === undefined ? 0 : this.#clock.uptimeMs() - startedMs);
    const start = () => {
      startedMs = this.#clock.uptimeMs();
      events.onStarted();
    };
    const timers = [
      this.#clock.after(durationMs / 3, start),
      this.#clock.after(durationMs / 2, () =>
        events.onProgress({ type: 'progress', stage: 'rendering', frames: 1, seconds: 1 }),
      ),
      this.#clock.after(durationMs, () => end(this.#resultOf(jobId, durationMs))),
    ];
    let hasEnded = false;
    const end = (how: RenderResult) => {
      if (hasEnded) return;
      hasEnded = true;
      for (const timer of timers) timer.cancel();
      this.#running -= 1;
      resolve(how);
    };
    const stop = (reason: StopReason) => {
      // A render that is stopped takes a moment, in which it may end normally.
      this.#clock.after(this.#random() * 500, () => end({ kind: 'stopped', durationMs, reason }));
    };
    return { result, stop, workedMs };
  }

  #resultOf(jobId: string, durationMs: number): RenderResult {
    const chance = this.#random();
    if (chance < 0.05) return { kind: 'died', durationMs, message: 'killed' };
    if (chance < 0.08) return { kind: 'interrupted', durationMs: 0, message: 'the thread ended' };
    if (chance < 0.11)
      return { kind: 'unavailable', durationMs: 0, message: 'none', isShortage: chance < 0.1 };
    if (chance < 0.12) return { kind: 'disk_full', durationMs };
    if (chance < 0.25) return { kind: 'failed', durationMs, error: 'NameError', failedBy: 'scene' };
    const folder = `/nonexistent/${jobId}`;
    const files = (['video.mp4', 'thumbnail.jpg'] as const).map((name) => ({
      name,
      path: `${folder}/${name}`,
    }));
    return { kind: 'rendered', durationMs, frames: 1, seconds: 1, files, plays: [], folder };
  }

  get mayRender(): boolean {
    return true;
  }

  get status(): Renderer['status'] {
    const { size: workers } = this;
    const good = { deaths: 0, refused: false, broken: false, workFolderUnusable: false };
    return { workers, warmWorkers: workers, ...good, versions: null, sandbox: null };
  }

  async start(): Promise<void> {}
  async stopWatch(): Promise<void> {}
  async stop(): Promise<void> {}
}
