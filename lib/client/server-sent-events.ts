/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/** Parses a `text/event-stream` as it arrives. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let pending = '';
  let event = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (pending + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
          event = '';
          data = [];
        }
        const [, field, content = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === 'event') event = content;
        if (field === 'data') data.push(content);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
