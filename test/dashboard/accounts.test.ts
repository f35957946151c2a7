import t, { type Test } from 'tap';
import { SetupLink } from '../../appliance/admin/setup-link.ts';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { PASSWORD, peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

async function administrator(t: Test, options: Parameters<typeof peopledAppliance>[1] = {}) {
  const appliance = await peopledAppliance(t, options);
  const client = await signedIn(t, appliance.port, appliance.admin);
  const { administration } = appliance.installation;
  const userIdOf = async (account: string) => (await administration.accounts.show({ account })).userId;
  return { ...appliance, administration, client, userIdOf };
}

function pathOf(link: string): string {
  return link.slice(link.indexOf('/dashboard'));
}

/** Opens an invitation and chooses a password. */
async function accept(port: number, link: string, password: string) {
  const client = new Client(port);
  const from = pathOf(link);
  const opened = await client.get(from);
  if (opened.status !== 200) return { client, status: opened.status };
  const token = new URL(link).searchParams.get('token') ?? '';
  // The address is not the guest's to choose.
  const answer = await client.post(
    '/dashboard/set-up',
    { token, email: 'eve@example.org', password },
    { from },
  );
  return { client, status: answer.status };
}

function linkIn(page: string): string {
  return (/<code id="invitation">([^<]+)</.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');
}

t.test('an invited person does not become an administrator, even in the only account', async (t) => {
  const { port, installation } = await listeningAppliance(t);
  const { accounts } = installation.administration;
  const { accounts: all } = await accounts.list();
  t.equal(all.length, 1);
  const account = all[0]?.email ?? '';
  const guest = await accept(port, (await accounts.invite({ account })).url, PASSWORD);
  t.equal(guest.status, 303);
  t.match(await accounts.show({ account }), { role: 'member', hasPassword: true });
});

t.test('an invitation expires after seven days, and says so', async (t) => {
  const { client, port, installation, member, userIdOf } = await administrator(t);
  const { accounts, masterKeys } = installation;
  const shown = (await client.submit(`/dashboard/accounts/${await userIdOf(member)}/invitation`, {})).text;
  t.match(shown, /Valid until <time/);
  const account = await accounts.find(member);
  const clock = new FakeClock(new Date(Date.now() - 7 * 86_400_000 - 1000).toISOString());
  const links = new SetupLink({ accounts, masterKeys, publicUrl: () => 'http://service.invalid', clock });
  const linkMade = (agoMs: number) => {
    clock.set(new Date(Date.now() - agoMs).toISOString());
    return links.invitationTo(account).url;
  };
  const [old, last] = [linkMade(7 * 86_400_000 + 1000), linkMade(7 * 86_400_000 - 60_000)];
  const page = await new Client(port).get(pathOf(old));
  t.equal(page.status, 410);
  t.match(page.text, /has expired.*valid for 7 days.*Ask an administrator/s);
  const fields = { token: new URL(old).searchParams.get('token') ?? '', password: PASSWORD };
  t.equal((await new Client(port).post('/dashboard/set-up', fields, { from: pathOf(last) })).status, 410);
  const [, expiry = ''] = fields.token.split('.');
  const forged = old.replace(expiry, String(Date.now() + 86_400_000));
  t.equal((await new Client(port).get(pathOf(forged))).status, 404, 'its expiry is signed');
  t.equal((await accept(port, last, PASSWORD)).status, 303);
});

t.test('an invitation sets the password of its account once', async (t) => {
  const { client, port, administration } = await administrator(t);
  const created = await client.post('/dashboard/accounts', { email: 'grace@example.org' });
  t.equal(created.status, 303);
  const path = String(created.headers.location).replace(/\?.*/, '');
  const newLink = async () => linkIn((await client.submit(`${path}/invitation`, {})).text);
  const link = await newLink();
  t.equal((await accept(port, link, 'short')).status, 400);
  const guest = await accept(port, link, PASSWORD);
  t.equal(guest.status, 303);
  t.match(await administration.accounts.show({ account: 'grace@example.org' }), {
    role: 'member',
    hasPassword: true,
  });
  t.equal((await guest.client.get('/dashboard')).status, 200);
  t.equal((await guest.client.get('/dashboard/accounts')).status, 403);
  t.equal((await accept(port, link, 'another password')).status, 404);

  const again = await newLink();
  t.not(again, link, 'a forgotten password is replaced with another link');
  t.equal(
    (
      await accept(
        port,
        again.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        PASSWORD,
      )
    ).status,
    404,
  );
  t.equal((await accept(port, again, 'another password')).status, 303);
  t.equal((await guest.client.get('/dashboard')).status, 302, 'which ends the sessions');
});

t.test('an address is used once', async (t) => {
  const { client, admin } = await administrator(t);
  const taken = await client.post('/dashboard/accounts', { email: admin });
  t.match([taken.status, taken.text], [400, `An account with the address ${admin} already exists.`]);
});

t.test('a form that is sent twice adds credits once', async (t) => {
  const { client, member, administration, userIdOf } = await administrator(t);
  const path = `/dashboard/accounts/${await userIdOf(member)}`;
  const once = /name="once" value="([^"]+)"/.exec((await client.get(path)).text)?.[1] ?? '';
  for (const _ of [1, 2]) t.equal((await client.post(`${path}/grant`, { paid: '500', once })).status, 303);
  t.match(await administration.credits.balance({ account: member }), { paid: 500 });
  for (const paid of ['0', '-5', '1.5', 'many', '', '1000000000001', '9'.repeat(20)]) {
    const refused = await client.post(`${path}/grant`, { paid, once: `${once}${paid}` });
    t.match(
      [refused.status, refused.text],
      [400, 'Credits must be a whole number from 1 to 1,000,000,000,000.'],
      paid,
    );
  }
});

