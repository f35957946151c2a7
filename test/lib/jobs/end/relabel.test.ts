import t from 'tap';
import { instantService } from '../../../fixtures/instant-service.ts';

const SCENE = { className: 'A', code: 'class A(Scene): pass', owner: 'ada' } as const;

t.test('labels of an ended job change, and are erased with it', async (t) => {
  const service = await instantService(t);
  const { jobId } = await service.enqueue({ ...SCENE, title: 'Draft', project: 'waves' });
  const ended = await service.wait(jobId);
  t.match(ended, { title: 'Draft', tags: [], starred: false, project: 'waves' });
  const changed = await service.relabel(jobId, { title: 'Fourier', tags: ['a', 'b'], starred: true });
  t.same({ ...changed }, { ...ended, title: 'Fourier', tags: ['a', 'b'], starred: true });
  t.same({ ...(await service.get(jobId)) }, { ...changed });
  const cleared = await service.relabel(jobId, { title: null, tags: [], project: null });
  t.match(cleared, { title: null, tags: [], starred: true, project: null });
  const again = await service.renderAgain(jobId);
  t.match(again, { starred: false }, 'a copy is another video');

  await t.rejects(service.relabel(jobId, { title: 'x' }, { owner: 'bob' }), { code: 'not_found' });
  for (const wrong of [
    {},
    { title: '' },
    { tags: ['a', 'a'] },
    { starred: 'yes' as never },
    { project: 'x'.repeat(101) },
  ])
    await t.rejects(service.relabel(jobId, wrong), { code: 'invalid_request' });
  t.match(await service.forget(jobId), { title: null, starred: false, project: null });
  await t.rejects(service.relabel(jobId, { title: 'x' }), { code: 'conflict', message: /is forgotten/ });
});
