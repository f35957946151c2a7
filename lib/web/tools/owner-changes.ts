import type { Job } from '../../model/job.ts';
import type { ToolsService } from './tools-service.ts';

/** Changes that a slow reader has not taken: more are given up, and the reader is told. */
const MOST_HELD = 1_000;

/** The changes of an owner's jobs, also in other processes, until the signal is aborted. */
export async function* changesOf(
  service: ToolsService,
  owner: string,
  signal: AbortSignal,
): AsyncGenerator<Job | 'gap', void> {
  let held: (Job | string)[] = [];
  let isOverfull = false;
  let wake = () => {};
  const add = (change: Job | string) => {
    if (held.length < MOST_HELD) held.push(change);
    else isOverfull = true;
    wake();
  };
  const onJob = (job: Job) => job.owner === owner && add(job);
  const onRemote = ({ jobId, owner: of }: Pick<Job, 'jobId' | 'owner'>) => of === owner && add(jobId);
  const onAbort = () => wake();
  service.on('job', onJob);
  service.on('remoteJob', onRemote);
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (held.length === 0 && !isOverfull) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
        continue;
      }
      const changes = held;
      held = [];
      if (isOverfull) yield 'gap';
      isOverfull = false;
      for (const change of changes) yield typeof change === 'string' ? await service.get(change) : change;
    }
  } finally {
    service.off('job', onJob);
    service.off('remoteJob', onRemote);
    signal.removeEventListener('abort', onAbort);
  }
}
