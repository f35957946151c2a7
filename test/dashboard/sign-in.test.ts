import t from 'tap';
import { SESSION_MS, Sessions } from '../../appliance/dashboard/sign-in/sessions.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { PASSWORD, peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

const SESSION = 'scenepress_session';
const DEVICE = 'scenepress_device';

t.test('signing in and out', async (t) => {
  const { port, member, installation } = await peopledAppliance(t);
  const client = new Client(port);
  const turnedAway = await client.get('/dashboard/jobs?status=failed');
  t.equal(turnedAway.status, 302);
  t.equal(turnedAway.headers.location, '/dashboard/sign-in?next=%2Fdashboard%2Fjobs%3Fstatus%3Dfailed');
  t.equal((await client.signIn(member, 'a wrong password')).status, 401);
  t.equal((await client.signIn('nobody@example.org')).status, 401);
  const next = '/dashboard/jobs?status=failed';
  const fields = { email: 'MEMBER@example.org', password: 'a password for tests', next };
  const answer = await client.post('/dashboard/sign-in', fields, { from: '/dashboard/sign-in' });
  t.match([answer.status, answer.headers.location], [303, next]);
  t.match(
    client.setCookies.join('\n'),
    /^scenepress_session=[^;]+; Max-Age=31536000; Expires=[^;]+; HttpOnly; SameSite=Lax; Path=\/dashboard$/m,
  );
  t.match(
    client.setCookies.join('\n'),
    /^scenepress_device=[^;]+; Max-Age=31536000; Expires=[^;]+; HttpOnly; SameSite=Lax; Path=\/dashboard$/m,
  );
  t.equal((await client.get('/dashboard')).status, 200);

  const token = client.cookies.get(SESSION) ?? '';
  t.equal((await client.post('/dashboard/sign-out', {})).status, 303);
  t.notOk(client.cookies.has(SESSION));
  client.cookies.set(SESSION, token);
  t.equal((await client.get('/dashboard')).status, 302, 'the session is over, not only its cookie');
  const acts = await installation.place.actStore.listActs({ limit: 10 });
  t.same(
    acts.map(({ action, address }) => [action, address]),
    [
      ['sign-in', '127.0.0.1'],
      ['sign-in.failed', '127.0.0.1'],
    ],
    'failures are recorded for known accounts only',
  );
});

t.test('signing in returns to pages of the dashboard only', async (t) => {
  const { port, member } = await peopledAppliance(t);
  for (const next of ['https://evil.example', '//evil.example', '/dashboardx', '/api/v2/me']) {
    const client = new Client(port);
    const fields = { email: member, password: 'a password for tests', next };
    const { headers } = await client.post('/dashboard/sign-in', fields, { from: '/dashboard/sign-in' });
    t.equal(headers.location, '/dashboard', next);
  }
});

t.test('cookies are secure exactly when the public URL is https', async (t) => {
  const { port, member } = await peopledAppliance(t, { publicUrl: 'https://render.example.org' });
  const client = await signedIn(t, port, member);
  for (const name of [SESSION, DEVICE]) {
    t.match(client.setCookies.join('\n'), new RegExp(`^${name}=.* Secure;`, 'm'));
  }
});

t.test('a cookie with another signature, or whose session is unknown, is ignored', async (t) => {
  const { port, member } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const cookie = client.cookies.get(SESSION) ?? '';
  const [token = ''] = cookie.split('.');
  for (const forged of [token, `${token}.`, cookie.slice(0, -3), `A${cookie.slice(1)}`, 'x', '%zz', '"']) {
    client.cookies.set(SESSION, forged);
    t.equal((await client.get('/dashboard')).status, 302, forged);
  }
});

t.test('forms of other sites and of other sessions change nothing', async (t) => {
  const { port, admin, member, installation } = await peopledAppliance(t);
  const [one, other] = [await signedIn(t, port, member), await signedIn(t, port, admin)];
  const csrf = /name="csrf" value="([^"]+)"/.exec((await other.get('/dashboard/account')).text)?.[1] ?? '';
  const fields = [{}, { csrf: '' }, { csrf }, { csrf: 'x' }];
  for (const given of fields as Record<string, string>[]) {
    t.equal((await one.postAsIs('/dashboard/keys', { name: 'Forged', ...given })).status, 403);
    t.equal((await new Client(port).postAsIs('/dashboard/sign-in', { email: member, ...given })).status, 403);
  }
  t.same((await installation.administration.keys.list({ account: member })).keys, []);
});

