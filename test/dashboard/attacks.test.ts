import t, { type Test } from 'tap';
import { escapeHtml } from '../../appliance/dashboard/html.ts';
import { LiveEvents } from '../../appliance/dashboard/live-events.ts';
import { pathWithin } from '../../appliance/dashboard/route.ts';
import { Attempts } from '../../appliance/dashboard/sign-in/attempts.ts';
import { Sessions, type Viewer } from '../../appliance/dashboard/sign-in/sessions.ts';
import { completedJob } from '../appliance/completed-job.ts';
import { isDeep } from '../fixtures/depth.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { PASSWORD, peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

async function peopled(t: Test) {
  const appliance = await peopledAppliance(t);
  const { accounts } = appliance.installation.administration;
  const idOf = async (account: string) => (await accounts.show({ account })).userId;
  return { ...appliance, accounts, idOf };
}

t.test('one’s own account is protected under every name of it', async (t) => {
  const { port, admin, accounts, idOf } = await peopled(t);
  const client = await signedIn(t, port, admin);
  const before = await accounts.show({ account: admin });
  for (const name of [await idOf(admin), admin, admin.toUpperCase(), encodeURIComponent(admin)]) {
    for (const act of ['disable', 'role', 'delete']) {
      const refused = await client.post(`/dashboard/accounts/${name}/${act}`, { role: 'member' });
      t.match(refused.text, 'Another administrator has to do this', `${act} ${name}`);
    }
    const refused = await client.post(`/dashboard/accounts/${name}/invitation`, {});
    t.equal(refused.status, 409);
    t.notMatch(refused.text, 'token=', 'a stolen session is no way to a new password');
  }
  t.same(await accounts.show({ account: admin }), before);
});

t.test('two administrators cannot take away each other’s role', async (t) => {
  const { port, admin, member, accounts, idOf } = await peopled(t);
  await accounts.setRole({ account: member, role: 'admin' });
  const [one, other] = [await signedIn(t, port, admin), await signedIn(t, port, member)];
  const [ofOne, ofOther] = [await idOf(admin), await idOf(member)];
  const answers = await Promise.all([
    one.post(`/dashboard/accounts/${ofOther}/role`, { role: 'member' }),
    other.post(`/dashboard/accounts/${ofOne}/role`, { role: 'member' }),
  ]);
  t.same(answers.map(({ status }) => status).sort(), [303, 403]);
  const roles = (await accounts.list()).accounts.map(({ role }) => role);
  t.equal(roles.filter((role) => role === 'admin').length, 1);
});

t.test('links for choosing a password are shown on request only, which is recorded', async (t) => {
  const { port, admin, member, installation, idOf } = await peopled(t);
  const client = await signedIn(t, port, admin);
  const path = `/dashboard/accounts/${await idOf(member)}`;
  t.notMatch((await client.get(path)).text, 'token=');
  t.match((await client.submit(`${path}/invitation`, {})).text, '/dashboard/set-up?token=');
  const [act] = await installation.place.actStore.listActs({ limit: 1 });
  t.match(act, { action: 'accounts.invite', actor: await idOf(admin), subject: await idOf(member) });
});

