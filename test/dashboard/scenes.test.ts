import { join } from 'node:path';
import t, { type Test } from 'tap';
import { routesOf } from '../../appliance/dashboard/routes.ts';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
/** Would run in text, in attributes and in links. */
const EVIL = `"><script>alert(1)</script>' onerror=alert(1)`;
const CODE = 'class Intro(Scene):\n    pass\n';

/** Starts once for the tests that render nothing. */
const idle = await peopledAppliance(t);

async function open(t: Test, appliance: typeof idle = idle) {
  const { port, member, installation } = appliance;
  const client = await signedIn(t, port, member);
  const { scenes } = installation.administration;
  const kept = (name = 'Intro', account = member) =>
    scenes.create({ account, name, code: CODE, className: 'Intro', settings: { quality: 'low' } });
  return { ...appliance, client, scenes, kept };
}

t.test('scenes are found by words, in pages of the account that is looked at', async (t) => {
  const { client, kept, member, admin, port } = await open(t);
  const found = await kept('Fourier waves');
  const other = await kept('Sand');
  const page = async (query: string) => (await client.get(`/dashboard/scenes?${query}`)).text;
  const text = await page('text=wav%20cla');
  t.match(text, `href="/dashboard/scenes/${found.sceneId}">Fourier waves</a>`);
  t.notMatch(text, other.sceneId);
  t.match(text, '<input type="search" name="text" value="wav cla"');
  t.match(await page('text=zebra'), 'No such scenes');
  t.match(await page(`text=${encodeURIComponent(EVIL.repeat(200))}`), 'No such scenes');
  t.notMatch(await page(`text=${encodeURIComponent(EVIL)}`), '<script>alert');
  for (let count = 0; count < 25; count += 1) await kept(`Part ${count}`);
  const next = /href="([^"]+)" rel="next"/.exec(await page('text=part'))?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = (await client.get(`/dashboard/scenes${next}`)).text;
  t.equal(second.match(/>Part \d+<\/a>/g)?.length, 1, 'the 25th');
  t.match(second, 'href="?text=part">');
  const asAdmin = await signedIn(t, port, admin);
  const theirs = (await asAdmin.get(`/dashboard/scenes?account=${member}&text=fourier`)).text;
  t.match(theirs, found.sceneId);
  t.match(theirs, `<input type="hidden" name="account" value="${member}">`);
  t.notMatch((await asAdmin.get('/dashboard/scenes?text=fourier')).text, found.sceneId);
  const { scenes } = await open(t);
  for (const { sceneId } of (await scenes.list({ account: member, limit: 50 })).scenes)
    await scenes.remove({ sceneId });
});

t.test('a scene is made by its name, listed, renamed, copied, downloaded and removed', async (t) => {
  const { client, scenes, member, port, admin } = await open(t);
  t.match((await client.get('/dashboard/scenes')).text, 'No scenes yet');
  const made = await client.post('/dashboard/scenes', { name: 'Intro' });
  const [, sceneId = ''] =
    /^\/dashboard\/playground\?scene=(d[0-9a-f]+)$/.exec(String(made.headers.location)) ?? [];
  const refused = await client.post('/dashboard/scenes', { name: ' ' });
  t.match([refused.status, refused.text], [400, 'name is a text of at most 200 characters']);
  const path = `/dashboard/scenes/${sceneId}`;
  t.match(
    (await client.get('/dashboard/scenes')).text,
    new RegExp(`<a class="name" href="${path}">Intro</a>`),
  );
  const page = (await client.get(path)).text;
  t.match(page, 'No versions yet');
  t.match(page, `href="/dashboard/playground?scene=${sceneId}"`);
  t.match(
    (await client.submit(`${path}/rename`, { name: "Ada's: intro" })).text,
    'It is Ada&#39;s: intro now.',
  );
  const file = await client.get(`${path}/code`);
  t.match(file.headers['content-disposition'], "attachment; filename*=UTF-8''Ada%27s_%20intro.py");
  t.equal(file.text, (await scenes.show({ sceneId })).code);
  const archive = await client.get('/dashboard/scenes.zip');
  t.match(
    [archive.headers['content-type'], archive.bytes.subarray(0, 2).toString()],
    ['application/zip', 'PK'],
  );
  t.match(
    (await client.submit(`${path}/duplicate`, {})).text,
    /This is the copy[\s\S]*Ada&#39;s: intro \(copy\)/,
  );
  t.match(
    (await client.get(`${path}/remove`)).text,
    /Remove <strong>Ada&#39;s: intro<\/strong>\? Its 1 draft and 0 versions/,
  );
  t.match((await client.submit(`${path}/remove`, {})).text, 'Ada&#39;s: intro was removed.');
  t.equal((await client.get(path)).status, 404);
  t.match((await scenes.list({ account: member })).scenes, [{ name: "Ada's: intro (copy)" }]);
  const record = (await (await signedIn(t, port, admin)).get('/dashboard/acts')).text;
  for (const act of ['Kept', 'Renamed', 'Copied', 'Removed']) t.match(record, `${act} a scene`);
});

