import t from 'tap';
import { browserOf } from '../../appliance/dashboard/sign-in/browser.ts';
import { PASSWORD, peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';

t.test('the kinds of browsers are read from user agents', async (t) => {
  const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, expected] of [
    [FIREFOX, 'Firefox/Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/131.0.0.0 Safari/537.36`, 'Chrome/Windows'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webKit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`, 'Edge/Windows'],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Version/18.1 Safari/605.1.15`,
      'Safari/macOS',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webKit} Version/18.1 Safari/604.1`,
      'Safari/iPhone',
    ],
    [`Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/131.0.0.0 Mobile Safari/537.36`, 'Chrome/Android'],
    [`Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) ${webKit} CriOS/131.0 Safari/604.1`, 'Chrome/iPad'],
    ['curl/8.5.0', null],
    ['', null],
    ['<script>alert(1)</script> Linux', '/Linux'],
  ] as const)
    t.equal(browserOf(agent), expected, agent);
});

t.test('the new session is told that the password was changed', async (t) => {
  const { port, member } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const fields = { current: PASSWORD, password: 'another password' };
  const changed = await client.submit('/dashboard/account/password', fields);
  t.match(changed.text, 'The password was changed. Other browsers are signed out.');
});

t.test('the page of the account lists its sessions and ends each of them', async (t) => {
  const { port, admin, member, installation } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const other = new Client(port);
  other.headers['user-agent'] = FIREFOX;
  t.equal((await other.signIn(member)).status, 303);
  const third = await signedIn(t, port, member);
  const foreign = await signedIn(t, port, admin);
  const idsIn = (text: string) => [...text.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id);
  const rowOf = (text: string, part: string) =>
    text.split('<tr>').find((row) => row.includes(part) && row.includes('name="session"')) ?? '';
  const page = (await client.get('/dashboard/account')).text;
  t.equal(idsIn(page).length, 3);
  t.match(rowOf(page, 'Firefox on Linux'), '127.0.0.1');
  t.match(rowOf(page, 'this browser'), 'Unknown browser');
  const [firefox = ''] = idsIn(rowOf(page, 'Firefox on Linux'));
  const end = (by: Client, session: string) => by.post('/dashboard/account/sign-out-session', { session });

  await end(foreign, firefox);
  t.equal((await other.get('/dashboard')).status, 200, 'only its account ends it');
  for (const unknown of ['', 'x', '%']) await end(client, unknown);
  t.equal((await other.get('/dashboard')).status, 200);
  t.match((await end(client, firefox)).headers.location, '/dashboard/account');
  t.equal((await other.get('/dashboard')).status, 302);
  t.equal((await third.get('/dashboard')).status, 200);

  t.match(
    (await client.submit('/dashboard/account/sign-out-others', {})).text,
    'All other browsers are signed out.',
  );
  t.equal((await third.get('/dashboard')).status, 302);
  t.equal((await foreign.get('/dashboard')).status, 200);
  const [own = '', ...none] = idsIn((await client.get('/dashboard/account')).text);
  t.same(none, []);
  t.match((await end(client, own)).headers.location, '/dashboard/sign-in');
  t.equal((await client.get('/dashboard')).status, 302);
  const { accountId } = await installation.accounts.find(member);
  const acts = await installation.place.actStore.listActs({ actor: accountId, limit: 2 });
  t.same(
    acts.map(({ action }) => action),
    ['sign-out.others', 'sign-out.session'],
  );
});
