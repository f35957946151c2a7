import t, { type Test } from 'tap';
import { peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

const EVIL = `"><img src=x onerror=alert(1)>'`;
const PASSWORD = 'a password of their own';
const code = 'class A(Scene): pass';

async function open(t: Test) {
  const appliance = await peopledAppliance(t);
  const { port, admin, member, installation } = appliance;
  const { accountId: owner } = await installation.accounts.find(member);
  const [teacher, administrator] = [await signedIn(t, port, member), await signedIn(t, port, admin)];
  const keep = async (name: string) =>
    (await installation.administration.scenes.create({ account: member, name, className: 'A', code }))
      .sceneId;
  /** The link that a page shows, as a path. */
  const linkIn = (text: string) =>
    /<code id="[\w-]+-link">[^<]*(\/dashboard\/\w+\/[\w-]{24})<\/code>/.exec(text)?.[1] ?? '';
  const assign = async (fields: Record<string, string>) => {
    const { text } = await teacher.submit('/dashboard/assignments', {
      scene: await keep('Circles'),
      ...fields,
    });
    return linkIn(text);
  };
  const classLink = async (fields: Record<string, string> = {}) => {
    const given = { name: 'Class 7b', seats: '2', creditsPerSeat: '25', account: member, ...fields };
    return linkIn((await administrator.submit('/dashboard/class-links', given)).text);
  };
  /** Who joins, without an account before. */
  const join = async (link: string, email: string, password = PASSWORD) => {
    const client = new Client(port);
    const answer = await client.post(link, { email, password }, { from: link });
    return { client, answer };
  };
  return { ...appliance, owner, teacher, administrator, keep, linkIn, assign, classLink, join };
}

/** One for all tests of this file: to start it takes longer than they do. */
const opened = open(t);

t.test('a scene is assigned from its page, and the link is listed, revoked and removed', async (t) => {
  const { teacher, keep, linkIn, service, owner, installation } = await opened;
  t.match((await teacher.get('/dashboard/assignments')).text, 'No assignments yet');
  const sceneId = await keep('Circles');
  t.match(
    (await teacher.get(`/dashboard/scenes/${sceneId}`)).text,
    `/dashboard/assignments/new?scene=${sceneId}`,
  );
  t.match((await teacher.get(`/dashboard/assignments/new?scene=${sceneId}`)).text, 'value="Circles"');
  const instructions = 'Draw two.\r\nThen colour them.';
  const given = { scene: sceneId, title: 'Two circles', instructions, expires: '2999-01-01T00:00' };
  const { text } = await teacher.submit('/dashboard/assignments', given);
  t.match(text, 'Draw two.\nThen colour them.');
  t.match(linkIn(text), /^\/dashboard\/a\//);
  const [assignment] = await service.assignments.list({ owner });
  t.match(assignment, { title: 'Two circles', expiresAt: '2999-01-01T00:00:00.000Z', className: 'A', code });
  t.match((await teacher.get('/dashboard/assignments')).text, 'Two circles');
  for (const [wrong, why] of [
    [{ title: '' }, /title is a text/],
    [{ title: 'A', expires: '2001-01-01T00:00' }, /cannot end in the past/],
    [{ title: 'A', classLink: 'c1' }, /no such class link/],
  ] as const) {
    const refused = await teacher.post('/dashboard/assignments', {
      scene: sceneId,
      instructions: 'Kept',
      ...wrong,
    });
    t.match([refused.status, refused.text], [/^(400|404)$/, why]);
    t.match(refused.text, 'Kept');
  }
  const path = `/dashboard/assignments/${assignment?.assignmentId}`;
  t.equal((await teacher.get(`${path}/code`)).text, code);
  t.match((await teacher.get(`${path}/revoke`)).text, 'Revoke the link to <strong>Two circles</strong>?');
  t.equal((await service.assignments.list({ owner }))[0]?.state, 'open', 'a question revokes nothing');
  t.match((await teacher.submit(`${path}/revoke`, {})).text, 'It no longer works.');
  t.equal(linkIn((await teacher.get(path)).text), '');
  t.match((await teacher.submit(`${path}/remove`, {})).text, 'The link was removed.');
  t.equal((await teacher.get(path)).status, 404);
  const acts = await installation.administration.acts.list({ limit: 3 });
  t.same(
    acts.map(({ action, subject }) => [action, subject]),
    ['remove', 'revoke', 'create'].map((act) => [`assignments.${act}`, assignment?.assignmentId]),
  );
});

t.test('code of the playground is kept as a scene and assigned', async (t) => {
  const { teacher, service, owner, keep } = await opened;
  const form = { code: 'class New(Scene): pass', className: 'New', quality: 'high', aspectRatio: '16:9' };
  const kept = await teacher.post('/dashboard/playground/assign', form);
  const [{ sceneId, name } = { sceneId: '', name: '' }] = (await service.scenes.list({ owner })).scenes;
  t.match(
    [kept.status, kept.headers.location, name],
    [303, `/dashboard/assignments/new?scene=${sceneId}`, 'New'],
  );
  const scene = await keep('Squares');
  await teacher.post('/dashboard/playground/assign', { ...form, scene, revision: '1', code: '# saved' });
  t.match(await service.scenes.get(scene), { revision: 2, code: '# saved' });
});

t.test('who opens a link signs in, gets one copy, and comes back to it', async (t) => {
  const { port, member, assign, service, installation } = await opened;
  await installation.administration.accounts.create({ email: 'bob@example.org' });
  const { accountId } = await installation.accounts.find('bob@example.org');
  await installation.administration.accounts.setPassword({ account: accountId, password: PASSWORD });
  const link = await assign({ title: 'Circles', instructions: 'Draw two.' });
  const client = new Client(port);
  const before = await client.get(link);
  t.match([before.status, before.text], [200, '<h1>Circles</h1>']);
  t.notMatch(before.text, /Draw two|Create an account/);
  t.match(before.headers, { 'referrer-policy': 'same-origin', 'x-robots-tag': 'noindex, nofollow' });
  const signIn = /href="(\/dashboard\/sign-in[^"]+)"/.exec(before.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const next = new URLSearchParams(signIn.split('?')[1]).get('next') ?? '';
  t.equal(next, link);
  const signedIn = { email: 'bob@example.org', password: PASSWORD, next };
  const back = await client.post('/dashboard/sign-in', signedIn, { from: '/dashboard/sign-in' });
  t.equal(back.headers.location, link);
  t.match((await client.get(link)).text, /Draw two\.[\s\S]*Open in the playground/);
  t.equal((await client.postAsIs(link, {})).status, 403, 'a form of another site');
  t.same((await service.scenes.list({ owner: accountId })).scenes, []);
  const first = String((await client.post(link, {})).headers.location);
  t.match(first, /^\/dashboard\/playground\?scene=d/);
  t.match((await client.get(first)).text, /Draw two\.[\s\S]*class A\(Scene\): pass/);
  t.equal((await client.post(link, {})).headers.location, first);
  t.equal((await client.get(link)).headers.location, first);
  t.equal((await service.scenes.list({ owner: accountId })).scenes.length, 1);
  const [act] = await installation.administration.acts.list({ limit: 1 });
  t.match(act, { action: 'assignments.open', actor: 'bob@example.org', subjectName: 'Circles' });
  t.equal(
    (await new Client(port).postAsIs(link, { csrf: 'x' })).headers.location,
    link,
    'a session that ended',
  );
  await installation.accounts.disable((await installation.accounts.find(member)).accountId);
  t.match((await client.get(link)).text, 'This link is no longer valid');
  await installation.accounts.enable((await installation.accounts.find(member)).accountId);
});

