import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { artifactPath, render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.test('the path of a data folder may be longer than that of a socket', async (t) => {
  const folder = join(testFolder(t), 'a-long-name-of-a-folder/'.repeat(8));
  const service = await startService(t, { folder, workers: 1 });
  t.match(await render(service, {}), { status: 'completed', error: null });
});

t.test('the name of a data folder may contain shell metacharacters', async (t) => {
  const folder = join(testFolder(t), "ünï & 'quoted' $HOME\n-x");
  const service = await startService(t, { folder, workers: 1 });
  t.match(await render(service, {}), { status: 'completed', error: null });
  t.match(await render(service, { code: scene('1 / 0') }), {
    error: 'ZeroDivisionError: division by zero\nline 6: 1 / 0',
  });
});

t.test('a data folder may be in a folder that only its owner can enter', async (t) => {
  const closed = join(testFolder(t), 'closed');
  await mkdir(closed, { mode: 0o700 });
  const service = await startService(t, { folder: join(closed, 'data'), workers: 1 });
  t.match(await render(service, {}), { status: 'completed', error: null });
});

t.test('a service that cannot start leaves no processes and names what is missing', async (t) => {
  const folder = testFolder(t);
  const service = new RenderService({ folder, renderer: { python: join(folder, 'no-python') } });
  await t.rejects(service.start(), { code: 'renderer_unavailable', message: /no-python.*SCENEPRESS_PYTHON/ });
  t.match(service.status(), { ready: false, workers: 0 });
  const another = await startService(t, { folder, workers: 1 });
  t.match(await render(another, { className: 'OneFrame' }), { status: 'completed' });
  t.same((await readdir(folder)).includes('work'), true);
});

t.test('a data folder may be given by a relative path', async (t) => {
  const before = process.cwd();
  t.teardown(() => process.chdir(before));
  process.chdir(testFolder(t));
  const service = await startService(t, { folder: './renders', workers: 1 });
  process.chdir(before);
  const job = await render(service, { className: 'OneFrame' });
  t.match(job, { status: 'completed' });
  t.match(await artifactPath(service, job, 'video.mp4'), /^\/.*\/renders\/artifacts\//);
});
