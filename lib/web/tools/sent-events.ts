import type { Clock } from '../../time/clock.ts';

/** Proxies close connections on which nothing is sent for a minute. */
const KEEP_ALIVE_MS = 15_000;

/** A server-sent event. */
export interface SentEvent {
  /** Sent back as `Last-Event-ID` after a lost connection; undefined: that of the preceding event stays. */
  id?: string;
  event: string;
  /** Without line breaks. */
  data: string;
}

/** A response with events as they come; it ends with them. `close` is called when it has ended, or the client has left. */
export function eventsAnswer(
  events: AsyncGenerator<SentEvent, void>,
  { close, clock }: { close: () => void; clock: Clock },
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const keepAlive = clock.every(KEEP_ALIVE_MS, () => controller.enqueue(encoder.encode(':\n\n')));
      try {
        const { value: event, done } = await events.next();
        if (!done && event) return controller.enqueue(encoder.encode(textOf(event)));
        close();
        controller.close();
      } catch {
        // The service stopped: the client asks again.
        close();
        controller.close();
      } finally {
        keepAlive.cancel();
      }
    },
    async cancel() {
      close();
      // Aborting a signal does not end a generator that waits for its consumer.
      await events.return().catch(() => {});
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
}

function textOf({ id, event, data }: SentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** JSON in one line: metadata may contain line breaks between its values; within strings they are escaped. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]/g, ' ');
}
