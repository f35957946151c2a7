import { join } from 'node:path';
import t from 'tap';
import { DataFolder, RenderService } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

t.test('a job whose source cannot be read is attempted again, then fails', async (t) => {
  const dataFolder = new DataFolder(join(testFolder(t), 'data'));
  const { storage } = dataFolder;
  const readSource = storage.readSource.bind(storage);
  let failures = 1;
  storage.readSource = async (jobId) => {
    if (failures-- > 0) throw new Error('EIO: i/o error, read');
    return readSource(jobId);
  };
  const reasons: unknown[] = [];
  const service = new RenderService({
    dataFolder,
    workers: 1,
    renderer: { python, insecureNoSandbox: true },
    logger: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (details) => void reasons.push((details as { reason?: string }).reason),
    },
  });
  t.teardown(() => service.stop());
  await service.start();
  const render = async () => {
    const { jobId } = await service.enqueue({ owner: 'ada', code: 'x', className: 'A' });
    return service.wait(jobId, { signal: AbortSignal.timeout(20_000) });
  };
  t.match(await render(), { status: 'completed', attempts: 2 });
  t.match(reasons, ['EIO: i/o error, read']);
  failures = 2;
  t.match(await render(), { status: 'failed', attempts: 2, error: /renderer failed 2 times/ });
});
