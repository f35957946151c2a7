import type { Signal, Signals } from '../storage/signals.ts';

/**
 * In-process signals, for a service with one process. Delivered synchronously.
 *
 * ```ts
 * const signals = new LocalSignals();
 * const unsubscribe = signals.subscribe((signal) => console.log(signal));
 * const service = new RenderService({ folder: './renders', signals });
 * ```
 */
export class LocalSignals implements Signals {
  readonly #listeners = new Set<(signal: Signal) => void>();

  publish(signal: Signal): void {
    for (const listener of [...this.#listeners]) listener(signal);
  }

  subscribe(listener: (signal: Signal) => void): () => void {
    const own = (signal: Signal) => listener(signal);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }
}