t.test('one of several concurrent uses of a link succeeds', async (t) => {
  const { port, accounts } = await peopled(t);
  await accounts.create({ email: 'grace@example.org' });
  const { url } = await accounts.invite({ account: 'grace@example.org' });
  const from = url.slice(url.indexOf('/dashboard'));
  const token = new URL(url).searchParams.get('token') ?? '';
  const answers = await Promise.all(
    [1, 2, 3].map((number) =>
      new Client(port).post('/dashboard/set-up', { token, password: `password number ${number}` }, { from }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 303).length, 1);
  const many = await accounts.invite({ account: 'grace@example.org' });
  const another = new URL(many.url).searchParams.get('token') ?? '';
  const link = many.url.slice(many.url.indexOf('/dashboard'));
  const flood = await Promise.all(
    Array.from({ length: 30 }, () =>
      new Client(port).post('/dashboard/set-up', { token: another, password: 'short' }, { from: link }),
    ),
  );
  // Two of the three above count, too.
  t.equal(flood.filter(({ status }) => status === 400).length, 8, 'the others are not even hashed');
  t.equal(flood.filter(({ status }) => status === 429).length, 22);
  const right = answers.findIndex(({ status }) => status === 303) + 1;
  t.equal((await new Client(port).signIn('grace@example.org', `password number ${right}`)).status, 303);
});

t.test('the place to return to is a page of the dashboard, whatever is given', async (t) => {
  for (const next of [
    'https://evil.example/dashboard',
    '//evil.example/dashboard',
    '/\\evil.example/dashboard',
    'javascript:alert(1)//dashboard',
    '/dashboard/../api',
    '/dashboard/..//evil.example',
    '/dashboard/%2e%2e/%2e%2e//evil.example',
    '/dashboardx',
    '',
  ]) {
    t.equal(pathWithin(next), '', next);
  }
  t.equal(pathWithin('/dashboard/jobs?error=%D0%B6&a=b#c'), '/jobs?error=%D0%B6&a=b');

  const { port, member } = await peopled(t);
  const client = new Client(port);
  const fields = { email: member, password: PASSWORD, next: '/dashboard/jobs?a=ж\r\nSet-Cookie: a=b' };
  const { status, headers } = await client.post('/dashboard/sign-in', fields, { from: '/dashboard/sign-in' });
  t.match([status, headers.location], [303, '/dashboard/jobs?a=%D0%B6Set-Cookie:%20a=b']);
  t.notOk(client.cookies.has('a'));
});

t.test('made-up addresses do not fill the memory', async (t) => {
  const { port } = await peopled(t);
  const start = 'x'.repeat(300);
  for (let count = 0; count < 10; count += 1) {
    t.equal((await new Client(port).signIn(`${start}${count}`.padEnd(50_000, 'y'), 'wrong')).status, 401);
  }
  t.equal((await new Client(port).signIn(start, 'wrong')).status, 429, 'they count by their beginning');
});

t.test('failed attempts do not lock out a user at another address', async (t) => {
  const clock = new FakeClock('2026-11-23T10:00:00Z');
  const attempts = new Attempts({ clock });
  const wrong = async () => undefined;
  const right = async () => true;
  const account = 'ada@example.org';
  const fail = async (client: string, times: number) => {
    for (let count = 0; count < times; count += 1) await attempts.attempt({ account, client }, wrong);
  };
  await fail('192.0.2.1', 10);
  await t.rejects(attempts.attempt({ account, client: '192.0.2.1' }, right), { code: 'too_many_failures' });
  t.equal(await attempts.attempt({ account, client: '192.0.2.2' }, right), true);
  for (let client = 3; client < 12; client += 1) await fail(`192.0.2.${client}`, 10);
  await t.rejects(attempts.attempt({ account, client: '192.0.2.99' }, right), { code: 'too_many_failures' });
  t.equal(await attempts.attempt({ account: 'eve@example.org', client: '192.0.2.99' }, right), true);
  clock.set('2026-11-23T10:15:00Z');
  t.equal(await attempts.attempt({ account, client: '192.0.2.1' }, right), true);
});

t.test('a password that is changed while it is checked opens no session', async (t) => {
  const { port, member, accounts, installation } = await peopled(t);
  const verify = installation.accounts.verifyPassword.bind(installation.accounts);
  t.intercept(installation.accounts, 'verifyPassword', {
    value: async (email: string, password: string) => {
      const found = await verify(email, password);
      await accounts.setPassword({ account: member, password: 'the next password' });
      return found;
    },
  });
  const client = new Client(port);
  t.equal((await client.signIn(member, PASSWORD)).status, 401);
  t.equal((await client.get('/dashboard')).status, 302);
});

t.test('a session does not outlive the time for which its account was disabled', async (t) => {
  const { port, member, accounts } = await peopled(t);
  const client = await signedIn(t, port, member);
  t.equal((await client.get('/dashboard')).status, 200);
  await accounts.disable({ account: member });
  await accounts.enable({ account: member });
  t.equal((await client.get('/dashboard')).status, 302);
});

t.test('checks of one account or client do not keep others waiting', async (t) => {
  const attempts = new Attempts();
  const checked = Promise.withResolvers<true>();
  const attempt = (account: string, client: string) =>
    attempts.attempt({ account, client }, () => checked.promise);
  const refused = { code: 'too_many_failures' };
  const waiting = Array.from({ length: 10 }, () => attempt('eve', '192.0.2.1'));
  await t.rejects(attempt('eve', '192.0.2.2'), refused);
  await t.rejects(attempt('ada', '192.0.2.1'), refused);
  waiting.push(attempt('ada', '192.0.2.2'));
  checked.resolve(true);
  t.same(
    await Promise.all(waiting),
    Array.from({ length: 11 }, () => true),
  );
});

t.test('a client that has signed in before has places and attempts of its own', async (t) => {
  const attempts = new Attempts();
  const checked = Promise.withResolvers<true>();
  const attempt = (account: string, client: string, device?: string) =>
    attempts.attempt({ account, client, device }, () => checked.promise);
  const refused = { code: 'too_many_failures' };
  const waiting = ['192.0.2.1', '192.0.2.2'].flatMap((client, number) =>
    Array.from({ length: 10 }, () => attempt(`eve${number}`, client)),
  );
  await t.rejects(attempt('ada', '192.0.2.3'), refused, 'all places are taken');
  const right = { account: 'ada', client: '192.0.2.1', device: 'one' };
  t.equal(await attempts.attempt(right, async () => true), true, 'it is checked at once');
  waiting.push(...Array.from({ length: 4 }, () => attempt('ada', '192.0.2.1', 'two')));
  await t.rejects(attempt('ada', '192.0.2.1', 'one'), refused, 'four of an account wait');
  waiting.push(attempt('bob', '192.0.2.1', 'three'));
  checked.resolve(true);
  await Promise.all(waiting);
  for (let count = 0; count < 10; count++) await attempts.attempt(right, async () => undefined);
  await t.rejects(
    attempts.attempt(right, async () => true),
    refused,
  );
  t.equal(await attempt('ada', '192.0.2.1'), true, 'its failures are not those of strangers');
});

t.test('addresses of one IPv6 network share attempts and places', async (t) => {
  const attempts = new Attempts();
  const refused = { code: 'too_many_failures' };
  /** Counts the attempts that are allowed, each from another /64. */
  const allowed = async (clientOf: (network: number) => string, accountOf: (count: number) => string) => {
    for (let count = 0; count < 200; count++) {
      const who = { account: accountOf(count), client: clientOf(count) };
      const error = await attempts.attempt(who, async () => undefined).catch((error: unknown) => error);
      if (error === undefined) continue;
      t.match(error, refused);
      return count;
    }
    return 'any number';
  };
  const in64 = (word: string) => (count: number) => `2001:db8:${word}::${count}`;
  const in56 = (word: string) => (count: number) => `2001:db8:${word}:${count.toString(16)}::1`;
  const in48 = (word: string) => (count: number) => `2001:db8:${word}:${(count * 256).toString(16)}::1`;
  const anyone = (count: number) => `eve${count}`;
  t.equal(await allowed(in64('1'), anyone), 30);
  t.equal(await allowed(in56('2'), anyone), 60);
  t.equal(await allowed(in48('3'), anyone), 120);
  t.equal(await allowed(in64('4'), () => 'ada'), 10);
  t.equal(await allowed(in56('5'), () => 'bob'), 20);
  t.equal(await allowed(in48('6'), () => 'cyd'), 40);

  const checked = Promise.withResolvers<true>();
  const places = Array.from({ length: 10 }, (_, count) =>
    attempts.attempt({ account: `eve${count}`, client: in48('7')(count) }, () => checked.promise),
  );
  await t.rejects(
    attempts.attempt({ account: 'dan', client: in48('7')(99) }, async () => true),
    refused,
  );
  checked.resolve(true);
  await Promise.all(places);
});

t.test('a right password does not hide wrong ones that are checked after it', async (t) => {
  const attempts = new Attempts();
  const who = { account: 'ada', client: '192.0.2.1' };
  const wrong = async () => undefined;
  for (let round = 0; round < 5; round++) {
    const right = attempts.attempt(who, async () => true);
    await Promise.all([right, attempts.attempt(who, wrong), attempts.attempt(who, wrong)]);
  }
  await t.rejects(
    (async () => {
      for (let count = 0; count < 9; count++) await attempts.attempt(who, wrong);
    })(),
    { code: 'too_many_failures' },
  );
});

t.test('an account has a limited number of keys', async (t) => {
  const { installation, member } = await peopled(t);
  const { keys } = installation.administration;
  const create = () => keys.create({ account: member, name: 'One' });
  const hundred = () => Promise.all(Array.from({ length: 100 }, create));
  const revoke = (made: { keyId: string }[]) => Promise.all(made.map(({ keyId }) => keys.revoke({ keyId })));
  let made = await hundred();
  await t.rejects(create(), { code: 'conflict', message: /has 100 keys\. Revoke one/ });
  await revoke(made);
  if (!isDeep) return;
  for (let count = 2; count <= 10; count++) {
    made = await hundred();
    await revoke(made);
  }
  await t.rejects(create(), { code: 'conflict', message: /has had 1000 keys/ });
});

t.test('events of others end with the role that showed them', async (t) => {
  const { admin, accounts, installation, service, idOf } = await peopled(t);
  const { place } = installation;
  const sessions = new Sessions({ store: place.sessionStore, accounts: installation.accounts });
  const live = new LiveEvents({ service, sessions });
  t.teardown(() => live.stop());
  const adminId = await idOf(admin);
  const viewer = (await sessions.find(await sessions.begin(adminId))) as Viewer;
  const stream = live.open(viewer).setEncoding('utf8');
  let text = '';
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  const other = await idOf('ada@example.org');
  const enqueue = async (owner: string) =>
    (await service.enqueue({ owner, className: 'A', code: 'x' })).jobId;
  const before = await enqueue(other);
  await accounts.setRole({ account: admin, role: 'member' });
  await live.beat();
  const after = await enqueue(other);
  await enqueue(adminId);
  while ((text.match(/event: job/g) ?? []).length < 2) await new Promise((next) => stream.once('data', next));
  t.match(text, before);
  t.notMatch(text, after);
});

t.test('one account opens a limited number of streams', async (t) => {
  const { member, installation, service, idOf } = await peopled(t);
  const sessions = new Sessions({ store: installation.place.sessionStore, accounts: installation.accounts });
  const live = new LiveEvents({ service, sessions });
  t.teardown(() => live.stop());
  const viewerOf = async (email: string) =>
    (await sessions.find(await sessions.begin(await idOf(email)))) as Viewer;
  const viewers = [await viewerOf(member), await viewerOf(member)];
  for (let count = 0; count < 100; count += 1) live.open(viewers[count % 2] as Viewer).resume();
  t.throws(() => live.open(viewers[0] as Viewer), /Too many pages/);
  live.open(await viewerOf('admin@example.org')).resume();
  t.equal(live.size, 101);
});

t.test('titles of shared videos are escaped', async (t) => {
  const appliance = await peopled(t);
  const { port, member, service, idOf } = appliance;
  const owner = await idOf(member);
  const client = await signedIn(t, port, member);
  for (const evil of [
    `"><script>alert(1)</script>`,
    `'><img src=x onerror=alert(1)>`,
    '</textarea></title><svg onload=alert(1)>',
    '&lt;script&gt;',
    '{name}`code`',
    '\u202ejavascript:alert(1)//',
  ]) {
    const jobId = await completedJob(appliance, { owner, title: evil });
    const { shareId } = await service.shares.create({
      ...{ owner, jobIds: [jobId, await completedJob(appliance, { owner, title: evil })] },
      ...{ title: evil, description: evil },
    });
    await service.shares.create({ owner, jobIds: [jobId], description: evil });
    const share = `/shares/${shareId}`;
    for (const path of [`/jobs/${jobId}`, '/shares', share, `${share}/revoke`, `${share}/remove`]) {
      const { status, text } = await client.get(`/dashboard${path}`);
      t.equal(status, 200, path);
      t.notMatch(text, /<script>alert|<img src=x|<svg onload/, path);
      t.ok(text.includes(escapeHtml(evil)), path);
    }
  }
});

t.test('no answer of the dashboard is kept or framed by others', async (t) => {
  const { port, member } = await peopled(t);
  const client = await signedIn(t, port, member);
  const answers = {
    'a redirection to the sign-in': await new Client(port).get('/dashboard/keys'),
    'an error': await client.get('/dashboard/nothing'),
    'a refusal': await client.get('/dashboard/accounts'),
    'a secret that is shown once': await client.submit('/dashboard/keys', { name: 'One', scopes: 'render' }),
  };
  for (const [name, { headers }] of Object.entries(answers)) {
    t.match(
      headers,
      {
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': /frame-ancestors 'none'/,
      },
      name,
    );
  }
});

t.test('a name in the Host header appears in no link', async (t) => {
  const appliance = await peopled(t);
  const { ask, idOf, admin, member, port, service } = appliance;
  const client = await signedIn(t, port, admin);
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  const from = await ask('/dashboard/account', { headers: { cookie } });
  const csrf = /name="csrf" value="([^"]+)"/.exec(from.text)?.[1] ?? '';
  const headers = {
    cookie,
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const body = new URLSearchParams({ csrf, name: 'One', scopes: 'render' }).toString();
  for (const path of [`/dashboard/accounts/${await idOf(member)}/invitation`, '/dashboard/keys']) {
    const posted = await ask(path, { method: 'POST', headers, body });
    t.equal(posted.status, 303);
    const told = /^scenepress_told=[^;]+/.exec(String(posted.headers['set-cookie']))?.[0];
    const shown = await ask(String(posted.headers.location), {
      headers: { ...headers, cookie: `${cookie}; ${told}` },
    });
    t.match([shown.status, shown.text], [200, /shown only once|Send it only to/]);
    t.notMatch(JSON.stringify(posted.headers) + shown.text, 'evil.example');
  }
  const jobId = await completedJob(appliance, { owner: await idOf(admin) });
  const { shareId } = await service.shares.create({ owner: await idOf(admin), jobIds: [jobId] });
  for (const path of [`/dashboard/jobs/${jobId}`, `/dashboard/shares/${shareId}`]) {
    const { text } = await ask(path, { headers });
    t.match(text, '/embed/');
    t.notMatch(text, 'evil.example', path);
  }
  const away = await ask('/dashboard', { headers: { host: 'evil.example' } });
  t.equal(away.headers.location, '/dashboard/sign-in');
});
