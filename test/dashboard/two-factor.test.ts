import t, { type Test } from 'tap';
import { SECOND_STEP_MS, SecondStep } from '../../appliance/dashboard/sign-in/second-step.ts';
import { stepAt, totpOf } from '../../lib/accounts/totp.ts';
import { scenepress } from '../appliance/command.ts';
import { deepTest } from '../fixtures/depth.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { PASSWORD, peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

const CODE_PAGE = '/dashboard/sign-in/code';
const PAGE = '/dashboard/account/two-factor';

const inPage = (text: string, pattern: RegExp) => pattern.exec(text)?.[1] ?? '';

/** A member who has turned it on, with the codes of the app. */
async function turnedOn(t: Test) {
  const appliance = await peopledAppliance(t);
  const { port, member, installation } = appliance;
  const client = await signedIn(t, port, member);
  const page = (await client.get(PAGE)).text;
  const secret = inPage(page, /<code id="secret">([A-Z2-7]+)</);
  const offer = inPage(page, /name="offer" value="([^"]+)"/);
  /** Of a step from the current one; the first one turns it on. */
  const codeAt = (steps: number) => totpOf(secret, stepAt(Date.now()) + steps);
  const turnOn = (fields: Record<string, string>) =>
    client.submit(PAGE, { offer, password: PASSWORD, ...fields });
  const { accountId } = await installation.accounts.find(member);
  /** Accepts the codes of all steps again. */
  const forgetSteps = () =>
    installation.place.accountStore.changeAccount(accountId, (one) => ({ ...one, totpStep: 1 }));
  const acts = async () => {
    await installation.acts.flush();
    return (await installation.place.actStore.listActs({ actor: accountId, limit: 20 })).map(
      ({ action }) => action,
    );
  };
  return { ...appliance, client, page, secret, offer, codeAt, turnOn, accountId, forgetSteps, acts };
}

/** With the right password. */
async function halfSignedIn(t: Test, port: number, email: string, next = ''): Promise<Client> {
  const client = new Client(port);
  const from = '/dashboard/sign-in';
  const answer = await client.post(from, { email, password: PASSWORD, next }, { from });
  t.match([answer.status, answer.headers.location], [303, CODE_PAGE]);
  return client;
}

const give = (client: Client, code: string, fields: Record<string, string> = {}) =>
  client.post(CODE_PAGE, { code, ...fields }, { from: CODE_PAGE });

