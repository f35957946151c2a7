import t, { type Test } from 'tap';
import { Accounts, DataFolder } from '../../../lib/index.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

async function openAccounts(t: Test) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  return { folder, accounts: new Accounts({ store: folder.accountStore }) };
}

t.test('only the password of an enabled account is accepted', async (t) => {
  const { accounts } = await openAccounts(t);
  const { accountId } = await accounts.create('ada@example.org');
  const verify = async (email: string, password: string) =>
    (await accounts.verifyPassword(email, password))?.accountId;
  t.equal(await verify('ada@example.org', ''), undefined, 'there is no password yet');
  await accounts.setPassword(accountId, { password: 'pâté de campagne' });
  t.equal(await verify('Ada@Example.org', 'pâté de campagne'), accountId);
  t.equal(await verify('ada@example.org', 'pâté de campagne'.normalize('NFD')), accountId);
  t.equal(await verify('ada@example.org', 'pate de campagne'), undefined);
  t.equal(await verify('eve@example.org', 'pâté de campagne'), undefined);
  await accounts.disable(accountId);
  t.equal(await verify('ada@example.org', 'pâté de campagne'), undefined);
});

t.test('the password is stored as a salted hash', async (t) => {
  const { accounts, folder } = await openAccounts(t);
  const stored: (string | undefined)[] = [];
  for (const email of ['ada@example.org', 'bob@example.org']) {
    const { accountId } = await accounts.create(email);
    await accounts.setPassword(accountId, { password: 'the same password', role: 'admin' });
    const account = await folder.accountStore.getAccount(accountId);
    t.equal(account?.role, 'admin');
    stored.push(account?.passwordHash);
  }
  t.match(stored[0], /^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  t.not(stored[0], stored[1]);
});

t.test('a password that may only be the first replaces none', async (t) => {
  const { accounts } = await openAccounts(t);
  const { accountId } = await accounts.create('owner@localhost');
  const both = ['ada@example.org', 'eve@example.org'].map((email) =>
    accounts.setPassword(accountId, { password: `password of ${email}`, email, replaces: null }),
  );
  const settled = await Promise.allSettled(both);
  t.same(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.equal((await accounts.list()).length, 1);
});

t.test('an account is disabled from the beginning of its deletion', async (t) => {
  const { accounts } = await openAccounts(t);
  const { accountId } = await accounts.create('ada@example.org');
  t.match(await accounts.beginDeletion(accountId), { disabledAtMs: Number, deletedAtMs: Number });
});

t.test('short and long passwords are rejected, and a deleted account keeps none', async (t) => {
  const { accounts, folder } = await openAccounts(t);
  const { accountId } = await accounts.create('ada@example.org');
  for (const password of ['123456789', 'x'.repeat(201)]) {
    await t.rejects(accounts.setPassword(accountId, { password }), { code: 'invalid_request' });
  }
  await accounts.setPassword(accountId, { password: '1234567890', role: 'admin' });
  await accounts.beginDeletion(accountId);
  await t.rejects(accounts.setPassword(accountId, { password: '1234567890' }), { code: 'not_found' });
  await accounts.completeDeletion(accountId);
  const left = await folder.accountStore.getAccount(accountId);
  t.same([left?.passwordHash, left?.role, left?.email], [undefined, undefined, '']);
});
