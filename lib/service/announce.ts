import { type Emitter, tell } from '../async/emitter.ts';
import { tellChangesElsewhere } from '../jobs/watch/changes-elsewhere.ts';
import { isTerminal, type JobRecord, jobOf } from '../model/job.ts';
import type { RenderServiceEvents } from './render-service-options.ts';
import type { ServiceParts } from './service-parts.ts';

/** Emits the events of a service, and tells its parts what concerns them. */
export function announce(service: Emitter<RenderServiceEvents>, parts: ServiceParts): void {
  const { events, webhooks } = parts;
  const changed = (record: JobRecord) => {
    const { dispatcher, ends, fairness } = parts;
    tell(service, 'job', jobOf(record));
    if (record.phase === 'queued') dispatcher.added();
    if (!isTerminal(record.phase)) return;
    fairness.note(record);
    dispatcher.ended(record.owner);
    ends.notify(record.jobId);
    if (record.webhookUrl !== null) webhooks.notifyDue();
  };
  events.on('change', changed);
  events.on('progress', (jobId, progress) => tell(service, 'progress', jobId, progress));
  events.on('preview', (jobId, jpeg) => tell(service, 'preview', jobId, jpeg));
  tellChangesElsewhere(parts, {
    remoteJob: (job) => tell(service, 'remoteJob', job),
    progress: (jobId, progress) => tell(service, 'progress', jobId, progress),
    preview: (jobId, jpeg) => tell(service, 'preview', jobId, jpeg),
  });
  webhooks.on('delivery', (delivery) => tell(service, 'delivery', delivery));
}
