import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * Size limit of the young generation. Nearly all objects of a request are garbage when it ends. V8 starts with 8 MiB
 * and grows to up to 64 MiB. With 8, most requests survive a scavenge while they wait for the disk; with 16 few do,
 * and scavenges take a twelfth of the time instead of a seventh. More only costs memory: 100 MiB in all for a service
 * with 100,000 jobs.
 */
const YOUNG_BYTES = 2 * 16 * 1024 * 1024;

/** Objects of the start and its audit are short-lived and no reason to grow. */
const SETTLED_MS = 10_000;

/** Limits the growth of V8's young generation. Call it once, early in the process. */
export function limitYoungGeneration(): void {
  const starting = new Set<Worker>();
  let mayGrow: boolean | undefined;
  const update = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const isSmall = (young?.space_size ?? 0) < YOUNG_BYTES;
    const may = isSmall && (starting.size > 0 || performance.now() > SETTLED_MS);
    // V8 grows the generation by this factor when many objects survive; 1 prevents that.
    if (may !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
    mayGrow = may;
  };
  // A thread started with other V8 flags can't use Node's code cache, which costs a tenth of a second.
  process.on('worker', (worker: Worker) => {
    const started = () => {
      if (starting.delete(worker)) update();
    };
    starting.add(worker);
    worker.once('message', started).once('exit', started);
    update();
  });
  const collections = new PerformanceObserver(update);
  collections.observe({ entryTypes: ['gc'] });
  update();
}
