import { EventEmitter, once } from 'node:events';
import t from 'tap';
import type { Signal } from '../../../lib/index.ts';
import type { PostgresStorage } from '../../../lib/postgres/index.ts';
import { newSchema, openPostgres, run } from '../../fixtures/postgres/database.ts';

/** Collects the signals of a process. */
function subscribed({ signals }: PostgresStorage): {
  received: Signal[];
  next: (kind: string) => Promise<unknown>;
} {
  const received: Signal[] = [];
  const events = new EventEmitter();
  signals.subscribe((signal) => {
    received.push(signal);
    events.emit(signal.kind);
  });
  return { received, next: (kind) => once(events, kind) };
}

t.test('a signal reaches other processes of the schema, and its own process once', async (t) => {
  const schema = newSchema();
  const one = await openPostgres(t, { schema, maxConnections: 2 });
  const own = subscribed(one);
  await own.next('due'); // It listens.
  own.received.length = 0;
  const two = await openPostgres(t, { schema, maxConnections: 2 });
  const other = subscribed(two);
  await other.next('due');
  const stranger = subscribed(await openPostgres(t, { maxConnections: 2 }));
  await stranger.next('due');
  const canceled: Signal = { kind: 'canceled', jobId: '1' };
  const arrived = other.next('canceled');
  one.signals.publish(canceled);
  for (let i = 0; i < 100; i++) one.signals.publish({ kind: 'waiting' });
  await arrived;
  const back = own.next('due');
  two.signals.publish({ kind: 'due' });
  await back;
  t.same(
    own.received.filter(({ kind }) => kind === 'canceled'),
    [canceled],
  );
  t.ok(other.received.filter(({ kind }) => kind === 'waiting').length < 5, 'equal signals are sent together');
  t.notOk(stranger.received.some(({ kind }) => kind === 'canceled'));
});

t.test('a process listens again after its connection was lost, and looks for what it missed', async (t) => {
  const schema = newSchema();
  const one = await openPostgres(t, { schema });
  const other = subscribed(await openPostgres(t, { schema, applicationName: 'listening' }));
  await other.next('due');
  const again = other.next('waiting');
  await run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'listening'",
  );
  await again;
  const arrived = other.next('canceled');
  one.signals.publish({ kind: 'canceled', jobId: '2' });
  await arrived;
  t.same(other.received.at(-1), { kind: 'canceled', jobId: '2' });
});

t.test('messages that are no signals are ignored', async (t) => {
  const schema = newSchema();
  const { received, next } = subscribed(await openPostgres(t, { schema }));
  await next('due');
  received.length = 0;
  for (const message of ['', 'x', 'x {', 'x null', 'x {"kind":"other"}', 'x {"kind":"canceled"}'])
    await run(`NOTIFY ${schema}_signals, '${message}'`);
  const arrived = next('waiting');
  await run(`NOTIFY ${schema}_signals, 'x {"kind":"waiting"}'`);
  await arrived;
  t.same(received, [{ kind: 'waiting' }]);
});
