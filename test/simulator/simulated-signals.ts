import { LocalSignals } from '../../lib/cluster/local-signals.ts';
import type { Clock } from '../../lib/index.ts';
import type { Signal, Signals } from '../../lib/storage/signals.ts';

const LATEST_MS = 200;

interface Listening {
  local: LocalSignals;
  clock: Clock;
  isReached: () => boolean;
}

/** Signals between processes: late, twice or never, and always immediately in the process that publishes them. */
export class SimulatedSignals {
  readonly #random: () => number;
  readonly #all = new Set<Listening>();
  /** Signals get lost, or arrive twice. */
  isFaulty = true;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The signals of a process. `isReached`: false while its network is down. */
  join({ clock, isReached }: Omit<Listening, 'local'>): { signals: Signals; leave(): void } {
    const listening = { local: new LocalSignals(), clock, isReached };
    this.#all.add(listening);
    const signals: Signals = {
      publish: (signal) => {
        listening.local.publish(signal);
        if (isReached()) this.#send(signal, listening);
      },
      subscribe: (listener) => listening.local.subscribe(listener),
    };
    return { signals, leave: () => void this.#all.delete(listening) };
  }

  #send(signal: Signal, from: Listening): void {
    const text = JSON.stringify(signal);
    for (const to of this.#all) {
      if (to === from) continue;
      for (let copies = this.#copies(); copies > 0; copies--)
        to.clock.after(this.#random() * LATEST_MS, () => {
          if (this.#all.has(to) && to.isReached()) to.local.publish(JSON.parse(text) as Signal);
        });
    }
  }

  #copies(): number {
    const chance = this.#random();
    if (!this.isFaulty || chance > 0.15) return 1;
    return chance < 0.05 ? 2 : 0;
  }
}