t.test('accounts are disabled, enabled, promoted and deleted, but never one’s own', async (t) => {
  const { client, port, admin, member, administration, installation, service, userIdOf } =
    await administrator(t);
  const userId = await userIdOf(member);
  const path = `/dashboard/accounts/${userId}`;
  const former = await signedIn(t, port, member);
  const { jobId } = await service.enqueue({ owner: userId, className: 'A', code: 'x' });
  await client.post(`${path}/disable`, { cancelJobs: 'on' });
  t.equal((await former.get('/dashboard')).status, 302);
  t.match(await service.get(jobId), { error: 'Canceled' });
  await client.post(`${path}/enable`, {});
  t.equal((await former.get('/dashboard')).status, 302, 'it has to sign in again');
  const theirs = await signedIn(t, port, member);
  await client.post(`${path}/role`, { role: 'admin' });
  t.equal((await theirs.get('/dashboard/accounts')).status, 200, 'from the next page on');
  t.equal((await client.post(`${path}/role`, { role: 'owner' })).status, 400);

  const own = `/dashboard/accounts/${await userIdOf(admin)}`;
  for (const name of ['disable', 'role', 'delete']) {
    const refused = await client.post(`${own}/${name}`, { role: 'member' });
    t.match(refused.text, 'Another administrator has to do this with your account.', name);
  }
  t.match(await administration.accounts.show({ account: admin }), { role: 'admin', disabledAt: null });

  t.equal((await client.post(`${path}/delete`, {})).status, 303);
  t.equal((await theirs.get('/dashboard')).status, 302);
  t.equal((await client.get(path)).status, 404);
  const acts = await installation.place.actStore.listActs({ actor: userId, limit: 10 });
  t.ok(acts.length > 0);
  t.ok(
    acts.every(({ address }) => address === null),
    'so are the addresses of its clients',
  );
  const record = (await client.get('/dashboard/acts')).text;
  for (const action of [
    'accounts.disable',
    'accounts.enable',
    'accounts.setRole',
    'accounts.delete',
    'sign-in',
  ]) {
    t.match(record, `title="${action}"`);
  }
  t.notMatch(record, member, 'the address of the deleted account is forgotten');
});

