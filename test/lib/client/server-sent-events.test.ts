import t from 'tap';
import { serverSentEvents } from '../../../lib/client/server-sent-events.ts';

t.test('events end at one that is too long, before it is in memory', async (t) => {
  for (const line of ['x'.repeat(65_536), `data: ${'x'.repeat(65_530)}\n`]) {
    let chunks = 0;
    const chunk = new TextEncoder().encode(line);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: first\n\n')),
      pull(controller) {
        chunks += 1;
        if (chunks > 100) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const events = [];
    for await (const { data } of serverSentEvents(body)) events.push(data);
    t.strictSame(events, ['first']);
    t.ok(chunks < 30, `${chunks}`);
  }
});
