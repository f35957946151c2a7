import t, { type Test } from 'tap';
import type { RenderServiceOptions } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { instantService } from '../../fixtures/instant-service.ts';

const code = 'class A(Scene): pass';

async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const service = await instantService(t, options);
  const { scenes, assignments } = service;
  const settings = { quality: 'low' as const, params: { radius: 2 } };
  const scene = await scenes.create({ owner: 'ada', name: 'Circles', className: 'A', code, settings });
  return { service, scenes, assignments, scene, settings };
}

t.test(
  'an assignment gives the draft that a scene had, and each copy belongs to who opened it',
  async (t) => {
    const { service, scenes, assignments, scene, settings } = await open(t);
    const { sceneId, revision } = scene;
    const given = await assignments.create({ owner: 'ada', sceneId, instructions: 'Draw two.' });
    t.match(given, {
      ...{ assignmentId: /^a[0-9a-f]{48}$/, token: /^[\w-]{24}$/, owner: 'ada', title: 'Circles' },
      ...{ instructions: 'Draw two.', className: 'A', code, settings, classLinkId: null, copies: 0 },
      ...{ state: 'open', expiresAt: null, revokedAt: null },
    });
    await scenes.save(sceneId, { revision, code: '# later' });
    const copy = await assignments.open(given.token, { owner: 'bob' });
    t.match(await scenes.get(copy.sceneId, { owner: 'bob' }), {
      name: 'Circles',
      className: 'A',
      code,
      settings,
    });
    const { job } = await scenes.render(copy.sceneId);
    t.equal(job.owner, 'bob', 'who has the copy pays');
    await scenes.save(copy.sceneId, { revision: 1, code: '# mine' });
    t.same(await assignments.open(given.token, { owner: 'bob' }), copy);
    t.equal(await assignments.copyOf(given.assignmentId, 'bob'), copy.sceneId);
    t.equal((await assignments.ofScene(copy.sceneId))?.copies, 1);
    t.equal(await assignments.ofScene(sceneId), undefined);
    await service.wait(job.jobId);
    await scenes.remove(copy.sceneId);
    t.not(
      (await assignments.open(given.token, { owner: 'bob' })).sceneId,
      copy.sceneId,
      'a copy that was removed',
    );
  },
);

t.test('assignments are listed, ended and removed by their owner only', async (t) => {
  const { assignments, scenes } = await open(t);
  const made = [];
  for (const title of ['One', 'Two']) made.push(await assignments.create({ owner: 'ada', title, code }));
  t.same(await assignments.list({ owner: 'ada' }), made.toReversed());
  t.same(await assignments.list({ owner: 'eve' }), []);
  const { assignmentId = '', token = '' } = made[0] ?? {};
  for (const call of ['get', 'revoke', 'remove'] as const)
    for (const [id, scope] of [
      [assignmentId, { owner: 'eve' }],
      ['a\0', {}],
    ] as const)
      await t.rejects(assignments[call](id, scope) as Promise<unknown>, { code: 'not_found' });
  const { sceneId } = await assignments.open(token, { owner: 'bob' });
  t.match(await assignments.revoke(assignmentId, { owner: 'ada' }), { state: 'revoked', revokedAt: String });
  await t.rejects(assignments.open(token, { owner: 'bob' }), { code: 'not_found' });
  t.equal((await assignments.ofScene(sceneId))?.title, 'One');
  await assignments.remove(assignmentId);
  t.equal(await assignments.ofScene(sceneId), undefined);
  t.match(await scenes.get(sceneId), { owner: 'bob', code }, 'the copy stays');
});

t.test('what an assignment gives is checked', async (t) => {
  const { assignments, scenes, scene } = await open(t);
  const { sceneId } = scene;
  const create = (change: object) => assignments.create({ owner: 'ada', title: 'A', ...change });
  await t.rejects(create({ sceneId, owner: 'eve' }), { code: 'not_found' });
  await t.rejects(create({ classLinkId: 'c1' }), { code: 'not_found', message: /class link/ });
  for (const wrong of [
    ...[{ title: undefined }, { title: '' }, { title: 'a\nb' }, { title: 'x'.repeat(201) }, { code: 'a\0' }],
    ...[{ sceneId, code }, { className: 'not a name' }, { settings: { quality: 'best' } }, { code: 7 }],
    ...[{ instructions: '' }, { instructions: 'x'.repeat(10_001) }, { expiresAt: 'soon' }, { copies: 3 }],
    ...[{ expiresAt: '2001-01-01T00:00:00Z' }, { owner: '' }, { settings: null }],
  ])
    await t.rejects(create(wrong), { code: 'invalid_request' }, JSON.stringify(wrong).slice(0, 60));
  t.same(await assignments.list(), []);
  const { settings } = await create({ code, settings: { quality: 'high', files: { 'a.png': 'f1' } } });
  t.same(settings, { quality: 'high' }, 'without files, which are those of an account');
  t.equal((await scenes.list({ owner: 'ada' })).scenes.length, 1);
});

t.test('a link says only that it does not work, whatever the reason', async (t) => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  let admits = true;
  const { service, assignments } = await open(t, {
    clock,
    admitsOwner: (owner) => admits || owner !== 'ada',
  });
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  const { token, assignmentId } = await assignments.create({ owner: 'ada', title: 'A', code, expiresAt });
  t.equal((await assignments.find(token)).assignmentId, assignmentId);
  const isNoLink = async (token: string) => {
    const error = { code: 'not_found', message: 'This link is no longer valid.' };
    await t.rejects(assignments.find(token), error);
    await t.rejects(assignments.open(token, { owner: 'bob' }), error);
  };
  for (const guess of ['', 'x', token.slice(1), `${token}x`, 'A'.repeat(24), '\0'.repeat(24), assignmentId])
    await isNoLink(guess);
  admits = false;
  await isNoLink(token);
  admits = true;
  clock.advance(60_000);
  await isNoLink(token);
  t.equal((await assignments.get(assignmentId)).state, 'expired');
  await service.forgetAll('ada');
  t.same(await assignments.list(), []);
});

t.test('an owner beyond the limits gets no copy', async (t) => {
  const { assignments } = await open(t, { scenes: { mostScenes: 1 } });
  const { token, assignmentId } = await assignments.create({ owner: 'ada', title: 'A', code });
  await t.rejects(assignments.open(token, { owner: 'ada' }), { code: 'too_much_stored' });
  t.equal((await assignments.get(assignmentId)).copies, 0);
});