t.test('a student without an account joins by the link of the assignment', async (t) => {
  const { assign, classLink, service, installation, administrator, owner, port, teacher } = await opened;
  const joining = await classLink();
  const [{ classLinkId } = { classLinkId: '' }] = await installation.classLinks.list({ owner });
  t.match((await teacher.get('/dashboard/assignments')).text, /Class 7b[\s\S]*0 of 2/);
  t.notMatch((await teacher.get('/dashboard/assignments')).text, 'New class link');
  const link = await assign({ title: 'Circles', classLink: classLinkId });
  const client = new Client(port);
  const landing = await client.get(link);
  const way = /href="(\/dashboard\/join[^"]+)"/.exec(landing.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.equal(way, `${joining}?${new URLSearchParams({ next: link })}`);
  const form = await client.get(way);
  t.match([form.status, form.headers['x-robots-tag']], [200, 'noindex, nofollow']);
  const fields = { email: 'Ann@example.org', password: PASSWORD };
  const joined = await client.post(way, fields, { from: way });
  t.match([joined.status, joined.headers.location], [303, link]);
  const ann = await installation.accounts.find('ann@example.org');
  t.match([ann.role, ann.email], [undefined, 'Ann@example.org']);
  t.match(await installation.place.sessionStore.listSessionsOf(ann.accountId), [{ address: /^127\./ }]);
  t.equal((await installation.administration.credits.balance({ account: ann.accountId })).paid, 25);
  const copy = String((await client.post(link, {})).headers.location);
  t.match((await client.get(copy)).text, 'class A(Scene): pass');
  t.equal((await service.scenes.list({ owner: ann.accountId })).scenes.length, 1);
  t.match((await client.get(joining)).text, 'You are signed in');
  const seen = (await teacher.get(`/dashboard/class-links/${classLinkId}`)).text;
  t.match(seen, /1 of 2[\s\S]*Ann@example\.org/);
  t.notMatch(seen, '/dashboard/accounts/');
  const acts = await installation.administration.acts.list({ limit: 9 });
  t.match(
    acts.find(({ action }) => action === 'classLinks.join'),
    { actor: 'Ann@example.org', subject: classLinkId, subjectName: 'Class 7b' },
  );
  t.match((await administrator.get('/dashboard/acts')).text, /Joined a class[\s\S]*Made a class link/);

  const removed = await administrator.submit(`/dashboard/class-links/${classLinkId}/revoke`, {});
  t.match(removed.text, 'No one can join with it any more.');
  t.match((await new Client(port).get(joining)).text, 'This link is no longer valid');
  t.notMatch((await new Client(port).get(link)).text, 'Create an account');
  t.equal((await client.get(copy)).status, 200, 'who has joined stays');
  await administrator.post(`/dashboard/accounts/${ann.accountId}/delete`, {});
  t.match(
    (await administrator.get(`/dashboard/class-links/${classLinkId}`)).text,
    /1 of 2[\s\S]*deleted account/,
  );
  await administrator.submit(`/dashboard/class-links/${classLinkId}/remove`, {});
  t.same(await installation.classLinks.list({ owner }), []);
  t.equal((await teacher.get('/dashboard/assignments')).status, 200);
});

