import { join } from 'node:path';
import t from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { RenderService } from '../../../lib/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const PYTHON = join(import.meta.dirname, '..', '..', 'fixtures', 'instant-renderer', 'bin', 'python');

t.test('an error thrown by a listener is an uncaught exception and does not delay jobs', async (t) => {
  const service = new RenderService({
    folder: testFolder(t),
    workers: 1,
    renderer: { python: PYTHON, insecureNoSandbox: true },
  });
  t.teardown(() => service.stop());
  await service.start();
  const thrown: string[] = [];
  process.setUncaughtExceptionCaptureCallback(({ message }) => void thrown.push(message));
  t.teardown(() => process.setUncaughtExceptionCaptureCallback(null));
  service.on('job', ({ status }) => {
    throw new Error(`at ${status}`);
  });
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Main', code: 'a scene' });
  t.match(await service.wait(jobId), { status: 'completed' });
  await service.stop();
  t.same(thrown, ['at queued', 'at running', 'at completed']);
});

t.test('an error of a listener of any event does not affect the job', async (t) => {
  const authority = new TestAuthority(testFolder(t));
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const logged: string[] = [];
  const note = (_: unknown, message?: string) => void logged.push(`${message}`);
  const service = fakeRenderService({
    folder: join(testFolder(t), 'data'),
    assetUrl: 'https://assets.example.org',
    webhooks: { allowNetworks: ['127.0.0.0/8'], ca: authority.ca },
    logger: { ...silentLogger, warn: note, error: note },
  });
  t.teardown(() => service.stop());
  await service.start();
  const thrown: string[] = [];
  const { promise: delivered, resolve } = Promise.withResolvers<void>();
  process.setUncaughtExceptionCaptureCallback(({ message }) => {
    thrown.push(message);
    if (message === 'delivery') resolve();
  });
  t.teardown(() => process.setUncaughtExceptionCaptureCallback(null));
  for (const name of ['progress', 'delivery'] as const)
    service.on(name, () => {
      throw new Error(name);
    });
  const webhook = { url: `https://127.0.0.1:${receiver.port}/`, secret: 's' };
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Main', code: 'a scene', webhook });
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  await delivered;
  await service.stop();
  t.same(thrown, ['progress', 'delivery']);
  t.same(logged, []);
  t.equal(receiver.received.length, 1);
});
