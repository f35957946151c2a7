import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder, RenderService } from '../../lib/index.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/poison-job-program.ts');

t.test('jobs queued behind a job that repeatedly kills the service are rendered', async (t) => {
  const folder = testFolder(t);
  // In the first two runs the poison job is rendered first; after that it is held back.
  for (let life = 1; life <= 3; life++) {
    const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    t.teardown(() => child.kill('SIGKILL'));
    const [, signal] = await once(child, 'exit');
    t.equal(signal, 'SIGKILL');
  }
  const dataFolder = new DataFolder(folder);
  const service = new RenderService({ dataFolder });
  t.teardown(() => service.stop());
  await service.startWithoutWorkers();
  const jobs = await service.list();
  const found = Object.fromEntries(jobs.map(({ owner, status, attempts }) => [owner, [status, attempts]]));
  const completed = ['completed', 1];
  t.same(found, { ada: completed, bob: completed, eve: completed, poison: ['running', 1] });
  const poison = jobs.find(({ owner }) => owner === 'poison');
  t.match(await dataFolder.storage.getJob(String(poison?.jobId)), { interruptions: 2 });
  t.match(await service.cancel(String(poison?.jobId)), { status: 'failed', error: 'Canceled' });
});