t.test('joining takes no seat that is not there, and no account that there is', async (t) => {
  const { classLink, join, admin, installation, port } = await opened;
  const link = await classLink({ seats: '1' });
  for (const [email, password, why] of [
    ['nowhere', PASSWORD, /is not an e-mail address/],
    ['cat@example.org', 'short', /10 to 200 characters/],
    [admin.toUpperCase(), PASSWORD, /There is an account with this address/],
    ['owner@localhost', PASSWORD, /is reserved/],
  ] as const) {
    const { answer } = await join(link, email, password);
    t.match([answer.status, answer.text], [/^(400|409)$/, why], email);
    t.notMatch(answer.text, password);
    t.same(answer.headers['set-cookie']?.filter((line) => line.startsWith('scenepress_session')) ?? [], []);
  }
  const both = await Promise.all(['cat@example.org', 'dan@example.org'].map((email) => join(link, email)));
  t.same(both.map(({ answer }) => answer.status).sort(), [303, 409]);
  t.match((await new Client(port).get(link)).text, 'All seats of this class are taken');
  t.match(both.find(({ answer }) => answer.status === 409)?.answer.text, 'All seats of this class are taken');
  const stranger = new Client(port);
  const away = await stranger.postAsIs(link, { email: 'eve@example.org', password: PASSWORD });
  t.match([away.status, away.headers.location], [303, link], 'a form of another site does nothing');
  t.equal((await installation.accounts.list({ text: 'eve@' })).length, 0);
});

t.test('who tries addresses is limited as with passwords', async (t) => {
  const { classLink, join, admin } = await opened;
  const link = await classLink();
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 40; attempt++) statuses.add((await join(link, admin)).answer.status);
  t.same([...statuses], [409, 429]);
});

t.test('only administrators make class links, and see those of others', async (t) => {
  const { teacher, administrator, classLink, admin, installation } = await opened;
  t.equal((await teacher.post('/dashboard/class-links', { name: 'Mine', seats: '1' })).status, 403);
  await classLink({ account: admin, name: 'Class of the administrator' });
  const { accountId } = await installation.accounts.find(admin);
  const [link] = await installation.classLinks.list({ owner: accountId });
  const path = `/dashboard/class-links/${link?.classLinkId}`;
  for (const below of ['', '/revoke', '/remove']) t.equal((await teacher.get(path + below)).status, 404);
  for (const below of ['/revoke', '/remove']) t.equal((await teacher.post(path + below, {})).status, 404);
  t.notMatch((await teacher.get('/dashboard/assignments')).text, 'Class of the administrator');
  t.match((await administrator.get('/dashboard/assignments')).text, 'Class of the administrator');
  for (const [wrong, why] of [
    [{ name: '' }, /name is a text/],
    [{ seats: '0' }, /seats must be greater/],
    [{ seats: '' }, /seats must be/],
    [{ creditsPerSeat: '-1' }, /creditsPerSeat/],
    [{ account: 'no@example.org' }, /no account/],
    [{ expires: '2001-01-01T00:00' }, /cannot end in the past/],
  ] as const) {
    const given = { name: 'Kept name', seats: '3', creditsPerSeat: '1', account: admin, ...wrong };
    const { status, text } = await administrator.post('/dashboard/class-links', given);
    t.match([status, text], [/^(400|404)$/, why]);
    if (!('name' in wrong)) t.match(text, 'value="Kept name"');
  }
});

