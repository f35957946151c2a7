import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { RenderService, RenderServiceOptions } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { instantService } from '../../fixtures/instant-service.ts';

const request = { owner: 'ada', className: 'A', code: 'class A(Scene): pass' };

async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const service = await instantService(t, options);
  const render = async (owner = 'ada') => {
    const { jobId } = await service.enqueue({ ...request, owner });
    return (await service.wait(jobId)).jobId;
  };
  return { service, shares: service.shares, render, jobId: await render() };
}

t.test('a share is made, changed, listed and removed, by its owner only', async (t) => {
  const { shares, render, jobId } = await open(t);
  const second = await render();
  const share = await shares.create({ owner: 'ada', jobIds: [jobId], title: 'Circles' });
  t.match(share, {
    ...{
      shareId: /^s[0-9a-f]{48}$/,
      token: /^[\w-]{24}$/,
      owner: 'ada',
      title: 'Circles',
      description: null,
    },
    ...{ visibility: 'link', state: 'open', poster: null, allowDownload: true, views: 0 },
    ...{ expiresAt: null, revokedAt: null },
  });
  t.same(await shares.get(share.shareId, { owner: 'ada' }), share);
  const changes = {
    ...{ jobIds: [second, jobId], title: null, description: 'Two', visibility: 'public' as const },
    ...{ poster: { play: 1 }, allowDownload: false },
  };
  const changed = await shares.update(share.shareId, { owner: 'ada', ...changes });
  t.same(changed, { ...share, ...changes });
  t.same(
    (await shares.find(share.token)).jobs.map((job) => job.jobId),
    [second, jobId],
  );
  t.same(await shares.list({ owner: 'ada', jobId: second }), [changed]);
  t.same(await shares.list({ owner: 'eve' }), []);
  for (const call of ['get', 'update', 'revoke', 'remove'] as const) {
    await t.rejects(shares[call](share.shareId, { owner: 'eve' }) as Promise<unknown>, { code: 'not_found' });
    await t.rejects(shares[call]('s\0', {}) as Promise<unknown>, { code: 'not_found' });
  }
  await shares.remove(share.shareId, { owner: 'ada' });
  await t.rejects(shares.get(share.shareId), { code: 'not_found' });
  await t.rejects(shares.find(share.token), { code: 'not_found' });
});

t.test('videos are added, taken out and moved, beside changes of others', async (t) => {
  const { service, shares, render, jobId } = await open(t);
  const [second, third, fourth] = [await render(), await render(), await render()];
  const { shareId } = await shares.create({ owner: 'ada', jobIds: [jobId] });
  const change = async (changes: object) =>
    (await shares.update(shareId, { owner: 'ada', ...changes })).jobIds;
  t.same(await change({ addJobIds: [second, jobId, third] }), [jobId, second, third]);
  t.same(await change({ moveJob: { jobId: third, place: 0 } }), [third, jobId, second]);
  t.same(await change({ moveJob: { jobId: third, place: 99 } }), [jobId, second, third]);
  await Promise.all([change({ addJobIds: [fourth] }), change({ removeJobIds: [jobId, 'unknown'] })]);
  t.same(await change({ title: 'Geometry' }), [second, third, fourth], 'neither change replaces the other');
  t.same(
    await change({ removeJobIds: [second], addJobIds: [second], moveJob: { jobId: second, place: 1 } }),
    [third, second, fourth],
    'taken out, then added, then moved',
  );
  await t.rejects(change({ moveJob: { jobId, place: 0 } }), { code: 'not_found', message: /no such video/ });
  await t.rejects(change({ addJobIds: [await render('eve')] }), { code: 'not_found' });
  const failed = await service.enqueue({ ...request, code: 'class A(Scene): fail' });
  await service.wait(failed.jobId);
  await t.rejects(change({ addJobIds: [failed.jobId] }), { code: 'conflict', message: /no video to share/ });
  const none = { removeJobIds: [second, third, fourth] };
  await t.rejects(change(none), { code: 'conflict', message: /at least one video/ });
  const ids = Array.from({ length: 98 }, (_, at) => `j${at}`);
  await t.rejects(change({ addJobIds: ids }), { code: 'conflict', message: /at most 100 videos/ });
  for (const wrong of [
    { addJobIds: [] },
    { removeJobIds: 'x' },
    { moveJob: { jobId } },
    { moveJob: { jobId, place: -1 } },
  ])
    await t.rejects(change(wrong), { code: 'invalid_request' }, JSON.stringify(wrong));
  t.same(await change({}), [third, second, fourth], 'what fails changes nothing');
});

