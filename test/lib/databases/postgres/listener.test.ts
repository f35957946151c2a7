import { EventEmitter, once } from 'node:events';
import t from 'tap';
import type { Connections } from '../../../../lib/databases/postgres/connections.ts';
import type { PgQuery } from '../../../../lib/databases/postgres/driver.ts';
import { Listener } from '../../../../lib/databases/postgres/listener.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

t.test('a server that does not answer is asked again on another connection', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const states = new EventEmitter();
  const ended: number[] = [];
  let opened = 0;
  const single = async () => {
    opened += 1;
    const number = opened;
    return {
      on: () => {},
      once: () => {},
      // As the driver does: without a limit, it waits for the answer.
      query: async ({ query_timeout }: PgQuery) => {
        if (number > 1) return {};
        if (query_timeout === undefined) return new Promise(() => {});
        throw new Error('Query read timeout');
      },
      end: async () => {
        ended.push(number);
        states.emit('ended');
      },
    };
  };
  const listener = new Listener({
    connections: { single } as unknown as Connections,
    clock,
    channel: 'c',
    timeoutMs: 5_000,
    onMessage: () => {},
    onListening: () => void states.emit('listening'),
  });
  const firstEnded = once(states, 'ended');
  listener.start();
  await firstEnded;
  await new Promise(setImmediate);
  const listening = once(states, 'listening');
  clock.advance(10_000);
  await listening;
  t.same(ended, [1]);
  await listener.stop();
  t.same(ended, [1, 2]);
});