t.test('it is set up with a code of the app and used from the next sign-in on', async (t) => {
  const { port, member, client, page, secret, codeAt, turnOn, forgetSteps, acts } = await turnedOn(t);
  t.match(page, /<svg class="qr"[^>]*>.*<path transform="scale\([\d.]+\)" d="M4 4h1v1h-1z/);
  t.notMatch(page, ' style=');
  const other = await signedIn(t, port, member);
  t.match(await turnOn({ code: codeAt(3) }), { status: 400, text: /The code is wrong/ });
  t.match((await turnOn({ code: 'x' })).text, secret, 'the app has this secret by now');
  t.match(await turnOn({ code: codeAt(0), password: 'wrong' }), { status: 400, text: /password is wrong/ });
  t.equal((await new Client(port).signIn(member)).headers.location, '/dashboard', 'it is still off');

  const code = codeAt(0);
  const shown = (await turnOn({ code })).text;
  const codes = inPage(shown, /id="recovery-codes">([^<]+)</).split('\n');
  t.equal(codes.length, 10);
  t.match(shown, '10 recovery codes are left.');
  t.notMatch((await client.get(PAGE)).text, codes[0] as string, 'they are shown once');
  const file = await client.post(`${PAGE}/download`, { codes: codes.join(' ') });
  t.match(file.headers['content-disposition'], /^attachment; filename="scenepress-recovery-codes.txt"$/);
  t.equal(file.text, `Scenepress\n\n${codes.join('\n')}\n`);
  t.equal((await client.post(`${PAGE}/download`, { codes: '<script>' })).status, 400);
  t.equal((await other.get('/dashboard')).status, 302, 'other browsers are signed out');

  const next = '/dashboard/jobs?status=failed';
  const half = await halfSignedIn(t, port, member, next);
  t.match((await half.get(`${CODE_PAGE}?${new URLSearchParams({ next })}`)).text, `value="${next}"`);
  t.equal((await half.get('/dashboard')).status, 302, 'it is no session');
  t.equal((await give(half, code)).status, 401, 'the code turned it on, and works once');
  await forgetSteps();
  const whole = await give(half, codeAt(0), { next });
  t.match([whole.status, whole.headers.location], [303, next]);
  t.equal((await half.get('/dashboard/account')).status, 200);

  const away = await halfSignedIn(t, port, member);
  t.match((await away.get(`${CODE_PAGE}?with=recovery`)).text, 'Recovery code');
  const [first = ''] = codes;
  t.equal(
    (await give(away, first.toUpperCase(), { next: 'https://evil.example/' })).headers.location,
    '/dashboard',
  );
  const again = await give(await halfSignedIn(t, port, member), first, { with: 'recovery' });
  t.match([again.status, again.text], [401, /already used.*name="with" value="recovery"/s]);
  t.match((await away.get('/dashboard/account')).text, '9 recovery codes are left.');
  t.same(
    (await acts()).filter((act) => !/^sign-in(?: ×|$)/.test(act)),
    ['sign-in.wrongCode', 'sign-in.recoveryCode', 'sign-in.wrongCode', 'twoFactor.turnOn'],
  );
});

t.test('without the right password there is no second step', async (t) => {
  const { port, member, codeAt, turnOn, forgetSteps } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  await forgetSteps();
  const client = new Client(port);
  t.equal((await client.signIn(member, 'a wrong one')).status, 401);
  const refused = await give(client, codeAt(0));
  t.match([refused.status, refused.headers.location], [403, undefined], 'there is no form');
  t.match((await client.get(CODE_PAGE)).headers.location, '/dashboard/sign-in?ended=code');
  t.match((await client.get('/dashboard/sign-in?ended=code')).text, 'The code was not given in time.');
});

t.test(
  'the second step is of one browser, one account and five minutes, and no form without its token',
  async (t) => {
    const { port, admin, member, installation, turnOn, codeAt, forgetSteps } = await turnedOn(t);
    const { accounts } = installation;
    await turnOn({ code: codeAt(0) });
    await forgetSteps();
    const half = await halfSignedIn(t, port, member);
    t.equal((await half.postAsIs(CODE_PAGE, { code: codeAt(0) })).status, 403, 'sent by another site');
    const thief = new Client(port);
    thief.cookies.set('scenepress_second_step', half.cookies.get('scenepress_second_step') as string);
    const sent = await thief.post(CODE_PAGE, { code: codeAt(0) }, { from: '/dashboard/sign-in' });
    t.match(sent.headers.location, 'ended=code');
    for (const path of ['/dashboard', '/dashboard/account', '/dashboard/live'])
      t.equal((await half.get(path)).status, 302, path);
    const asSession = new Client(port);
    asSession.cookies.set('scenepress_session', half.cookies.get('scenepress_second_step') as string);
    t.equal((await asSession.get('/dashboard')).status, 302);

    const clock = new FakeClock('2026-11-29T10:00:00Z');
    const steps = new SecondStep({ signingKey: 'k', accounts, clock });
    const account = await accounts.find(member);
    const token = steps.tokenFor(account, 'form');
    t.match(await steps.find(token, 'form'), { accountId: account.accountId });
    const [, expiry = '', mac = ''] = token.split('.');
    for (const [given, csrf] of [
      [token, 'form of another browser'],
      [`${account.accountId}.${Number(expiry) + 1}.${mac}`, 'form'],
      [`${(await accounts.find(admin)).accountId}.${expiry}.${mac}`, 'form'],
      [`acct_x.${expiry}.${mac}`, 'form'],
      ['..', 'form'],
      [token.slice(0, -1), 'form'],
    ] as const)
      t.equal(await steps.find(given, csrf), undefined, given);
    t.equal(await new SecondStep({ signingKey: 'l', accounts, clock }).find(token, 'form'), undefined);
    clock.set(new Date(clock.now() + SECOND_STEP_MS - 1).toISOString());
    t.ok(await steps.find(token, 'form'));
    clock.set(new Date(clock.now() + 1).toISOString());
    t.equal(await steps.find(token, 'form'), undefined);

    const { administration } = installation;
    await administration.accounts.setPassword({ account: member, password: PASSWORD });
    t.match((await half.get(CODE_PAGE)).headers.location, 'ended=code', 'the password was changed');
    const last = await halfSignedIn(t, port, member);
    await administration.accounts.disable({ account: member });
    t.match((await last.get(CODE_PAGE)).headers.location, 'ended=code');
  },
);

t.test('wrong codes are limited, also when the right password is given between them', async (t) => {
  const { port, member, turnOn, codeAt, forgetSteps, acts } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  await forgetSteps();
  for (let round = 0; round < 5; round += 1) {
    const half = await halfSignedIn(t, port, member);
    for (const code of ['1', '2']) t.equal((await give(half, code)).status, 401);
  }
  const half = await halfSignedIn(t, port, member);
  t.match(await give(half, codeAt(0)), { status: 429, text: /Too many attempts/ });
  t.match(await acts(), ['sign-in.wrongCode ×9', 'sign-in.wrongCode']);
});

deepTest(t, 'one of several concurrent sign-ins with a code succeeds', async (t) => {
  const { port, member, turnOn, codeAt, forgetSteps } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  await forgetSteps();
  const halves = [];
  for (const _ of [1, 2, 3]) halves.push(await halfSignedIn(t, port, member));
  const code = codeAt(0);
  const answers = await Promise.all(halves.map((half) => give(half, code)));
  t.same(answers.map(({ status }) => status).sort(), [303, 401, 401]);
});

t.test('changes need the password and a code', async (t) => {
  const { port, member, client, turnOn, codeAt, forgetSteps, installation } = await turnedOn(t);
  const codesIn = (text: string) => inPage(text, /id="recovery-codes">([^<]+)</).split('\n');
  const [first = '', second = ''] = codesIn((await turnOn({ code: codeAt(0) })).text);
  await forgetSteps();
  for (const name of ['codes', 'off']) {
    for (const fields of [{}, { password: PASSWORD }, { code: first }, { password: 'wrong', code: first }]) {
      const refused = await client.post(`${PAGE}/${name}`, fields);
      t.match([refused.status, refused.text], [400, 'is wrong']);
    }
  }
  const renewed = codesIn((await client.submit(`${PAGE}/codes`, { password: PASSWORD, code: first })).text);
  t.equal(renewed.length, 10);
  t.match((await client.post(`${PAGE}/off`, { password: PASSWORD, code: second })).text, 'code is wrong');
  await forgetSteps();
  const other = await halfSignedIn(t, port, member);
  t.equal((await give(other, codeAt(0))).status, 303);
  const off = await client.submit(`${PAGE}/off`, { password: PASSWORD, code: renewed[0] as string });
  t.match(off.text, 'Two-factor sign-in is off.');
  t.equal((await other.get('/dashboard')).status, 302, 'other browsers are signed out');
  const { hasTwoFactor, recoveryCodes } = await installation.administration.accounts.show({
    account: member,
  });
  t.same([hasTwoFactor, recoveryCodes], [false, 0]);
  t.equal((await new Client(port).signIn(member)).headers.location, '/dashboard');
});

deepTest(t, 'a stolen session cannot be used to guess the password or a code', async (t) => {
  const { client, codeAt, turnOn } = await turnedOn(t);
  for (let count = 0; count < 10; count += 1)
    t.equal((await turnOn({ code: codeAt(0), password: `guess ${count}` })).status, 400);
  t.equal((await turnOn({ code: codeAt(0) })).status, 429);
  t.match((await client.get('/dashboard/account')).text, 'href="/dashboard/account/two-factor">Set up');
});

deepTest(t, 'an invitation replaces the password, not the second factor', async (t) => {
  const { port, member, installation, turnOn, codeAt, forgetSteps } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  await forgetSteps();
  const { url } = await installation.administration.accounts.invite({ account: member });
  const from = url.slice(url.indexOf('/dashboard'));
  const token = new URL(url).searchParams.get('token') ?? '';
  const client = new Client(port);
  const fields = { token, password: 'another password' };
  t.equal((await client.post('/dashboard/set-up', fields, { from })).headers.location, CODE_PAGE);
  t.equal((await client.get('/dashboard')).status, 302);
  t.equal((await give(client, codeAt(0))).status, 303);
  t.equal((await client.get('/dashboard')).status, 200);
});

t.test('administrators reset it for others, and the command line does', async (t) => {
  const {
    port,
    admin,
    member,
    client,
    installation,
    turnOn,
    codeAt,
    accountId,
    offer,
    dataDir,
    forgetSteps,
  } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  const boss = await signedIn(t, port, admin);
  const path = `/dashboard/accounts/${accountId}`;
  t.match((await boss.get(path)).text, `action="${path}/reset-two-factor"`);
  t.equal((await client.post(`${path}/reset-two-factor`, {})).status, 403);
  const { accountId: own } = await installation.accounts.find(admin);
  const refused = await boss.post(`/dashboard/accounts/${own}/reset-two-factor`, {});
  t.match(refused.text, 'Another administrator has to do this with your account.');
  t.match((await boss.submit(`${path}/reset-two-factor`, {})).text, 'Two-factor sign-in is off');
  t.equal((await client.get('/dashboard')).status, 302, 'it is signed out');
  const again = await signedIn(t, port, member);
  const [act] = await installation.place.actStore.listActs({ actor: own, limit: 1 });
  t.match(act, { action: 'twoFactor.reset', subject: accountId });

  const on = await again.post(PAGE, { offer, password: PASSWORD, code: codeAt(0) });
  t.equal(on.status, 303);
  await forgetSteps();
  const reset = await scenepress(['account', 'reset-two-factor', member, '--data-dir', dataDir]);
  t.match(reset, { code: 0, stdout: `${member} signs in with the password alone.` });
  t.match(await installation.administration.accounts.show({ account: member }), { hasTwoFactor: false });
});

deepTest(t, 'a new master key keeps it, and a deleted account leaves nothing of it', async (t) => {
  const { port, member, installation, turnOn, codeAt, accountId, forgetSteps } = await turnedOn(t);
  await turnOn({ code: codeAt(0) });
  const { administration, place, masterKeys } = installation;
  const sealed = async () => (await place.accountStore.getAccount(accountId))?.totpSecretSealed;
  const before = await sealed();
  await administration.data.rotateMasterKey({});
  t.not(await sealed(), before);
  t.ok(masterKeys.current.decrypts((await sealed()) as string));
  await forgetSteps();
  t.equal((await give(await halfSignedIn(t, port, member), codeAt(0))).status, 303);
  await administration.accounts.delete({ account: member });
  const left = await place.accountStore.getAccount(accountId);
  t.match(left, { email: '', totpSecretSealed: undefined, totpStep: undefined, recoveryHashes: undefined });
});