t.test('links that were never there, have ended or were removed get the same answer', async (t) => {
  const { teacher, assign, service, owner, port } = await opened;
  const link = await assign({ title: 'Ended' });
  const [{ assignmentId } = { assignmentId: '' }] = await service.assignments.list({ owner });
  await service.assignments.revoke(assignmentId);
  const bare = (text: string) =>
    text.replaceAll(/value="[^"]+"|data-now="[^"]+"/g, '').replaceAll(/\/(a|join)\/[\w-]+/g, '');
  for (const client of [new Client(port), teacher]) {
    const answers = await Promise.all(
      [link, `/dashboard/a/${'A'.repeat(24)}`, '/dashboard/a/x', '/dashboard/a/%00', '/dashboard/join/x'].map(
        (path) => client.get(path),
      ),
    );
    for (const { status, text } of answers) t.same([status, bare(text)], [404, bare(answers[0]?.text ?? '')]);
  }
  await service.assignments.remove(assignmentId);
  t.equal((await new Client(port).get(link)).status, 404);
});

t.test('hostile titles and instructions are escaped for all who see them', async (t) => {
  const { teacher, administrator, keep, classLink, service, owner, port, admin } = await opened;
  const sceneId = await keep(EVIL);
  await classLink({ name: EVIL });
  const { text } = await teacher.submit('/dashboard/assignments', {
    ...{ scene: sceneId, title: EVIL, instructions: `</textarea>${EVIL}\n<script>alert(1)</script>` },
  });
  const [{ assignmentId, token } = { assignmentId: '', token: '' }] = await service.assignments.list({
    owner,
  });
  const visitor = new Client(port);
  const pages = [
    text,
    ...(await Promise.all(
      [`/assignments/${assignmentId}/revoke`, '/assignments', `/assignments/new?scene=${sceneId}`].map(
        (path) => teacher.get(`/dashboard${path}`),
      ),
    ).then((answers) => answers.map(({ text }) => text))),
    (await visitor.get(`/dashboard/a/${token}`)).text,
    (await administrator.get(`/dashboard/a/${token}`)).text,
    (await administrator.submit(`/dashboard/a/${token}`, {})).text,
    (await administrator.get('/dashboard/acts')).text,
  ];
  for (const text of pages) {
    t.notMatch(text, /<img src=x|<script>alert/);
    t.match(text, '&lt;img src=x onerror=alert(1)&gt;');
  }
  await service.forgetAll((await (await opened).installation.accounts.find(admin)).accountId);
  t.equal((await service.assignments.get(assignmentId)).copies, 0);
});

t.test('the links of an account that is deleted are gone, and its students stay', async (t) => {
  const { administrator, classLink, join, installation, service, port } = await opened;
  const email = 'leaving@example.org';
  const { userId } = await installation.administration.accounts.create({ email });
  const { token } = await service.assignments.create({ owner: userId, title: 'Left', code });
  const link = await classLink({ account: email });
  const { client, answer } = await join(link, 'staying@example.org');
  t.equal(answer.status, 303);
  const copy = String((await client.post(`/dashboard/a/${token}`, {})).headers.location);
  t.equal((await administrator.post(`/dashboard/accounts/${userId}/delete`, {})).status, 303);
  t.same(await service.assignments.list({ owner: userId }), []);
  t.same(await installation.classLinks.list({ owner: userId }), []);
  for (const path of [link, `/dashboard/a/${token}`]) t.equal((await new Client(port).get(path)).status, 404);
  t.match((await client.get(copy)).text, 'class A(Scene): pass');
});

t.test('tokens of links are not in the log', async (t) => {
  const { assign, classLink, port, log } = await opened;
  const links = [await assign({ title: 'Logged' }), await classLink()];
  for (const link of links) await new Client(port).get(link);
  for (const link of links) t.notMatch(log(), link.split('/').at(-1) ?? '');
  t.match(log(), '/dashboard/a/…');
});
