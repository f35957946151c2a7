import type { RenderServiceEvents } from '../render-service-options.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Fairness } from './fairness.ts';
import { isTerminal, statusOf } from './job.ts';
import type { JobEnds } from './job-ends.ts';
import type { RemoteJobs } from './remote-jobs.ts';

interface Parts {
  dispatcher: Pick<Dispatcher, 'endedElsewhere' | 'runningIds'>;
  ends: Pick<JobEnds, 'notify'>;
  fairness: Pick<Fairness, 'note'>;
  remoteJobs: Pick<RemoteJobs, 'events' | 'changes'>;
}

/** Forwards changes from other processes of the service to waiters and followers, and as events of the service. */
export function hearOthers(
  { dispatcher, ends, fairness, remoteJobs }: Parts,
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
    // Announced a moment after the change: its render may have begun here already.
    if (phase === 'queued' && dispatcher.runningIds.includes(jobId)) return;
    if (isTerminal(phase)) {
      fairness.note(job);
      dispatcher.endedElsewhere(owner);
    }
    emit('remoteJob', { jobId, owner, status: statusOf(phase) });
  });
}
