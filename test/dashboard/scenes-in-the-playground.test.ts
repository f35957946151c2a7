import t, { type Test } from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const codeOf = (comment: string) => `class Intro(Scene):\n    pass\n# ${comment}\n`;
const REQUEST = { className: 'Intro', quality: 'low', params: { a: 1 } } as const;
const FORM = { className: 'Intro', quality: 'low', aspectRatio: '16:9', fps: '12', params: '{"a":1}' };

const appliance = await peopledAppliance(t);

/** A member with a scene, and the form of the playground that has it. */
async function editing(t: Test) {
  const { port, member, installation } = appliance;
  const { scenes } = installation.administration;
  const client = await signedIn(t, port, member);
  const { sceneId } = await scenes.create({
    account: member,
    name: 'Intro',
    code: codeOf('kept'),
    className: 'Intro',
    settings: { tags: ['school'] },
  });
  const form = (comment: string, revision = 1) => ({
    ...{ ...FORM, scene: sceneId, revision: String(revision), code: codeOf(comment) },
  });
  const post = (path: string, fields: Record<string, string>) =>
    client.post(`/dashboard${path}`, fields, { from: `/dashboard/playground?scene=${sceneId}` });
  const page = async () => (await client.get(`/dashboard/playground?scene=${sceneId}`)).text;
  const draft = () => scenes.show({ sceneId });
  const codes = async () => {
    const { drafts } = await scenes.drafts({ sceneId });
    const found = drafts.map(({ revision }) => scenes.draft({ sceneId, revision }));
    return (await Promise.all(found)).map(({ code }) => /# (.*)/.exec(code)?.[1]);
  };
  return { ...appliance, client, scenes, sceneId, form, post, page, draft, codes };
}

t.test('a scene is opened, saved with the settings of the form beside others, and rendered', async (t) => {
  const { sceneId, form, post, page, draft, scenes } = await editing(t);
  const opened = await page();
  t.match(opened, /<h1>Intro<\/h1>/);
  t.match(opened, `name="scene" value="${sceneId}"><input type="hidden" name="revision" value="1"`);
  t.match(opened, '# kept');
  t.notMatch(opened, 'id="examples"', 'no example takes the place of a scene');
  const saved = await post(`/scenes/${sceneId}/save`, form('saved'));
  t.match([saved.status, saved.json], [200, { revision: 2 }]);
  t.match(await draft(), {
    code: codeOf('saved'),
    settings: { tags: ['school'], quality: 'low', fps: 12, params: { a: 1 } },
  });
  const rendered = await post('/playground', form('rendered', 2));
  t.match(rendered.headers.location, new RegExp(`playground\\?scene=${sceneId}&job=`));
  const { versions } = await scenes.versions({ sceneId });
  t.match(versions, [{ version: 1, revision: 3, job: { className: 'Intro', fps: 12, title: 'Intro' } }]);
  const wrong = await post(`/scenes/${sceneId}/save`, { ...form('x', 3), quality: 'best' });
  t.match([wrong.status, wrong.json], [400, { message: /quality/ }]);
  t.match(await post(`/scenes/${sceneId}/save`, { ...form('x', 3), revision: '' }), { status: 400 });
});

t.test('a save of an earlier draft is refused, and the page has both texts', async (t) => {
  const { sceneId, form, post, codes } = await editing(t);
  await post(`/scenes/${sceneId}/save`, form('theirs'));
  const stale = await post(`/scenes/${sceneId}/save`, form('mine'));
  t.match([stale.status, stale.json], [409, { message: /its revision is 2, not 1/ }]);
  for (const path of ['/playground/save', '/playground']) {
    const { status, text } = await post(path, form('mine'));
    t.equal(status, 409, path);
    t.match(text, 'Saved elsewhere meanwhile');
    t.match(text, '<del>- # theirs\n</del><ins>+ # mine\n</ins>');
    t.match(text, />\nclass Intro\(Scene\):\n {4}pass\n# mine\n<\/textarea>/, 'the form has mine');
    t.match(text, 'name="revision" value="1"', 'which is still refused');
  }
  t.same(await codes(), ['theirs', 'kept']);
});

t.test('of two texts either is taken, and the other stays among the drafts', async (t) => {
  const { sceneId, form, post, codes, scenes, member } = await editing(t);
  await post(`/scenes/${sceneId}/save`, form('theirs'));
  const mine = await post('/playground/save', { ...form('mine'), over: '2' });
  t.equal(mine.headers.location, `/dashboard/playground?scene=${sceneId}`);
  t.same(await codes(), ['mine', 'theirs', 'kept']);
  await post('/playground/take', { ...form('other', 2), over: '3' });
  t.same(await codes(), ['mine', 'other', 'mine', 'theirs', 'kept']);
  t.equal((await post('/playground/take', { ...form('late', 2), over: '3' })).status, 409);
  const kept = await post('/playground/keep', form('another'));
  t.not(kept.headers.location, `/dashboard/playground?scene=${sceneId}`);
  const [copy] = (await scenes.list({ account: member })).scenes;
  t.match(copy, { name: 'Intro (copy)' });
  t.match(await scenes.show(copy ?? { sceneId: '' }), {
    code: codeOf('another'),
    settings: { tags: ['school'] },
  });
});

t.test('code of the playground is kept as a scene, with the name of its class', async (t) => {
  const { client, post, scenes, member } = await editing(t);
  t.match((await client.get('/dashboard/playground')).text, 'Save as scene');
  const { headers } = await post('/playground/keep', { ...FORM, code: codeOf('new') });
  const [scene] = (await scenes.list({ account: member })).scenes;
  t.equal(headers.location, `/dashboard/playground?scene=${scene?.sceneId}`);
  t.match(scene, { name: 'Intro' });
  const { jobs } = appliance.installation.administration;
  const { jobId } = await jobs.render({ account: member, ...REQUEST, code: codeOf('rendered') });
  for (const [comment, versions] of [
    ['changed', []],
    ['rendered', [{ version: 1, job: { jobId } }]],
    ['rendered', []],
  ] as const) {
    await post('/playground/keep', { ...FORM, job: jobId, code: codeOf(comment).replaceAll('\n', '\r\n') });
    const [{ sceneId = '' } = {}] = (await scenes.list({ account: member })).scenes;
    t.match((await scenes.versions({ sceneId })).versions, versions, comment);
  }
  t.equal((await post('/playground/save', { ...FORM, code: 'x' })).status, 400, 'without a scene');
});

t.test('a draft that is too long to be edited is not replaced by an empty form', async (t) => {
  const { scenes, sceneId, page } = await editing(t);
  await scenes.save({ sceneId, revision: 1, code: '&'.repeat(100_000) });
  const text = await page();
  t.match(text, `<a href="/dashboard/scenes/${sceneId}/code">Download it</a>`);
  t.notMatch(text, 'name="scene"');
});
