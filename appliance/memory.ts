import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Nearly all objects that a request makes are garbage at its end, and V8 lets 16 MiB of them gather before it looks, or
 * up to 64 MiB where many are still in use then. At 16 MiB few requests are looked at twice while they wait for the
 * disk; more would only take memory: 100 MiB in all for a service with 100,000 jobs. Half as much takes a twentieth of
 * the requests away.
 */
const YOUNG_BYTES = 2 * 16 * 1024 * 1024;

/** Keeps V8's young generation from growing beyond what is of use. Call it once, before much else has run. */
export function keepMemorySmall(): void {
  let mayGrow = true;
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const may = (young?.space_size ?? 0) < YOUNG_BYTES;
    // It grows after a collection that left much, by this factor; 1: not.
    if (may !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
    mayGrow = may;
  };
  const collections = new PerformanceObserver(look);
  collections.observe({ entryTypes: ['gc'] });
  look();
}
