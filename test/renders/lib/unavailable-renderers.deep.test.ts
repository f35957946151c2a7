// Uses a renderer whose zygotes fail to start, or have a leaky sandbox, while a file exists.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { findRoot } from '../../../lib/render/environment/renderer-root.ts';
import { zygotesBelow } from '../../fixtures/processes.ts';
import { enqueue, render, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const place = testFolder(t, { environment: { bin: {}, lib: {} } });
const folder = join(place, 'data');
const environment = join(place, 'environment');
const python = join(environment, 'bin', 'python');
const real = (await findRoot({})).python;
const [broken, leaky] = [join(environment, 'lib', 'broken'), join(environment, 'lib', 'leaky')];
writeFileSync(
  python,
  `#!/bin/sh
lib="\${0%/bin/*}/lib"
[ -e "$lib/broken" ] && { echo 'there is no renderer here' >&2; exit 3; }
[ -e "$lib/leaky" ] && set -- "$@" --read=/scenepress/work
exec ${real} "$@"
`,
  { mode: 0o755 },
);
writeFileSync(join(environment, 'pyvenv.cfg'), `home = ${dirname(real)}\n`);
mkdirSync(folder);
const service = await startService(t, { folder, workers: 1, renderer: { python } });

function killZygotes(): void {
  for (const { pid } of zygotesBelow(process.pid)) process.kill(pid, 'SIGKILL');
}

async function ready(wanted: boolean): Promise<void> {
  while (service.status().ready !== wanted) await delay(20);
}

t.test(
  'a job waits without an attempt while no renderer can be started, and the service is not ready',
  async (t) => {
    t.match(await render(service, {}), { status: 'completed', attempts: 1 });
    writeFileSync(broken, '');
    killZygotes();
    const { jobId } = await enqueue(service, {});
    await ready(false);
    t.match(service.status(), { warmWorkers: 0, problems: [{ part: 'renderer' }] });
    const deaths = service.status().rendererDeaths;
    await delay(3000);
    t.ok(service.status().rendererDeaths - deaths < 12, 'starts are retried with a delay');
    t.match(await service.get(jobId), { attempts: 0, error: null });
    rmSync(broken);
    t.match(await service.wait(jobId), { status: 'completed', attempts: 1, error: null });
    await ready(true);
  },
);

t.test('a job that waits for a renderer can be canceled', async (t) => {
  writeFileSync(broken, '');
  killZygotes();
  const { jobId } = await enqueue(service, {});
  await ready(false);
  t.match(await service.cancel(jobId), { status: 'failed', error: 'Canceled' });
  rmSync(broken);
  await ready(true);
});

t.test('nothing is rendered when the sandbox of a later zygote leaks', async (t) => {
  writeFileSync(leaky, '');
  killZygotes();
  await ready(false);
  const { jobId } = await enqueue(service, {});
  while (!service.status().problems.some(({ part }) => part === 'sandbox')) await delay(20);
  t.match(service.status().problems[0], { part: 'sandbox', message: /no longer holds/ });
  await delay(2000);
  t.match(await service.get(jobId), { status: 'queued', attempts: 0, error: null });
  t.equal(service.status().warmWorkers, 0, 'a leaky zygote is not used');
  t.notOk(existsSync(join(folder, 'artifacts', jobId)));
  rmSync(leaky);
  t.match(
    await service.wait(jobId),
    { status: 'completed', attempts: 1 },
    'renders continue when the sandbox holds again',
  );
  await ready(true);
});
