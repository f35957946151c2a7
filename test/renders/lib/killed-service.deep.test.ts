import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { ended, processesBelow } from '../../fixtures/processes.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const folder = testFolder(t);
const program = join(import.meta.dirname, '../../fixtures/serving-program.ts');
const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
t.teardown(() => child.kill('SIGKILL'));
await once(child.stdout, 'data');

t.test('a second service cannot use the folder', async (t) => {
  const second = new RenderService({ folder });
  await t.rejects(second.start(), { code: 'storage_locked', message: new RegExp(`\\b${child.pid}\\b`) });
});

t.test('no process survives the SIGKILL of a rendering service', async () => {
  const below = processesBelow(child.pid ?? 0);
  t.ok(below.length >= 6, 'two zygotes, two scenes and their children');
  child.kill('SIGKILL');
  await once(child, 'close');
  await ended(below);
});

t.test('the next start completes running and queued jobs and leaves no other files', async (t) => {
  const service = new RenderService({ folder, workers: 2 });
  t.teardown(() => service.stop());
  await service.start();
  const jobs = await service.list();
  t.equal(jobs.length, 3);
  const attempts: Record<string, number> = {};
  const places: string[] = [];
  for (const { jobId } of jobs) {
    const job = await service.wait(jobId);
    t.match(job, { status: 'completed', error: null });
    attempts[job.owner] = job.attempts;
    places.push(String(job.artifacts[0]?.assetKey.split('/')[0]));
  }
  t.same(attempts, { ada: 1, bob: 1, eve: 1 }, 'a kill of the service is not counted as an attempt');
  const workers = (await readdir(join(folder, 'work'))).filter((name) => /^w\d+$/.test(name));
  t.ok(workers.length > 0);
  for (const worker of workers) t.same(await readdir(join(folder, 'work', worker)), ['cache'], worker);
  t.same((await readdir(join(folder, 'artifacts'))).toSorted(), places.toSorted());
});
