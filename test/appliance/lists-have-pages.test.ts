import t from 'tap';
import { listeningAppliance } from './listening-appliance.ts';

t.test('accounts are listed in pages, and found by a part of their address', async (t) => {
  const { installation } = await listeningAppliance(t);
  const { accounts } = installation.administration;
  for (const email of ['b@example.org', 'c@example.com', 'd@EXAMPLE.com']) await accounts.create({ email });
  const { accounts: all } = await accounts.list();
  t.equal(all.length, 4);
  const first = await accounts.list({ limit: 3 });
  t.same(first, { accounts: all.slice(0, 3), next: all[2]?.userId });
  t.same(await accounts.list({ limit: 3, after: String(first.next) }), {
    accounts: all.slice(3),
    next: null,
  });
  t.same(await accounts.list({ limit: 4 }), { accounts: all, next: null });
  const found = await accounts.list({ text: '@example.COM' });
  t.same(
    found.accounts.map(({ email }) => email),
    ['c@example.com', 'd@EXAMPLE.com'],
  );
  for (const limit of [0, 10_001]) await t.rejects(accounts.list({ limit }), { code: 'invalid_request' });
});

t.test('keys are listed in pages, without those of deleted accounts', async (t) => {
  const { installation } = await listeningAppliance(t);
  const { accounts, keys } = installation.administration;
  for (const email of ['b@example.org', 'c@example.org']) {
    await accounts.create({ email });
    for (const name of ['one', 'two']) await keys.create({ account: email, name });
  }
  const { keys: all } = await keys.list();
  t.same(
    all.map(({ account, name }) => `${account} ${name}`),
    [
      'ada@example.org Test',
      'b@example.org one',
      'b@example.org two',
      'c@example.org one',
      'c@example.org two',
    ],
  );
  const of = async (request: Parameters<typeof keys.list>[0]) => {
    const page = await keys.list(request);
    return [...page.keys.map(({ keyId }) => all.findIndex((key) => key.keyId === keyId)), page.next];
  };
  const id = (index: number) => String(all[index]?.keyId);
  t.same(await of({ limit: 2 }), [0, 1, id(1)]);
  t.same(await of({ limit: 2, after: id(3) }), [4, null]);
  t.same(await of({ account: 'b@example.org', limit: 1 }), [1, id(1)]);
  await keys.revoke({ keyId: id(1) });
  t.same(await of({ account: 'b@example.org', live: true }), [2, null]);
  t.match(await keys.show({ keyId: id(1) }), { name: 'one', account: 'b@example.org', revokedAt: String });
  await t.rejects(keys.show({ keyId: 'none' }), { code: 'not_found' });
  await accounts.delete({ account: 'b@example.org' });
  t.same(await of({ limit: 2 }), [0, id(1)], 'a page may have fewer keys, and continues');
  t.same(await of({ limit: 2, after: id(1) }), [3, id(3)]);
});