t.test('only what exists, is complete and belongs to the owner can be shared', async (t) => {
  const { service, shares, render, jobId } = await open(t);
  const failed = await service.enqueue({ ...request, code: 'class A(Scene): fail' });
  await service.wait(failed.jobId);
  const create = (change: object) => shares.create({ owner: 'ada', jobIds: [jobId], ...change });
  await t.rejects(create({ jobIds: [failed.jobId] }), { code: 'conflict', message: /no video to share/ });
  await t.rejects(create({ jobIds: [jobId, await render('eve')] }), { code: 'not_found' });
  await t.rejects(create({ owner: 'eve' }), { code: 'not_found' });
  for (const wrong of [
    ...[{ jobIds: [] }, { jobIds: [jobId, jobId] }, { jobIds: Array(101).fill(jobId) }, { jobIds: [7] }],
    ...[{ title: '' }, { title: 'x'.repeat(201) }, { title: 'a\0' }, { description: 'x'.repeat(5001) }],
    ...[
      { visibility: 'all' },
      { poster: {} },
      { poster: { seconds: -1 } },
      { poster: { seconds: 1, play: 1 } },
    ],
    ...[{ expiresAt: 'soon' }, { expiresAt: '2001-01-01T00:00:00Z' }, { allowDownload: 'no' }, { views: 5 }],
  ])
    await t.rejects(create(wrong), { code: 'invalid_request' }, JSON.stringify(wrong).slice(0, 60));
  t.same(await shares.list(), []);
});

t.test('a link works until it is private, revoked or expired', async (t) => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { shares, jobId } = await open(t, { clock });
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  const { shareId, token } = await shares.create({ owner: 'ada', jobIds: [jobId], expiresAt });
  t.equal((await shares.find(token)).share.shareId, shareId);
  await shares.update(shareId, { visibility: 'private' });
  await t.rejects(shares.find(token), { code: 'not_found' });
  await shares.update(shareId, { visibility: 'public' });
  clock.advance(60_000);
  await t.rejects(shares.find(token), { code: 'artifact_gone', message: 'This link has expired.' });
  await shares.update(shareId, { expiresAt: null });
  t.equal((await shares.find(token)).share.state, 'open');
  t.match(await shares.revoke(shareId), { state: 'revoked', revokedAt: String });
  await t.rejects(shares.find(token), { code: 'artifact_gone', message: 'This link has been revoked.' });
  await t.rejects(shares.update(shareId, { title: 'Again' }), { code: 'conflict' });
  for (const guess of ['', 'x', token.slice(1), `${token}x`, 'A'.repeat(24), '\0'.repeat(24), shareId])
    await t.rejects(shares.find(guess), { code: 'not_found' });
});

t.test(
  'forgotten jobs leave their shares, and an owner who is forgotten or refused has no links',
  async (t) => {
    let admits = true;
    const { service, shares, render, jobId } = await open(t, { admitsOwner: () => admits });
    const second = await render();
    const one = await shares.create({ owner: 'ada', jobIds: [jobId] });
    const both = await shares.create({ owner: 'ada', jobIds: [jobId, second] });
    await service.forget(jobId);
    await t.rejects(shares.find(one.token), { code: 'not_found' });
    t.same((await shares.find(both.token)).share.jobIds, [second]);
    admits = false;
    await t.rejects(shares.find(both.token), { code: 'not_found' });
    await t.rejects(shares.create({ owner: 'ada', jobIds: [second] }), { code: 'owner_refused' });
    admits = true;
    await service.forgetAll('ada');
    t.same(await shares.list(), []);
  },
);

t.test('views are counted together, and stored before the service stops', async (t) => {
  const { service, shares, jobId } = await open(t);
  const { shareId } = await shares.create({ owner: 'ada', jobIds: [jobId] });
  for (let view = 0; view < 3; view++) shares.noteView(shareId);
  shares.noteView('s0');
  t.equal((await shares.get(shareId)).views, 0, 'not one by one');
  await restart(service);
  t.equal((await shares.get(shareId)).views, 3);
});

async function restart(service: RenderService): Promise<void> {
  await service.stop();
  await setImmediate();
  await service.start();
}
