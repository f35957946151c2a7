import type { InspectJob } from '../../model/renderer-messages.ts';
import type { Zygote } from '../start/zygote.ts';
import type { EndReason, ForkOutcome, Forks, Occupied } from './forks.ts';
import { VideoRelay } from './video-relay.ts';

/** An inspection of a render's video that reads it while the render runs, in a fork of its own. */
export class StreamedInspection {
  readonly #forks: Pick<Forks, 'run'>;
  readonly #occupied: Occupied;
  readonly #folder: string;
  readonly #job: InspectJob;
  readonly #onRefused: () => void;
  readonly #relay = new VideoRelay();
  #outcome: Promise<ForkOutcome> | undefined;
  #hasRefused = false;

  /** `folder`: for the files to publish; `onRefused`: called when it ends without success before the render does. */
  constructor(options: {
    forks: Pick<Forks, 'run'>;
    inspector: Zygote;
    background: boolean;
    folder: string;
    job: InspectJob;
    onRefused: () => void;
  }) {
    this.#forks = options.forks;
    this.#occupied = { zygote: options.inspector, background: options.background, endReason: undefined };
    this.#folder = options.folder;
    this.#job = options.job;
    this.#onRefused = options.onRefused;
  }

  /** Takes the render's connection for its video. */
  get onStream(): VideoRelay['from'] {
    return this.#relay.from;
  }

  /**
   * Whether it ended without success before the render had sent its video; then only its outcome counts. Call it when the
   * render has ended. Waits for the outcome if it has closed its connection: the render may have failed because of that.
   */
  async hasRefused(): Promise<boolean> {
    if (this.#relay.isRefused) await this.#outcome?.catch(() => {});
    return this.#hasRefused;
  }

  /** Begins, unless it has begun. */
  begin(): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = this.#forks.run(this.#occupied, this.#folder, this.#job, () => {}, this.#relay.to);
    this.#outcome.then(
      ({ verdict }) => this.#note(verdict?.type === 'inspected'),
      () => this.#note(false),
    );
  }

  /** Waits for its end; begins if it has not. */
  outcome(): Promise<ForkOutcome> {
    this.begin();
    return this.#outcome as Promise<ForkOutcome>;
  }

  /** Ends it early. The first reason counts. */
  end(reason: EndReason): void {
    this.#occupied.endReason ??= reason;
    if (this.#outcome !== undefined) this.#occupied.zygote.killJob();
  }

  /** Resolves when it has ended, early if it still runs. */
  async close(): Promise<void> {
    this.end('shutdown');
    await this.#outcome?.catch(() => {}); // Reported by `outcome`, or no longer of interest.
    this.#relay.close();
  }

  #note(isInspected: boolean): void {
    if (isInspected || this.#relay.isSent || this.#occupied.endReason !== undefined) return;
    this.#hasRefused = true;
    this.#onRefused();
  }
}
