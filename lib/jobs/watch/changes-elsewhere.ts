import type { RemoteJobs } from '../../cluster/remote-jobs.ts';
import { isTerminal, type Job, statusOf } from '../../model/job.ts';
import type { RenderProgress } from '../../model/render-task.ts';
import type { Fairness } from '../fairness/fairness.ts';
import type { JobEnds } from './job-ends.ts';

interface Parts {
  dispatcher: { readonly runningIds: readonly string[]; endedElsewhere(owner: string): void };
  ends: Pick<JobEnds, 'notify'>;
  fairness: Pick<Fairness, 'note'>;
  remoteJobs: Pick<RemoteJobs, 'events' | 'changes'>;
}

/** Called for events about jobs of other processes. */
export interface ForeignEvents {
  remoteJob: (job: Pick<Job, 'jobId' | 'owner' | 'status'>) => void;
  progress: (jobId: string, progress: RenderProgress) => void;
  preview: (jobId: string, jpeg: Uint8Array) => void;
}

/** Forwards changes from other processes of the service to waiters and followers, and as events of the service. */
export function tellChangesElsewhere(
  { dispatcher, ends, fairness, remoteJobs }: Parts,
  tell: ForeignEvents,
): void {
  remoteJobs.events.on('change', ({ jobId, phase }) => {
    if (isTerminal(phase)) ends.notify(jobId);
  });
  remoteJobs.events.on('progress', tell.progress);
  remoteJobs.events.on('preview', tell.preview);
  remoteJobs.changes.on('changed', (job) => {
    const { jobId, owner, phase } = job;
    if (phase === 'reserving') return;
    // Announced a moment after the change: its render may have begun here already.
    if (phase === 'queued' && dispatcher.runningIds.includes(jobId)) return;
    if (isTerminal(phase)) {
      fairness.note(job);
      dispatcher.endedElsewhere(owner);
    }
    tell.remoteJob({ jobId, owner, status: statusOf(phase) });
  });
}
