import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

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
