import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { IDLE_PYTHON } from '../../appliance/listening-appliance.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.test('a stop rejects wait(), which can be called again after the next start', async (t) => {
  const folder = join(testFolder(t), 'data');
  const renderer = { python: IDLE_PYTHON, insecureNoSandbox: true };
  const service = new RenderService({ folder, workers: 1, renderer });
  t.teardown(() => service.stop());
  await service.start();
  // One job runs forever, the other is queued.
  const jobs = [];
  for (let i = 0; i < 2; i++) jobs.push(await service.enqueue({ owner: 'ada', code: 'x', className: 'A' }));
  const waits = Promise.allSettled(jobs.map(({ jobId }) => service.wait(jobId)));
  await service.stop();
  for (const wait of await waits) {
    t.match(wait, {
      status: 'rejected',
      reason: { code: 'not_running', message: /continues after the next start/ },
    });
  }

  await service.start();
  for (const { jobId } of jobs) {
    const wait = service.wait(jobId);
    await service.cancel(jobId);
    t.match(await wait, { status: 'failed', error: 'Canceled' });
  }
  const giveUp = new AbortController();
  const { jobId } = await service.enqueue({ owner: 'ada', code: 'x', className: 'A' });
  const wait = service.wait(jobId, { signal: giveUp.signal });
  giveUp.abort();
  await t.rejects(wait, { name: 'AbortError' });
});
