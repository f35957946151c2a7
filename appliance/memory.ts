import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * Nearly all objects that a request makes are garbage at its end. V8 lets 8 MiB of them gather before it looks, later up
 * to 64 MiB. With 8, most requests are looked at twice while they wait for the disk; with 16 few are, and a collection
 * takes a twelfth of the time instead of a seventh. More would only take memory: 100 MiB in all for a service with
 * 100,000 jobs.
 */
const YOUNG_BYTES = 2 * 16 * 1024 * 1024;

/** What a start and its audit leave is gone soon, and no reason to grow. */
const SETTLED_MS = 10_000;

/** Keeps V8's young generation from growing beyond what is of use. Call it once, before much else has run. */
export function keepMemorySmall(): void {
  const beginning = new Set<Worker>();
  let mayGrow: boolean | undefined;
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const isSmall = (young?.space_size ?? 0) < YOUNG_BYTES;
    const may = isSmall && (beginning.size > 0 || performance.now() > SETTLED_MS);
    // It grows after a collection that left much, by this factor; 1: not.
    if (may !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
    mayGrow = may;
  };
  // A thread that begins with other flags than the process compiles Node's own code anew: a tenth of a second.
  process.on('worker', (worker: Worker) => {
    const begun = () => {
      if (beginning.delete(worker)) look();
    };
    beginning.add(worker);
    worker.once('message', begun).once('exit', begun);
    look();
  });
  const collections = new PerformanceObserver(look);
  collections.observe({ entryTypes: ['gc'] });
  look();
}
