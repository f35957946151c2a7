import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createFirstAccount } from '../../../appliance/admin/first-account.ts';
import { SetupLink } from '../../../appliance/admin/setup-link.ts';
import { type Installation, openInstallation } from '../../../appliance/app/installation.ts';
import { loadConfig } from '../../../appliance/config/config.ts';
import { claimForAdministrator } from '../../../appliance/first-start/first-administrator.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const BOSS = 'boss@example.org';
const TEACHER = 'teacher@example.org';
const CONFIG = { adminEmail: BOSS, adminPassword: 'a password for tests' };

async function open(t: Test): Promise<Installation> {
  const config = loadConfig({ flags: { dataDir: await temporaryFolder(t) }, env: {} });
  const installation = await openInstallation(config);
  t.teardown(() => installation.close());
  return installation;
}

async function startFirst(installation: Installation): Promise<void> {
  await createFirstAccount(installation);
  await claimForAdministrator(CONFIG, installation, pino({ level: 'silent' }));
}

async function peopleOf({ administration }: Installation): Promise<[string, string | null, boolean][]> {
  const { accounts } = await administration.accounts.list();
  return accounts.map(({ email, role, hasPassword }) => [email, role, hasPassword]);
}

t.test('the administrator gets an account of its own when others were created before', async (t) => {
  const installation = await open(t);
  const { accounts, keys } = installation.administration;
  await accounts.create({ email: TEACHER });
  const { keyId } = await keys.create({ account: TEACHER, name: 'Classroom' });
  await startFirst(installation);
  const [teacher, boss] = await peopleOf(installation);
  t.match(
    [teacher, boss],
    [
      [TEACHER, /^(?!admin)/, false],
      [BOSS, 'admin', true],
    ],
  );
  t.match(await keys.show({ keyId }), { account: TEACHER });
});

t.test('the administrator gets the account of the first start, and no second one is made', async (t) => {
  const installation = await open(t);
  await startFirst(installation);
  await startFirst(installation);
  t.same(await peopleOf(installation), [[BOSS, 'admin', true]]);
});

t.test('the administrator gets the account with its own address', async (t) => {
  const installation = await open(t);
  for (const email of [TEACHER, BOSS]) await installation.administration.accounts.create({ email });
  await startFirst(installation);
  t.match(await peopleOf(installation), [
    [TEACHER, String, false],
    [BOSS, 'admin', true],
  ]);
});

t.test('an account that is created during a first start stays', async (t) => {
  for (const turns of [-1, 0, 1, 2, 3, 5, 8]) {
    const installation = await open(t);
    const create = () => installation.administration.accounts.create({ email: TEACHER });
    const early = turns < 0 ? create() : undefined;
    const starting = startFirst(installation);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    await Promise.all([early ?? create(), starting]);
    const addresses = (await peopleOf(installation)).map(([email]) => email);
    t.ok(addresses.includes(TEACHER) && addresses.includes(BOSS), `${addresses}`);
  }
});

t.test('the set-up link claims the account of a first start only', async (t) => {
  const installation = await open(t);
  const { administration, accounts } = installation;
  const link = new SetupLink({ ...installation, publicUrl: () => '' });
  await administration.accounts.create({ email: TEACHER });
  t.same(await administration.accounts.showSetupLink(), { url: null });
  const first = await accounts.create('owner@localhost');
  const { url } = await administration.accounts.showSetupLink();
  const token = new URL(String(url), 'http://x').searchParams.get('token') ?? '';
  t.match(await link.verify(token), { account: { accountId: first.accountId }, isFirst: true });
  await administration.accounts.setPassword({ account: TEACHER, password: CONFIG.adminPassword });
  t.equal(await link.verify(token), 'invalid', 'it is worth nothing once any account has a password');
  t.same(await administration.accounts.showSetupLink(), { url: null });
  for (const email of ['owner@localhost', 'Owner@LocalHost'])
    await t.rejects(administration.accounts.create({ email }), { code: 'invalid_request' }, email);
});
