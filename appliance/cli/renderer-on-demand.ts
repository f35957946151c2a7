import type { LocalRenderer } from '../../lib/index.ts';

/** Calls `use` with a renderer that is not started, and stops it when the promise of `use` is settled. */
type WithRenderer = (use: (renderer: LocalRenderer) => Promise<void>) => Promise<void>;

/** A renderer that is made and started when it is first needed, and kept until the end. */
export class RendererOnDemand {
  readonly #withRenderer: WithRenderer;
  readonly #ended = Promise.withResolvers<void>();
  #started: Promise<LocalRenderer> | undefined;
  /** Settled when everything of the renderer is removed. */
  #running: Promise<void> = Promise.resolve();

  constructor(withRenderer: WithRenderer) {
    this.#withRenderer = withRenderer;
  }

  /** A started renderer. After a failure, the next call tries again. */
  get(): Promise<LocalRenderer> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Ends it; nothing of it is left when this resolves. */
  async stop(): Promise<void> {
    this.#ended.resolve();
    await this.#running;
  }

  async #start(): Promise<LocalRenderer> {
    const { promise, resolve, reject } = Promise.withResolvers<LocalRenderer>();
    const running = this.#withRenderer(async (renderer) => {
      await Promise.race([renderer.start(), this.#ended.promise]);
      resolve(renderer);
      await this.#ended.promise;
    });
    this.#running = running.catch((error: unknown) => {
      this.#started = undefined;
      reject(error);
    });
    return promise;
  }
}
