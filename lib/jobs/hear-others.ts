import type { RenderServiceEvents } from '../render-service-options.ts';
import type { ServiceParts } from '../service-parts.ts';
import { isTerminal, statusOf } from './job.ts';

type Parts = Pick<ServiceParts, 'dispatcher' | 'ends' | 'owners' | 'remoteJobs'>;

/** Forwards changes from other processes of the service to waiters and followers, and as events of the service. */
export function hearOthers(
  { dispatcher, ends, owners, remoteJobs }: Parts,
  emit: <Name extends keyof RenderServiceEvents>(name: Name, ...values: RenderServiceEvents[Name]) => void,
): void {
  remoteJobs.events.on('change', ({ jobId, phase }) => {
    if (isTerminal(phase)) ends.notify(jobId);
  });
  remoteJobs.events.on('progress', (jobId, progress) => emit('progress', jobId, progress));
  remoteJobs.events.on('preview', (jobId, jpeg) => emit('preview', jobId, jpeg));
  remoteJobs.changes.on('changed', (job) => {
    const { jobId, owner, phase } = job;
    if (phase === 'reserving') return;
    if (isTerminal(phase)) {
      owners.note(job);
      dispatcher.endedElsewhere(owner);
    }
    emit('remoteJob', { jobId, owner, status: statusOf(phase) });
  });
}
