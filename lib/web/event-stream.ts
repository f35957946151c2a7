import type { JobEvent } from '../jobs/watch/job-followers.ts';
import { type ArtifactLinks, jobJson } from '../model/job-json.ts';
import type { Clock } from '../time/clock.ts';

/** Proxies close connections on which nothing is sent for a minute. */
const KEEP_ALIVE_MS = 15_000;

/**
 * The events of a job as server-sent events: `job` with the job as `GET` returns it, `progress` with `{ stage, frames,
 * seconds }`, `preview` with a JPEG in base64. The stream closes after the end of the job, and when the service stops.
 *
 * @param events whose first event has been read: `first`
 */
export function eventStream(
  first: JobEvent,
  events: AsyncGenerator<JobEvent, void>,
  { links, close, clock }: { links: ArtifactLinks; close: () => void; clock: Clock },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: JobEvent | undefined = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const keepAlive = clock.every(KEEP_ALIVE_MS, () => controller.enqueue(encoder.encode(':\n\n')));
      try {
        const event = next ?? (await events.next()).value;
        next = undefined;
        if (event) controller.enqueue(encoder.encode(textOf(event, links)));
        else controller.close();
      } catch {
        // The service stopped: the client asks again.
        controller.close();
      } finally {
        keepAlive.cancel();
      }
    },
    async cancel() {
      close();
      // Aborting the signal does not end a generator that waits for its consumer.
      await events.return().catch(() => {});
    },
  });
}

function textOf(event: JobEvent, links: ArtifactLinks): string {
  if (event.type === 'job') return `event: job\ndata: ${oneLine(jobJson(event.job, links))}\n\n`;
  if (event.type === 'progress') return `event: progress\ndata: ${JSON.stringify(event.progress)}\n\n`;
  return `event: preview\ndata: ${Buffer.from(event.jpeg).toString('base64')}\n\n`;
}

/** Metadata may contain line breaks between its values; within strings they are escaped. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]/g, ' ');
}
