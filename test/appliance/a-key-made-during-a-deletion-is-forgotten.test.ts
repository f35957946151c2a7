import t from 'tap';
import { listeningAppliance } from './listening-appliance.ts';

t.test('a key that is made while its account is deleted is forgotten', async (t) => {
  const { installation } = await listeningAppliance(t);
  const { administration, accounts, keys } = installation;
  const { userId } = await administration.accounts.create({ email: 'eve@example.org' });
  const mint = keys.mint.bind(keys);
  keys.mint = async (request) => {
    await administration.accounts.delete({ account: userId });
    return mint(request);
  };
  const request = { account: userId, name: 'a-name', webhookUrl: 'https://example.org/hook' };
  await t.rejects(administration.keys.create(request), { code: 'not_found' });
  const [record, ...others] = await keys.list({ accountId: userId });
  t.same(others, []);
  t.match(record, { name: '', webhookUrl: null, revokedAtMs: Number });
  t.equal(await accounts.isEnabled(userId), false);
});
