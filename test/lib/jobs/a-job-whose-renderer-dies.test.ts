import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

t.test('a job whose renderer dies twice fails, and the jobs behind it are rendered', async (t) => {
  const renderer = { python, insecureNoSandbox: true };
  const service = new RenderService({ folder: testFolder(t), workers: 1, renderer });
  t.teardown(() => service.stop());
  await service.start();
  const [dying, next] = await Promise.all(
    ['die', 'x'].map((code) => service.enqueue({ owner: 'ada', code, className: 'A' })),
  );
  t.match(await service.wait(String(dying?.jobId)), {
    status: 'failed',
    attempts: 2,
    error: /renderer failed 2 times/,
  });
  t.match(await service.wait(String(next?.jobId)), { status: 'completed', attempts: 1 });
});
