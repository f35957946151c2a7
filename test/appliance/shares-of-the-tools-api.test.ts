import t from 'tap';
import { ScenepressClient } from '../../lib/client/index.ts';
import { completedJob } from './completed-job.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('shares are made, listed, changed, revoked and removed by the client', async (t) => {
  const appliance = await listeningAppliance(t);
  const { url, key, ask, newKey } = appliance;
  const jobId = await completedJob(appliance);
  const { shares } = new ScenepressClient({ url, key });
  const share = await shares.create({ jobIds: [jobId], title: 'Circles' });
  t.match(share, { url: `${url}/w/${share.token}`, embedUrl: `${url}/embed/${share.token}`, state: 'open' });
  t.notMatch(JSON.stringify(share), 'owner');
  t.equal((await ask(`/w/${share.token}`)).status, 200);
  t.same((await shares.list({ jobId })).shares, [share]);
  t.match(await shares.list({ limit: 1 }), { next: share.shareId });
  const changes = { title: null, visibility: 'public' as const, poster: { seconds: 1 } };
  const changed = await shares.update(share.shareId, changes);
  t.match(changed, changes);
  t.same(await shares.get(share.shareId), changed);
  const second = await completedJob(appliance);
  const added = await shares.update(share.shareId, {
    addJobIds: [second],
    moveJob: { jobId: second, place: 0 },
  });
  t.same(added.jobIds, [second, jobId]);
  t.same((await shares.update(share.shareId, { removeJobIds: [second] })).jobIds, [jobId]);
  await t.rejects(shares.update(share.shareId, { removeJobIds: [jobId] }), failure(409));
  const stranger = new ScenepressClient({ url, key: await newKey('eve@example.org') });
  t.same((await stranger.shares.list()).shares, []);
  for (const call of ['get', 'revoke', 'remove'] as const)
    await t.rejects(stranger.shares[call](share.shareId) as Promise<unknown>, failure(404), call);
  await t.rejects(stranger.shares.create({ jobIds: [jobId] }), failure(404));
  await t.rejects(shares.update(share.shareId, { expiresAt: 'soon' }), failure(400));
  t.match(await shares.revoke(share.shareId), { state: 'revoked' });
  t.equal((await ask(`/w/${share.token}`)).status, 410);
  await t.rejects(shares.update(share.shareId, changes), failure(409));
  await shares.remove(share.shareId);
  t.equal((await ask(`/w/${share.token}`)).status, 404);
});

function failure(status: number): Error {
  return { name: 'ApiError', status } as unknown as Error;
}
