import { join } from 'node:path';
import t from 'tap';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const python = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const CODE = 'class First(Scene):\n    pass\n';

t.test('scenes are listed from the text while all workers are busy', async (t) => {
  const { post, service, installation } = await listeningAppliance(t, { python, workers: 1 });
  const { jobs } = installation.administration;
  const account = 'ada@example.org';
  t.same(await jobs.listScenes({ account, code: CODE }), { scenes: ['First'] });
  t.same(
    await jobs.listScenes({ account, code: CODE.replace('Scene', 'Other') }),
    { scenes: [] },
    'the code is run while a worker is free',
  );
  const jobId = String((await post({ ...VALID, code: 'linger' })).json['jobId']);
  while ((await service.get(jobId)).status !== 'running') await new Promise(setImmediate);
  t.same(await jobs.listScenes({ account, code: CODE }), { scenes: ['First'] });
  await service.cancel(jobId);
});