t.test('versions, drafts and their differences are shown, restored and rendered again', async (t) => {
  const { client, kept, scenes, service } = await open(
    t,
    await peopledAppliance(t, { ...INSTANT, maxScenesPerAccount: 1 }),
  );
  const { sceneId } = await kept();
  const path = `/dashboard/scenes/${sceneId}`;
  const copied = await client.post(`${path}/duplicate`, {});
  t.match([copied.status, copied.text], [429, 'This account has 1 scenes, which is the limit']);
  t.match((await client.submit(`${path}/render`, {})).text, 'Version 1 is being rendered.');
  const { versions } = await scenes.versions({ sceneId });
  const jobId = versions[0]?.job.jobId ?? '';
  await service.wait(jobId);
  t.match((await client.get(`/dashboard/jobs/${jobId}`)).text, `<a href="${path}">Intro, version 1</a>`);
  await scenes.save({ sceneId, revision: 1, code: `${CODE}# <b>\n`, settings: { quality: 'high' } });
  const history = (await client.get(path)).text;
  t.match(history, new RegExp(`/artifacts/${jobId}/thumbnail.jpg`));
  t.match(history, 'Low, 16:9, 15 fps, Intro');
  const diff = (await client.get(`${path}/diff?from=v1`)).text;
  t.match(diff, '<ins>+ # &lt;b&gt;\n</ins>');
  t.match(diff, '<del>Low</del> → <ins>High</ins>');
  t.match(diff, '1 line added, 0 lines removed');
  t.match((await client.get(`${path}/diff?from=d1&to=v1`)).text, 'Both are equal');
  t.equal((await client.get(`${path}/code?of=v1`)).text, CODE);
  for (const side of ['v9', 'd9', 'v', 'x', '__proto__', 'v1e3'])
    t.equal((await client.get(`${path}/diff?from=${side}`)).status, 404, side);
  const stale = await client.post(`${path}/restore`, { revision: '1', version: '1' });
  t.match([stale.status, stale.text], [409, 'The scene was saved elsewhere meanwhile']);
  t.match((await client.submit(`${path}/restore`, { revision: '2', version: '1' })).text, 'Restored.');
  t.match(await scenes.show({ sceneId }), { code: CODE, revision: 3 });
  t.match((await client.get(path)).text, 'Earlier drafts');
  t.match((await client.submit(`${path}/versions/1/again`, {})).text, 'Version 2 is being rendered.');
  const [again] = (await scenes.versions({ sceneId })).versions;
  t.match((await client.get(`${path}/compare`)).text, 'Nothing to compare yet');
  await service.wait(again?.job.jobId ?? '');
  const compare = (await client.get(`${path}/compare`)).text;
  t.match(
    compare,
    new RegExp(`<video controls playsinline preload="auto"  src="/artifacts/${jobId}/video.mp4"`),
  );
  t.match(
    compare,
    `<video controls playsinline preload="auto" muted src="/artifacts/${again?.job.jobId}/video.mp4"`,
  );
  t.equal((await client.get(`${path}/compare?left=9`)).status, 404);
  await service.forget(jobId);
  t.match((await client.get(path)).text, 'Forgotten');
  t.equal((await client.get(`${path}/diff?from=v1`)).status, 404);
  t.match((await client.get(`${path}/remove`)).text, 'Forget these jobs, too');
  await client.post(`${path}/remove`, { forgetJobs: 'yes' });
  t.ok((await service.get(again?.job.jobId ?? '')).forgottenAt);
});

