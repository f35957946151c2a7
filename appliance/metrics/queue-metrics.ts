import type { Registry } from 'prom-client';
import type { RenderService } from '../../lib/index.ts';
import { machineInfos } from '../admin/machines.ts';
import type { DataPlace } from '../place/data-place.ts';
import { gauge, OF_INSTALLATION } from './gauge.ts';

/** Assumed until a job of any quality has completed. */
const ASSUMED_MS = 10_000;

/** How long the workers need for what waits, for an autoscaler. The same in all processes of an installation. */
export function measureQueue(registry: Registry, place: DataPlace, service: RenderService): void {
  gauge(
    registry,
    'queue_seconds',
    'Work that waits per worker, in seconds: waiting jobs of a quality, times the mean duration of its latest renders, by ' +
      `the number of workers that render it. ${OF_INSTALLATION}`,
    ['quality'],
    async (set) => {
      const work = await place.waitingWork();
      const workersFor = await workersByQuality(place, service);
      const known = work.flatMap(({ meanMs }) => meanMs ?? []);
      const usualMs = known.length === 0 ? ASSUMED_MS : known.reduce((sum, ms) => sum + ms, 0) / known.length;
      for (const { quality, waiting, meanMs } of work)
        set({ quality }, (waiting * (meanMs ?? usualMs)) / 1000 / Math.max(1, workersFor(quality)));
    },
  );
}

async function workersByQuality(
  { machineStore }: DataPlace,
  service: RenderService,
): Promise<(quality: string) => number> {
  const listed = await machineStore?.list();
  if (!listed) return () => service.status().workers;
  const rendering = machineInfos(listed).filter(
    ({ roles, state }) => roles.includes('worker') && state === 'ready',
  );
  return (quality) =>
    rendering
      .filter(({ qualities }) => qualities?.some((one) => one === quality) ?? true)
      .reduce((sum, { workers }) => sum + workers, 0);
}
