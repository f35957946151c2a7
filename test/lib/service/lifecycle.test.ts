import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, FileAssetStore, type RenderServiceOptions } from '../../../lib/index.ts';
import { type PostgresOptions, postgres } from '../../../lib/postgres/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { type Clock, systemClock, type Timer } from '../../../lib/time/clock.ts';
import { newSchema, run, serverUrl } from '../../fixtures/postgres/database.ts';
import { SwitchingProxy } from '../../fixtures/postgres/switching-proxy.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const request = { owner: 'ada', className: 'Main', code: 'a scene' };
const stopped = { code: 'not_running', message: /was stopped before it had started/ };

function inFolder(t: Test, options: RenderServiceOptions = {}) {
  const service = fakeRenderService({ folder: join(testFolder(t), 'data'), ...options });
  t.teardown(() => service.stop());
  return service;
}

/** A service that uses a new schema through a proxy. */
async function inPostgres(t: Test, options: PostgresOptions = {}) {
  const url = new URL(await serverUrl());
  const proxy = await SwitchingProxy.open(Number(url.port));
  url.port = String(proxy.port);
  const schema = newSchema();
  const storage = postgres(url.href, { schema, applicationName: schema, ...options });
  const service = fakeRenderService({ storage, assets: new FileAssetStore(testFolder(t)), roles: ['api'] });
  t.teardown(async () => {
    await service.stop();
    proxy.close();
  });
  const isClosed = async () =>
    (await run(`SELECT FROM pg_stat_activity WHERE application_name = '${schema}'`)).length === 0;
  return { service, storage, proxy, isClosed };
}

for (const method of ['start', 'startWithoutWorkers'] as const) {
  t.test(`overlapping calls of ${method} are one start`, async (t) => {
    const { service, isClosed } = await inPostgres(t);
    for (const subject of [inFolder(t), service]) {
      await Promise.all([subject[method](), subject[method]()]);
      const starting = subject[method]();
      t.match(await subject.enqueue(request), { jobId: String });
      await starting;
      await subject.stop();
    }
    await until(isClosed);
  });

  t.test(`a stop rejects ${method} in progress`, async (t) => {
    const { service, isClosed } = await inPostgres(t);
    for (const subject of [inFolder(t), service]) {
      const starts = [subject[method](), subject[method]()].map((start) => t.rejects(start, stopped));
      await subject.stop();
      await Promise.all(starts);
      t.notOk(subject.status().ready);
      await subject[method]();
      await subject.enqueue(request);
      await subject.stop();
    }
    await until(isClosed);
  });

  t.test(`${method} waits for a stop in progress`, async (t) => {
    const { service } = await inPostgres(t);
    for (const subject of [inFolder(t), service]) {
      await subject.start();
      const stopping = subject.stop();
      await t.rejects(subject.enqueue(request), { code: 'not_running' });
      await Promise.all([stopping, subject[method]()]);
      await subject.enqueue(request);
    }
  });
}

t.test('a start that waits for a stop is rejected by another stop', async (t) => {
  const service = inFolder(t);
  await service.start();
  const stopping = service.stop();
  const starting = t.rejects(service.start(), stopped);
  await Promise.all([stopping, service.stop(), starting]);
  t.match(service.status(), { problems: [{ message: 'The service is not started.' }] });
});

t.test('a start after one without workers, or after a drain, renders', async (t) => {
  const service = inFolder(t);
  await Promise.all([service.startWithoutWorkers(), service.start()]);
  t.match(await service.wait((await service.enqueue(request)).jobId), { status: 'completed' });
  await service.drain();
  await service.start();
  t.match(await service.wait((await service.enqueue(request)).jobId), { status: 'completed' });
});

t.test('a start without workers leaves no timer behind', async (t) => {
  const timers = new Set<Timer>();
  const every: Clock['every'] = (ms, callback) => {
    const timer = systemClock.every(ms, callback);
    timers.add(timer);
    const cancel = () => {
      timers.delete(timer);
      timer.cancel();
    };
    return { cancel };
  };
  const service = inFolder(t, { clock: { ...systemClock, every } });
  await service.startWithoutWorkers();
  await service.start();
  t.ok(timers.size > 0);
  await service.stop();
  t.equal(timers.size, 0);
});

t.test('a start is aborted when all its callers are', async (t) => {
  const service = inFolder(t);
  const [first, second] = [new AbortController(), new AbortController()];
  const starting = service.start({ signal: first.signal });
  const joined = service.start({ signal: second.signal });
  first.abort(new Error('first'));
  await t.rejects(starting, { message: 'first' });
  await joined;
  t.ok(service.status().ready);
  await service.stop();

  const aborted = service.start({ signal: first.signal });
  await t.rejects(aborted, { message: 'first' });
  const again = service.start({ signal: second.signal });
  second.abort(new Error('second'));
  const later = service.start();
  await t.rejects(again, { message: 'second' });
  await later;
  t.ok(service.status().ready);
});

t.test('signals abort calls while the database does not answer', async (t) => {
  const { service, proxy, isClosed } = await inPostgres(t);
  await service.start();
  const { jobId } = await service.enqueue(request);
  proxy.stall();
  const { signal, ...abort } = aborter();
  const calls: Promise<unknown>[] = [
    service.wait(jobId, { signal }),
    service.follow(jobId, { signal }).next(),
    service.cancel(jobId, { signal }),
  ];
  const rejections = calls.map((call) => t.rejects(call, { message: 'the reason' }));
  const begunMs = performance.now();
  abort.now();
  await Promise.all(rejections);
  t.ok(performance.now() - begunMs < 2_000, 'sooner than a connection is given up');
  proxy.resume();
  await service.stop();

  proxy.stall();
  const another = aborter();
  const starting = t.rejects(service.start({ signal: another.signal }), { message: 'the reason' });
  const startedMs = performance.now();
  another.now();
  await starting;
  const stopping = t.rejects(service.start(), stopped);
  await service.stop();
  await stopping;
  t.ok(performance.now() - startedMs < 2_000, 'sooner than a connection is given up');
  proxy.resume();
  await until(isClosed);
  await service.start();
  t.match(await service.get(jobId), { jobId });
});

t.test('a stop does not wait long for a database that does not answer', async (t) => {
  const { service, proxy } = await inPostgres(t, { connectTimeoutMs: 500, retryForMs: 500 });
  await service.start();
  // Before the dispatcher looks for the job.
  service.on('job', () => proxy.stall());
  await service.enqueue(request);
  const begunMs = performance.now();
  await service.stop();
  t.ok(performance.now() - begunMs < 20_000, 'sooner than a statement ends');
});

t.test('a store stays open until the last of its services stops', async (t) => {
  const { storage } = await inPostgres(t);
  const dataFolder = new DataFolder(join(testFolder(t), 'data'));
  for (const stores of [{ storage, assets: new FileAssetStore(testFolder(t)) }, { dataFolder }]) {
    const options = { ...stores, roles: ['api' as const] };
    const [one, other] = [fakeRenderService(options), fakeRenderService(options)];
    await Promise.all([one.start(), other.start()]);
    const { jobId } = await one.enqueue(request);
    await one.stop();
    t.match(await other.get(jobId), { jobId });
    await other.stop();
    await t.rejects(other.list(), { code: 'not_running' });
  }
});

function aborter() {
  const controller = new AbortController();
  return { signal: controller.signal, now: () => controller.abort(new Error('the reason')) };
}
