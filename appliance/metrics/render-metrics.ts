import { Counter, Histogram, type Registry } from 'prom-client';
import type { Job, RenderService } from '../../lib/index.ts';
import { FAILED_BY, type Pricing, QUALITY_NAMES, RENDER_WORK } from '../../lib/internal.ts';
import type { DataPlace } from '../place/data-place.ts';
import { gauge, OF_INSTALLATION, PREFIX } from './gauge.ts';

const DURATION_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800];
const WAIT_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14_400];

/** Jobs, the queue, renders, workers and credits. */
export function countRenders(
  registry: Registry,
  service: RenderService,
  { place, pricing }: { place: DataPlace; pricing: Pricing | undefined },
): void {
  const registers = [registry];
  const enqueued = new Counter({
    name: `${PREFIX}jobs_enqueued_total`,
    help: 'Accepted jobs.',
    labelNames: ['quality'] as const,
    registers,
  });
  const ended = new Counter({
    name: `${PREFIX}jobs_total`,
    help: 'Ended jobs.',
    labelNames: ['status', 'quality'] as const,
    registers,
  });
  const failures = new Counter({
    name: `${PREFIX}jobs_failed_total`,
    help: 'Failed jobs, by what they failed by.',
    labelNames: ['failed_by'] as const,
    registers,
  });
  const attempts = new Counter({
    name: `${PREFIX}render_attempts_total`,
    help: 'Started renders; more than jobs if workers die.',
    labelNames: ['quality'] as const,
    registers,
  });
  const wait = new Histogram({
    name: `${PREFIX}queue_wait_seconds`,
    help: 'Time from the acceptance of a job to the start of its first render.',
    labelNames: ['quality'] as const,
    buckets: WAIT_SECONDS,
    registers,
  });
  const duration = new Histogram({
    name: `${PREFIX}render_duration_seconds`,
    help: 'Wall-clock time of the last render of an ended job.',
    labelNames: ['status', 'quality'] as const,
    buckets: DURATION_SECONDS,
    registers,
  });
  const work = new Counter({
    name: `${PREFIX}render_work_seconds_total`,
    help: 'Wall-clock time of the last renders of ended jobs, by what it was spent on.',
    labelNames: ['work', 'quality'] as const,
    registers,
  });
  const copied = new Counter({
    name: `${PREFIX}copied_frames_total`,
    help: 'Frames that renders copied from the last video of their scene.',
    labelNames: ['quality'] as const,
    registers,
  });
  const settled = new Counter({
    name: `${PREFIX}credits_settled_total`,
    help: 'Charged credits.',
    registers,
  });
  const voided = new Counter({
    name: `${PREFIX}credits_voided_total`,
    help: 'Reserved credits released because a job failed.',
    registers,
  });
  // Export zeros from the start: `rate` misses the first event of a series that begins with it.
  for (const cause of FAILED_BY) failures.inc({ failed_by: cause }, 0);
  for (const quality of QUALITY_NAMES) {
    enqueued.inc({ quality }, 0);
    attempts.inc({ quality }, 0);
    wait.zero({ quality });
    copied.inc({ quality }, 0);
    for (const kind of RENDER_WORK) work.inc({ work: kind, quality }, 0);
    for (const status of ['completed', 'failed']) {
      ended.inc({ status, quality }, 0);
      duration.zero({ status, quality });
    }
  }

  service.on('job', (job: Job) => {
    const { status, quality } = job;
    if (status === 'queued') {
      if (job.startedAt === null) enqueued.inc({ quality });
    } else if (status === 'running') {
      attempts.inc({ quality });
      if (job.attempts === 1) {
        const waitedMs = Date.now() - Date.parse(job.createdAt);
        wait.observe({ quality }, Math.max(0, waitedMs) / 1000);
      }
    } else {
      ended.inc({ status, quality });
      if (job.failedBy) failures.inc({ failed_by: job.failedBy });
      if (job.attempts > 0) duration.observe({ status, quality }, (job.durationMs ?? 0) / 1000);
      const { workMs } = job.usage ?? {};
      for (const kind of RENDER_WORK) work.inc({ work: kind, quality }, (workMs?.[kind] ?? 0) / 1000);
      copied.inc({ quality }, job.usage?.copiedFrames ?? 0);
      settled.inc(job.creditsCost);
      if (status === 'failed') voided.inc(pricing?.reserveCredits(quality) ?? 0);
    }
  });

  gauge(registry, 'jobs', `Queued and running jobs. ${OF_INSTALLATION}`, ['status'], (set) => {
    const { queued, running, runningEverywhere } = service.status();
    set({ status: 'queued' }, queued);
    set({ status: 'running' }, place.machineStore ? runningEverywhere : running);
  });
  const oldest = `Waiting time of the oldest queued job. ${OF_INSTALLATION}`;
  gauge(registry, 'queue_oldest_seconds', oldest, [], (set) => {
    const { oldestQueuedAt } = service.status();
    const waitedMs = oldestQueuedAt === null ? 0 : Date.now() - Date.parse(oldestQueuedAt);
    set({}, Math.max(0, waitedMs) / 1000);
  });
  gauge(registry, 'queue_paused', `Whether the queue is paused. ${OF_INSTALLATION}`, [], (set) => {
    set({}, service.status().queuePausedAt === null ? 0 : 1);
  });
  gauge(
    registry,
    'workers',
    'Workers of this process by state; cold ones have no renderer process.',
    ['state'],
    (set) => {
      const { workers, warmWorkers, running } = service.status();
      set({ state: 'busy' }, running);
      set({ state: 'idle' }, Math.max(0, warmWorkers - running));
      set({ state: 'cold' }, Math.max(0, workers - Math.max(warmWorkers, running)));
    },
  );
  new Counter({
    name: `${PREFIX}renderer_deaths_total`,
    help: 'Renderer processes that died or failed to start, and were replaced.',
    registers,
    collect() {
      this.reset();
      this.inc(service.status().rendererDeaths);
    },
  });
}
