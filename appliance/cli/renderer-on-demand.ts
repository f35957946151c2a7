import type { LocalRenderer } from '../../lib/index.ts';

/** Calls `use` with a renderer that is not started, and removes everything of it when the promise of `use` is settled. */
type WithRenderer = (use: (renderer: LocalRenderer) => Promise<void>) => Promise<void>;

/** A renderer that was started. */
interface Running {
  started: Promise<LocalRenderer>;
  end: () => void;
  /** Resolves when nothing of it is left. */
  ended: Promise<void>;
}

/** A renderer that is started when it is needed, and ended when it has not been used for a while. */
export class RendererOnDemand {
  readonly #withRenderer: WithRenderer;
  readonly #idleMs: number;
  #running: Running | undefined;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(withRenderer: WithRenderer, { idleMs }: { idleMs: number }) {
    this.#withRenderer = withRenderer;
    this.#idleMs = idleMs;
  }

  /** Calls `work` with a started renderer. After a failure to start, the next call tries again. */
  async use<T>(work: (renderer: LocalRenderer) => Promise<T>): Promise<T> {
    this.#users += 1;
    clearTimeout(this.#idle);
    try {
      this.#running ??= this.#start();
      return await work(await this.#running.started);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#idle = setTimeout(() => void this.stop(), this.#idleMs);
    }
  }

  /** Ends it; nothing of it is left when this resolves. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const running = this.#running;
    this.#running = undefined;
    running?.end();
    await running?.ended;
  }

  #start(): Running {
    const { promise: started, resolve, reject } = Promise.withResolvers<LocalRenderer>();
    const { promise: end, resolve: setEnd } = Promise.withResolvers<void>();
    const ended = this.#withRenderer(async (renderer) => {
      await Promise.race([renderer.start(), end]);
      resolve(renderer);
      await end;
    }).catch((error: unknown) => {
      this.#running = undefined;
      reject(error);
    });
    return { started, end: setEnd, ended };
  }
}