t.test('failed attempts are limited by account and by client', async (t) => {
  const { port, admin, member } = await peopledAppliance(t);
  const client = new Client(port);
  for (let count = 0; count < 10; count += 1) {
    t.equal((await client.signIn(member, 'wrong')).status, 401);
  }
  const refused = await client.signIn(member);
  t.equal(refused.status, 429, 'even with the right password');
  t.match(refused.text, 'Try again in 15 min');
  t.equal((await client.signIn(admin)).status, 303, 'another account is not affected');
  const others = Array.from({ length: 20 }, (_, number) => `eve${number}@example.org`);
  for (const email of others) t.equal((await new Client(port).signIn(email, 'wrong')).status, 401);
  t.equal((await new Client(port).signIn('new@example.org', 'wrong')).status, 429);
});

t.test('failures of others refuse no browser in which a person has signed in before', async (t) => {
  const { port, ask, admin, member, installation } = await peopledAppliance(t, { trustProxy: true });
  const { accounts } = installation.administration;
  const known = await signedIn(t, port, member);
  await known.post('/dashboard/sign-out', {});
  const second = await signedIn(t, port, member);
  await second.post('/dashboard/sign-out', {});
  const ofAnother = await signedIn(t, port, admin);
  await ofAnother.post('/dashboard/sign-out', {});
  const page = await ask('/dashboard/sign-in');
  const [cookie = ''] = (page.headers['set-cookie']?.[0] ?? '').split(';');
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, email: member, password: 'wrong' }).toString();
  for (let count = 0; count < 100; count += 1) {
    const forwarded = `192.0.2.${count % 10}`;
    const type = 'application/x-www-form-urlencoded';
    const headers = { cookie, 'content-type': type, 'x-forwarded-for': forwarded };
    t.equal((await ask('/dashboard/sign-in', { method: 'POST', headers, body })).status, 401);
  }
  t.equal((await new Client(port).signIn(member)).status, 429, 'strangers are refused');
  t.equal((await ofAnother.signIn(member)).status, 429, 'and so is a browser of another account');
  const forged = new Client(port);
  forged.cookies.set(DEVICE, `A${known.cookies.get(DEVICE)?.slice(1)}`);
  t.equal((await forged.signIn(member)).status, 429);
  t.equal((await known.signIn(member)).status, 303);
  await known.post('/dashboard/sign-out', {});
  for (let count = 0; count < 10; count += 1) t.equal((await known.signIn(member, 'wrong')).status, 401);
  t.equal((await known.signIn(member)).status, 429, 'it has ten attempts of its own');
  await accounts.setPassword({ account: member, password: PASSWORD });
  t.equal((await second.signIn(member)).status, 429, 'a new password makes it a stranger');
});

t.test('signing out everywhere, a new password and a disabled account end all sessions', async (t) => {
  const { port, member, installation } = await peopledAppliance(t);
  const { accounts } = installation.administration;
  const both = async () => [await signedIn(t, port, member), await signedIn(t, port, member)] as const;
  const statuses = async (clients: readonly Client[]) =>
    Promise.all(clients.map(async (client) => (await client.get('/dashboard')).status));

  const first = await both();
  t.equal((await first[0].post('/dashboard/account/sign-out-everywhere', {})).status, 303);
  t.same(await statuses(first), [302, 302]);

  const second = await both();
  const change = (current: string) =>
    second[0].post('/dashboard/account/password', { current, password: 'another password' });
  t.equal((await change('a wrong one')).status, 400);
  t.equal((await change('a password for tests')).status, 303);
  t.same(await statuses(second), [200, 302], 'who changes the password stays signed in');
  await accounts.setPassword({ account: member, password: 'a password for tests' });
  t.same(await statuses(second), [302, 302]);

  const third = await both();
  await accounts.disable({ account: member });
  t.same(await statuses(third), [302, 302]);
  t.equal((await new Client(port).signIn(member)).status, 401);
});

t.test('a stolen session cannot be used to guess the password', async (t) => {
  const { port, member } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const change = async (current: string) => {
    const answer = await client.post('/dashboard/account/password', {
      current,
      password: 'another password',
    });
    return answer.status;
  };
  for (let count = 0; count < 10; count += 1) t.equal(await change(`guess ${count}`), 400);
  t.equal(await change('a password for tests'), 429);
});

t.test('a session ends seven days after its last use', async (t) => {
  const { installation, member } = await peopledAppliance(t);
  const { place, accounts } = installation;
  const { accountId } = await accounts.find(member);
  const clock = new FakeClock('2026-11-23T10:00:00Z');
  const sessions = new Sessions({ store: place.sessionStore, accounts, clock });
  const token = await sessions.begin(accountId);
  const later = (ms: number) => clock.set(new Date(clock.now() + ms).toISOString());
  for (let count = 0; count < 3; count += 1) {
    later(SESSION_MS - 1000);
    t.match(await sessions.find(token), { accountId, email: member, role: 'member' });
  }
  later(SESSION_MS);
  t.equal(await sessions.find(token), undefined);
});
