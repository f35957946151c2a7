/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** Where to continue after a lost connection; undefined: it has none. */
  id?: string;
  event: string;
  data: string;
}

/** No server of Scenepress sends a longer one. */
const LONGEST_EVENT = 1024 * 1024;

/** Parses a `text/event-stream` as it arrives. Ends at an event that is too long. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let pending = '';
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (pending + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? '';
      if (length + pending.length > LONGEST_EVENT) return;
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0)
            yield { event: event || 'message', data: data.join('\n'), ...(id !== undefined && { id }) };
          event = '';
          id = undefined;
          data = [];
          length = 0;
        }
        length += line.length;
        const [, field, content = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === 'event') event = content;
        if (field === 'data') data.push(content);
        if (field === 'id') id = content;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
