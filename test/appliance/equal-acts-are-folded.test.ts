import { once } from 'node:events';
import t from 'tap';
import { Acts } from '../../appliance/admin/acts.ts';
import type { Act, ActStore } from '../../lib/accounts/act-store.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { listeningAppliance } from './listening-appliance.ts';

function make({ deleted = [] as string[], foldMs = 60_000 } = {}) {
  const recorded: Act[] = [];
  const appended = new EventTarget();
  const store = {
    async appendAct(act: Act) {
      recorded.push(act);
      appended.dispatchEvent(new Event('act'));
    },
  } as Partial<ActStore> as ActStore;
  const accounts = {
    async find(accountId: string) {
      if (deleted.includes(accountId)) throw new Error('no account');
      return { accountId, email: '', createdAtMs: 0 };
    },
  };
  const clock = new FakeClock('2026-11-23T10:00:00Z');
  const acts = new Acts({ store, accounts, logger: silentLogger, clock, foldMs });
  const shown = () =>
    recorded.map(({ actor, action, subject, address }) => [actor, action, subject, address]);
  return { acts, recorded, appended, shown, clock };
}

const ADA = { accountId: 'ada', address: '192.0.2.1' };

t.test('the first of several equal acts is recorded at once, the others together', async (t) => {
  const { acts, shown, recorded, clock } = make();
  for (let count = 0; count < 1000; count++) await acts.record(ADA, 'keys.setWebhook', 'key_1');
  await acts.record(ADA, 'keys.setWebhook', 'key_2');
  await acts.record({ ...ADA, address: '192.0.2.2' }, 'keys.setWebhook', 'key_1');
  const first = [
    ['ada', 'keys.setWebhook', 'key_1', '192.0.2.1'],
    ['ada', 'keys.setWebhook', 'key_2', '192.0.2.1'],
    ['ada', 'keys.setWebhook', 'key_1', '192.0.2.2'],
  ];
  t.same(shown(), first);
  clock.set('2026-11-23T10:01:00Z');
  await acts.flush();
  const repeats = ['ada', 'keys.setWebhook ×999', 'key_1', '192.0.2.1'];
  t.same(shown(), [...first, repeats]);
  t.equal(recorded.at(-1)?.atMs, Date.parse('2026-11-23T10:00:00Z'), 'the time of the last one');
  await acts.record(ADA, 'keys.setWebhook', 'key_1');
  await acts.close();
  t.same(shown().at(-1), ['ada', 'keys.setWebhook', 'key_1', '192.0.2.1'], 'one alone has no number');
  t.equal(recorded.length, 5);
});

t.test('repeats are recorded after a while', async (t) => {
  const { acts, shown, appended } = make({ foldMs: 400 });
  const keepAlive = setTimeout(() => {}, 10_000);
  await acts.record(ADA, 'sign-in', null);
  for (let count = 0; count < 3; count++) await acts.record(ADA, 'sign-in', null);
  await once(appended, 'act');
  clearTimeout(keepAlive);
  t.same(shown().at(-1), ['ada', 'sign-in ×3', null, '192.0.2.1']);
  await acts.record(ADA, 'sign-in', null);
  t.equal(shown().length, 3, 'then the next one is again recorded at once');
  await acts.close();
});

t.test('repeats do not bring back the address of a deleted account', async (t) => {
  const deleted: string[] = [];
  const { acts, shown } = make({ deleted });
  await acts.record(ADA, 'sign-in', null);
  await acts.record(ADA, 'sign-in', null);
  deleted.push('ada');
  await acts.close();
  t.same(shown().at(-1), ['ada', 'sign-in', null, null]);
});

t.test('an account adds a limited number of entries', async (t) => {
  const { acts, recorded, shown, clock } = make();
  for (let count = 0; count < 500; count++) await acts.record(ADA, 'jobs.cancel', `job${count}`);
  t.throws(() => acts.assertWithinRate(ADA), {
    code: 'too_many_requests',
    retryAfterMs: 2000,
    message: /Nothing was changed\. Try again in 2 s/,
  });
  t.doesNotThrow(() => acts.assertWithinRate({ accountId: 'bob' }));
  t.doesNotThrow(() => acts.assertWithinRate({ accountId: null }));
  for (let count = 0; count < 500; count++) {
    await acts.record({ ...ADA, address: `2001:db8::${count}` }, 'sign-in', null);
  }
  await acts.flush();
  t.equal(recorded.length, 502, 'what is not refused is counted under the operation alone');
  t.same(shown().slice(-2), [
    ['ada', 'sign-in', null, null],
    ['ada', 'sign-in ×499', null, null],
  ]);
  clock.advance(10_000);
  t.doesNotThrow(() => acts.assertWithinRate(ADA));
  await acts.close();
});

t.test('the record shows the number of equal acts, and changes beyond the rate are refused', async (t) => {
  const { installation } = await listeningAppliance(t);
  const { accounts, acts, administration, administrationFor } = installation;
  const { accountId } = await accounts.find('ada@example.org');
  const actor = { accountId, isAdmin: false, address: '192.0.2.1' };
  const scoped = administrationFor(actor);
  const { keyId } = await scoped.keys.create({ account: accountId, name: 'One' });
  for (let count = 0; count < 5; count++) await scoped.keys.setWebhook({ keyId, webhookUrl: null });
  const listed = await administration.acts.list({ limit: 10 });
  t.match(listed, [
    { action: 'keys.setWebhook', count: 4, subject: keyId, actor: 'ada@example.org', address: '192.0.2.1' },
    { action: 'keys.setWebhook', count: 1 },
    { action: 'keys.create', count: 1 },
  ]);
  for (let count = 0; count < 500; count++) await acts.record(actor, 'jobs.cancel', `job${count}`);
  await t.rejects(scoped.keys.revoke({ keyId }), { code: 'too_many_requests' });
  t.match(await administration.keys.show({ keyId }), { revokedAt: null });
  t.ok(await scoped.keys.show({ keyId }), 'reading is not limited');
  await administration.keys.revoke({ keyId });
});
