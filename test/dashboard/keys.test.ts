import t from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const CHECKED = /<input type="checkbox" name="scopes" value="(\w+)" checked>/g;

t.test('the form for a key offers its scopes and an expiry date', async (t) => {
  const { port, member, installation } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const checkedIn = (text: string) => Array.from(text.matchAll(CHECKED), ([, scope]) => scope);
  const { text: form } = await client.get('/dashboard/keys/new');
  t.same(checkedIn(form), ['render', 'check', 'read'], 'all are chosen at first');
  t.match(form, '<input name="expires" type="date"');

  const fields = { name: 'Site', scopes: ['check', 'read'], expires: '9000-01-31' };
  const page = (await client.submit('/dashboard/keys', fields)).text;
  t.match(page, '<dt>Scopes</dt><dd>check, read</dd>');
  t.notMatch(page, 'Render a first scene', 'it may not');
  t.match(page, /<dt>Expires<\/dt><dd><time datetime="9000-01-31T23:59:59\.999Z"/);
  const { keys } = await installation.administration.keys.list({ account: member });
  t.match(keys, [{ name: 'Site', scopes: ['check', 'read'], expiresAt: '9000-01-31T23:59:59.999Z' }]);
  const list = (await client.get('/dashboard/keys')).text;
  t.match(list, '<td data-label="Scopes">check, read</td>');
  t.match(list, />Live<\/span><div class="faint">until <time datetime="9000-01-31T23:59:59\.999Z"/);

  const forever = { name: 'Forever', scopes: ['render', 'check', 'read'], expires: '' };
  t.match((await client.submit('/dashboard/keys', forever)).text, '<dt>Expires</dt><dd>never</dd>');
});

t.test('mistakes in the form for a key are told, and the input is kept', async (t) => {
  const { port, admin, installation } = await peopledAppliance(t);
  const client = await signedIn(t, port, admin);
  const past = await client.post('/dashboard/keys', { name: 'Site', scopes: 'read', expires: '2020-01-31' });
  t.match([past.status, past.text], [400, 'A key expires at the end of a day that is not past']);
  t.match(past.text, 'value="2020-01-31"');
  t.same(
    Array.from(past.text.matchAll(CHECKED), ([, scope]) => scope),
    ['read'],
  );
  const useless = await client.post('/dashboard/keys', { name: 'Site', expires: '9000-01-31' });
  t.match(
    [useless.status, useless.text],
    [400, 'A key needs at least one of the scopes render, check, read'],
  );
  t.same(Array.from(useless.text.matchAll(CHECKED)), []);
  t.match(useless.text, 'value="9000-01-31"');
  t.same((await installation.administration.keys.list({ account: admin })).keys, []);
});

t.test('an administrator sees the limits of keys, and which have expired', async (t) => {
  const { port, admin, member, installation } = await peopledAppliance(t);
  const account = member;
  const { keyId } = await installation.administration.keys.create({ account, name: 'Old', scopes: ['read'] });
  await installation.place.keyStore.changeKey(keyId, (key) => ({ ...key, expiresAtMs: Date.now() - 1000 }));
  await installation.administration.keys.create({ account, name: 'New' });
  const client = await signedIn(t, port, admin);
  const list = (await client.get(`/dashboard/keys?account=${member}`)).text;
  t.match(list, /New<\/a>[\s\S]*>Live<[\s\S]*Old<\/a>[\s\S]*>Expired</, 'live ones first');
  const page = (await client.get(`/dashboard/keys/${keyId}`)).text;
  t.match(page, /<dt>State<\/dt><dd><span class="tag">Expired<\/span><\/dd>/);
  t.match(page, '<dt>Scopes</dt><dd>read</dd>');
});