t.test("another account's scenes are reached by administrators only", async (t) => {
  const { client, kept, admin, member, port } = await open(t);
  const { sceneId } = await kept('secret-name', admin);
  for (const path of ['', '/code', '/diff', '/compare', '/remove']) {
    const { status, text } = await client.get(`/dashboard/scenes/${sceneId}${path}`);
    t.equal(status, 404, path);
    t.notMatch(text, 'secret-name');
  }
  t.notMatch((await client.get(`/dashboard/scenes?account=${admin}`)).text, 'secret-name');
  const own = await kept('own-name');
  const administrator = await signedIn(t, port, admin);
  t.match((await administrator.get(`/dashboard/scenes?account=${member}`)).text, 'own-name');
  t.match((await administrator.get(`/dashboard/scenes/${own.sceneId}`)).text, `<dd>${member}</dd>`);
});

t.test('no form about scenes is taken from another site', async (t) => {
  const { client, kept, scenes, member } = await open(t);
  const { sceneId } = await kept();
  const before = await scenes.list({ account: member });
  const forms = routesOf({} as Parameters<typeof routesOf>[0]).filter(
    ({ method, path }) => method === 'POST' && /^\/scenes|^\/playground\/(save|take|keep)/.test(path),
  );
  t.ok(forms.length > 9);
  for (const { path } of forms) {
    const url = `/dashboard${path.replace('{sceneId}', sceneId).replace('{version}', '1')}`;
    for (const csrf of ['', 'x'])
      t.equal((await client.postAsIs(url, { csrf, name: 'x', revision: '1', code: 'x' })).status, 403, url);
  }
  t.same(await scenes.list({ account: member }), before);
});

t.test('odd values get an answer that says what is wrong, and change nothing', async (t) => {
  const { client, kept, scenes } = await open(t);
  const { sceneId } = await kept();
  const before = await scenes.show({ sceneId });
  const odd = [
    '',
    '0',
    '-1',
    '1e99',
    '1.5',
    'NaN',
    '99999999999999999999',
    '\0',
    '__proto__',
    '<b>',
    'x'.repeat(3000),
  ];
  const path = `/dashboard/scenes/${sceneId}`;
  for (const value of odd) {
    const text = encodeURIComponent(value);
    const pages = [
      `/dashboard/scenes/${text || 'x'}`,
      `/dashboard/playground?scene=${text}`,
      `/dashboard/scenes?after=${text}`,
      `${path}?before=${text}`,
      `${path}/code?of=${text}`,
      `${path}/diff?from=v${text}&to=${text}`,
      `${path}/compare?left=${text}`,
    ];
    for (const page of pages) {
      const { status, text } = await client.get(page);
      t.ok(status < 500, `${status} ${page.slice(0, 100)}`);
      t.notMatch(text, '<b>');
    }
    const forms: [string, Record<string, string>][] = [
      [`${path}/restore`, { revision: value, version: value }],
      [`${path}/restore`, { revision: '1', draft: value }],
      [`${path}/rename`, { name: value === '<b>' ? '' : value.slice(0, 1).repeat(300) }],
      [`${path}/save`, { revision: value, code: 'x', quality: value, fps: value, params: value }],
      ['/dashboard/playground/save', { scene: value, revision: value, code: value }],
      ['/dashboard/playground/take', { scene: sceneId, over: '7', revision: value, code: value }],
      [`${path}/versions/${text || '0'}/again`, {}],
    ];
    for (const [form, fields] of forms) {
      const { status } = await client.post(form, fields);
      t.ok(
        status >= 400 && status < 500,
        `${status} ${form.slice(0, 100)} ${JSON.stringify(fields).slice(0, 60)}`,
      );
    }
  }
  t.same(await scenes.show({ sceneId }), before);
});

t.test('names are text, and lists have pages', async (t) => {
  const { client, kept } = await open(t);
  const { sceneId } = await kept(EVIL);
  for (const path of ['', `/${sceneId}`, `/${sceneId}/diff`, `/${sceneId}/remove`]) {
    const { status, text } = await client.get(`/dashboard/scenes${path}`);
    t.equal(status, 200, path);
    t.match(text, '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39; onerror');
    t.notMatch(text, '<script>alert');
  }
  for (let number = 0; number < 24; number += 1) await kept(`Scene ${number}`);
  const first = (await client.get('/dashboard/scenes')).text;
  t.notMatch(first, sceneId);
  const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(first) ?? [];
  t.match((await client.get(`/dashboard/scenes${next.replaceAll('&amp;', '&')}`)).text, sceneId);
  t.equal((await client.get('/dashboard/scenes?after=x')).status, 400);
});
