import t from 'tap';
import { ScenepressClient } from '../../lib/client/index.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('assignments are given, listed, ended and removed by the client', async (t) => {
  const { url, key, newKey } = await listeningAppliance(t);
  const { assignments, scenes } = new ScenepressClient({ url, key });
  const { sceneId } = await scenes.create({ name: 'Circles', className: 'A', code: 'x' });
  const given = await assignments.create({ sceneId, instructions: 'Draw <two>.' });
  t.match(given, {
    ...{ url: `${url}/dashboard/a/${given.token}`, title: 'Circles', instructions: 'Draw <two>.' },
    ...{ className: 'A', code: 'x', settings: {}, classLinkId: null, state: 'open', copies: 0 },
  });
  t.notMatch(JSON.stringify(given), 'owner');
  const settings = { quality: 'high' as const };
  const other = await assignments.create({ title: 'Squares', code: 'y', settings });
  t.match(await assignments.list({ limit: 1 }), {
    assignments: [{ title: 'Squares' }],
    next: other.assignmentId,
  });
  t.same((await assignments.list({ cursor: other.assignmentId })).assignments, [given]);
  t.same(await assignments.get(other.assignmentId), other);
  const stranger = new ScenepressClient({ url, key: await newKey('eve@example.org') });
  t.same((await stranger.assignments.list()).assignments, []);
  for (const call of ['get', 'revoke', 'remove'] as const)
    await t.rejects(stranger.assignments[call](given.assignmentId) as Promise<unknown>, failure(404), call);
  await t.rejects(stranger.assignments.create({ sceneId }), failure(404));
  for (const wrong of [{ title: 'A', expiresAt: 'soon' }, { code: 'no title' }, { sceneId, code: 'x' }])
    await t.rejects(assignments.create(wrong), failure(400));
  t.match(await assignments.revoke(given.assignmentId), { state: 'revoked' });
  await assignments.remove(given.assignmentId);
  await t.rejects(assignments.get(given.assignmentId), failure(404));
});

function failure(status: number): Error {
  return { name: 'ApiError', status } as unknown as Error;
}