t.test('an account has a limit of waiting jobs of its own', async (t) => {
  const { client, member, administration, userIdOf, service, installation, dataDir } = await administrator(t);
  const owner = await userIdOf(member);
  const path = `/dashboard/accounts/${owner}`;
  await service.pauseQueue();
  t.equal((await client.post(`${path}/limits`, { maxQueued: '2' })).status, 303);
  t.match((await client.get(path)).text, 'name="maxQueued" min="1" step="1" value="2"');
  const enqueue = (of: string) => service.enqueue({ owner: of, className: 'A', code: 'x' });
  for (const _ of [1, 2]) await enqueue(owner);
  await t.rejects(enqueue(owner), { code: 'queue_full' });
  await enqueue(await userIdOf('ada@example.org'));
  for (const maxQueued of ['0', '-1', '1.5', 'many']) {
    const refused = await client.post(`${path}/limits`, { maxQueued });
    t.match([refused.status, refused.text], [400, 'A limit is a whole number of at least 1.'], maxQueued);
  }
  t.equal((await client.post(`${path}/limits`, { maxQueued: '' })).status, 303);
  await enqueue(owner);

  const set = (limit: string) =>
    scenepress(['account', 'set-limits', member, '--max-waiting', limit, '--data-dir', dataDir]);
  t.match(await set('3'), {
    code: 0,
    stdout: /: 3 jobs may wait; its files may take as much as those of any/,
  });
  t.match(await administration.accounts.show({ account: member }), { maxQueued: 3 });
  t.match(await set('none'), { code: 1, stderr: 'A limit is a whole number of at least 1.' });
  t.match(await set('default'), { code: 0, stdout: /: as many as of any account may wait/ });
  const files = await scenepress([
    'account',
    'set-limits',
    member,
    '--max-files-mb',
    '1',
    '--data-dir',
    dataDir,
  ]);
  t.match(files, { code: 0, stdout: /its files may take 1 MiB/ });
  t.match(await installation.service.files.usage(owner), { mostBytes: 1024 ** 2, mostFiles: 5_000 });
  const scenes = await scenepress([
    'account',
    'set-limits',
    member,
    '--max-scenes',
    '2',
    '--data-dir',
    dataDir,
  ]);
  t.match(scenes, { code: 0, stdout: /its files may take 1 MiB; it may have 2 scenes/ });
  t.match(await client.submit(`${path}/limits`, { maxQueued: '', maxFilesMb: '', maxScenes: '1' }), {
    text: /name="maxScenes" min="1" step="1" value="1"/,
  });
  t.match(await administration.scenes.usage({ account: member }), { mostScenes: 1 });
  const newScene = () => installation.service.scenes.create({ owner, name: 'A' });
  await newScene();
  await t.rejects(newScene(), { code: 'too_much_stored', message: /has 1 scenes, which is the limit/ });
  await administration.accounts.setLimits({ account: member, maxScenes: null });
  await newScene();
  await administration.accounts.setLimits({ account: member, maxFilesMb: 1 });
  t.match(await scenepress(['account', 'set-limits', member, '--data-dir', dataDir]), {
    code: 2,
    stderr: /Name a limit/,
  });
  const [act] = await installation.place.actStore.listActs({ limit: 1 });
  t.match(act, { action: 'accounts.setLimits', actor: null, subject: owner });
});

t.test('an account is linked to a person at an issuer', async (t) => {
  const issuer = 'https://id.example.org';
  const { client, member, administration, userIdOf, port } = await administrator(t, {
    oidcIssuer: issuer,
  });
  const path = `/dashboard/accounts/${await userIdOf(member)}`;
  t.match((await client.get(path)).text, `name="issuer" value="${issuer}"`);
  const link = (subject: string) => client.post(`${path}/identity`, { issuer, subject });
  t.equal((await link(' ada ')).status, 303);
  t.match((await client.get(path)).text, 'name="subject" value="ada"');
  t.match(await administration.accounts.show({ account: member }), { identity: { issuer, subject: 'ada' } });
  const other = `/dashboard/accounts/${await userIdOf('ada@example.org')}/identity`;
  const refused = await client.post(other, { issuer, subject: 'ada' });
  t.match([refused.status, refused.text], [400, 'Another account is linked to this subject of the issuer.']);
  t.match((await client.post(other, { issuer: 'id', subject: 'x' })).text, 'An issuer is named by its URL.');
  t.equal((await link('')).status, 303);
  t.match(await administration.accounts.show({ account: member }), { identity: null });
  const theirs = await signedIn(t, port, member);
  t.equal((await theirs.post(`${path}/identity`, { issuer, subject: 'eve' })).status, 403);
});

t.test('accounts are searched, and listed in pages', async (t) => {
  const { client, administration } = await administrator(t);
  for (let number = 10; number < 70; number += 1)
    await administration.accounts.create({ email: `p${number}@example.org` });
  const emailsIn = (text: string) =>
    [...text.matchAll(/accounts\/acct_\w+">([^<]+)</g)].map(([, email]) => email);
  const first = (await client.get('/dashboard/accounts')).text;
  t.match(first, '<h2>Accounts</h2>', 'their number is shown only when all are');
  t.equal(emailsIn(first).length, 50);
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
  const second = (await client.get(next.replaceAll('&amp;', '&'))).text;
  t.equal(new Set([...emailsIn(first), ...emailsIn(second)]).size, 63);
  t.notMatch(second, 'rel="next"');
  const found = (await client.get('/dashboard/accounts?q=P1')).text;
  t.equal(emailsIn(found).length, 10);
  t.match(found, '<h2>10 accounts</h2>');
  t.match((await client.get('/dashboard/accounts?q=nobody')).text, 'No e-mail address contains this text.');
});
