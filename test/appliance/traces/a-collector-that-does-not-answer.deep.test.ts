import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { freePort } from '../../fixtures/free-port.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { type TracedService, tracedService } from './traced-service.ts';

const REQUESTS = 60;
/** With a collector that answers, it takes some 10 ms on an idle machine. */
const MEDIAN_MS = 250;
const STOP_MS = 15_000;

t.test('one that accepts connections only neither slows down nor ends the service', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const service = await start(t, (silent.address() as AddressInfo).port);
  await answersAtOnce(t, service);
  await stopsInTime(t, service);
});

t.test('one that refuses connections does not either, and the log says so', async (t) => {
  const service = await start(t, await freePort());
  await answersAtOnce(t, service);
  await service.says(/"reason":"[^"]*ECONNREFUSED.*OpenTelemetry reported a problem/);
  await stopsInTime(t, service);
});

/** With a queue that such a collector fills soon. */
async function start(t: Test, port: number): Promise<TracedService> {
  return tracedService(t, {
    dataDir: await temporaryFolder(t),
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_BSP_MAX_QUEUE_SIZE: '64',
    },
  });
}

async function answersAtOnce(t: Test, { add }: TracedService): Promise<void> {
  const tookMs: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const startMs = performance.now();
    t.match(await add({ code: 'from manim import *' }), /^\w{48}$/);
    tookMs.push(performance.now() - startMs);
  }
  const median = tookMs.toSorted((a, b) => a - b)[REQUESTS / 2] ?? Number.POSITIVE_INFINITY;
  t.ok(median < MEDIAN_MS, `${median} ms`);
}

async function stopsInTime(t: Test, { kill, ended }: TracedService): Promise<void> {
  const startMs = performance.now();
  kill('SIGTERM');
  t.equal(await ended, 0);
  t.ok(performance.now() - startMs < STOP_MS, 'it stops in time');
}
