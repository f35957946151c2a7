import t, { type Test } from 'tap';
import { type Installation, openInstallation } from '../../appliance/app/installation.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const EMAIL = 'teacher@example.org';
const [OLD, RESET, STOLEN] = ['the old password', 'the password of a reset', 'the password of a thief'];

async function open(t: Test): Promise<Installation & { accountId: string }> {
  const config = loadConfig({ flags: { dataDir: await temporaryFolder(t) }, env: {} });
  const installation = await openInstallation(config);
  t.teardown(() => installation.close());
  const { accounts } = installation.administration;
  const { userId: accountId } = await accounts.create({ email: EMAIL });
  await accounts.setPassword({ account: EMAIL, password: OLD });
  return Object.assign(installation, { accountId });
}

t.test('a password that was reset while its owner changed it stays as reset', async (t) => {
  const { accounts, administration } = await open(t);
  const verify = accounts.verifyPassword.bind(accounts);
  accounts.verifyPassword = async (email, password) => {
    const verified = await verify(email, password);
    await administration.accounts.setPassword({ account: EMAIL, password: RESET });
    return verified;
  };
  const change = { account: EMAIL, current: OLD, password: STOLEN };
  await t.rejects(administration.accounts.changePassword(change), { code: 'conflict' });
  t.ok(await verify(EMAIL, RESET));
  t.notOk(await verify(EMAIL, STOLEN));
});

t.test('an account that was deleted meanwhile gets neither a role nor a limit', async (t) => {
  const { accounts, accountId, administration } = await open(t);
  await administration.accounts.delete({ account: EMAIL });
  await t.rejects(accounts.setRole(accountId, 'admin'), { code: 'not_found' });
  await t.rejects(accounts.setLimits(accountId, { maxQueued: 5 }), { code: 'not_found' });
});
