import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.test('captions that only a file of a render has are found, until the job is forgotten', async (t) => {
  const folder = join(testFolder(t), 'data');
  const service = fakeRenderService({ folder });
  t.teardown(() => service.stop());
  await service.start();
  const ofAll = async (code: string) => {
    const { jobId } = await service.enqueue({ owner: 'ada', className: 'A', code });
    return (await service.wait(jobId)).jobId;
  };
  const found = async () =>
    (await service.search({ owner: 'ada', text: 'caption' })).jobs.map((job) => job.jobId);
  t.same(await found(), []);
  const jobId = await ofAll('class A(Scene): self.subcaption');
  await ofAll('class A(Scene): pass');
  t.same(await found(), [jobId]);
  t.notOk('captions' in (await service.get(jobId)), 'the file is their place');
  await service.renderAgain(jobId, { changes: { code: 'class A(Scene): other' } });
  t.same(await found(), [jobId], 'a copy has captions of its own');

  await service.forget(jobId);
  t.same(await found(), []);
  await service.stop();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  t.ok(files.length > 0);
  for (const file of files)
    t.notMatch(readFileSync(join(file.parentPath, file.name), 'latin1'), 'A caption', file.name);
});
