import { join } from 'node:path';
import t from 'tap';
import { DataFolder, FileAssetStore, LocalSignals, RenderService, type Role } from '../../../lib/index.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const PYTHON = join(import.meta.dirname, '..', '..', 'fixtures', 'instant-renderer', 'bin', 'python');

t.test('a job enqueued in one service is rendered by another', async (t) => {
  const dataFolder = new DataFolder(join(testFolder(t), 'data'));
  const signals = new LocalSignals();
  const renderer = { python: PYTHON, insecureNoSandbox: true };
  const withRoles = (...roles: Role[]) => {
    const service = new RenderService({ dataFolder, signals, roles, workers: 1, renderer });
    t.teardown(() => service.stop());
    return service;
  };
  const [front, worker] = [withRoles('api'), withRoles('worker')];
  await front.start();
  t.match(front.status(), { ready: true, workers: 0, warmWorkers: 0 });
  const { jobId } = await front.enqueue({ owner: 'ada', className: 'A', code: 'x' });
  await until(() => front.status().queued === 1); // It is counted after the answer.
  t.equal(front.status().running, 0);
  const ended = new Promise((resolve) => {
    worker.on('job', (job) => job.status === 'completed' && resolve(job.jobId));
  });
  await worker.start();
  t.equal(await ended, jobId);
  t.match(await front.get(jobId), { status: 'completed' });

  const begun = new Promise((resolve) => worker.on('job', (job) => job.status === 'running' && resolve(job)));
  const linger = await front.enqueue({ owner: 'ada', className: 'A', code: 'linger' });
  await begun;
  t.match(await front.cancel(linger.jobId), { status: 'failed', error: 'Canceled' });
  while (worker.status().running > 0) await new Promise(setImmediate);
  await worker.stop();
});

t.test('the outcome of a job in one service is delivered by another', async (t) => {
  const authority = new TestAuthority(testFolder(t));
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const url = `https://127.0.0.1:${receiver.port}/`;
  const dataFolder = new DataFolder(join(t.testdirName, 'data'));
  const signals = new LocalSignals();
  const withRole = (role: Role) => {
    const service = new RenderService({
      dataFolder,
      signals,
      roles: [role],
      assetUrl: 'https://assets.example.org',
      webhooks: { allowNetworks: ['127.0.0.0/8'], ca: authority.ca },
    });
    t.teardown(() => service.stop());
    return service;
  };
  const [front, sender] = [withRole('api'), withRole('sender')];
  await front.start();
  const request = { owner: 'ada', className: 'A', code: 'x', webhook: { url, secret: 's' } };
  const end = async () => front.cancel((await front.enqueue(request)).jobId);
  await end();
  const delivered = new Promise((resolve) => sender.on('delivery', resolve));
  t.equal(await front.deliveries.countDue(), 1);
  await sender.start();
  t.match(await delivered, { status: 'delivered' });
  const heard: string[] = [];
  signals.subscribe(({ kind }) => void heard.push(kind));
  await end();
  t.ok(heard.includes('due'), 'the sender is woken by a signal');
  await receiver.got(2);
  t.equal(receiver.received.length, 2);
});

t.test('only the role worker needs a work folder', async (t) => {
  const places = async () => ({
    storage: await openPostgres(t),
    assets: new FileAssetStore(testFolder(t)),
  });
  const service = new RenderService({ ...(await places()), roles: ['api'] });
  t.teardown(() => service.stop());
  await service.start();
  t.match(await service.enqueue({ owner: 'ada', className: 'A', code: 'x' }), { status: 'queued' });
  await t.rejects(service.scenesOf('x'), {
    code: 'renderer_unavailable',
    message: /^This process has no role `worker`/,
  });
  for (const roles of [['worker'], undefined] as const) {
    const given = await places();
    t.throws(() => new RenderService({ ...given, ...(roles && { roles }) }), {
      message: /a `workFolder` to the role `worker`/,
    });
  }
});

t.test('unknown and missing roles are rejected', async (t) => {
  const roles = ['cook'] as unknown as Role[];
  t.throws(() => new RenderService({ folder: t.testdirName, roles }), {
    message: /^roles\[0\] must be one of \[api, worker/,
  });
  t.throws(() => new RenderService({ folder: t.testdirName, roles: [] }), { message: /^roles must have/ });
  for (const nothing of [undefined as never, {}])
    t.throws(() => new RenderService(nothing), { message: /^give `folder`/ });
});
