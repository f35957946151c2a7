import assert from 'node:assert/strict';
import type { Account, AccountQuery, AccountStore } from '../accounts/account-store.ts';
import type { Page } from '../base/pages.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty store of accounts',
  flaw: async (store: AccountStore) => countOf('accounts', await store.listAccounts({ limit: 1 })),
};

/**
 * Behaviors of an {@link AccountStore}. `open` returns a new, empty one.
 *
 * ```ts
 * const open = async () => ({ subject: new MyAccounts(), close: async () => {} });
 * for (const { title, run } of accountStoreSuite(open)) test(title, run);
 * ```
 */
export function accountStoreSuite(
  open: () => Promise<Opened<AccountStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'accountStoreSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'stores an account and finds it by id and by address, ignoring case'(store) {
      const ada = account('1', {
        email: 'Ada@Example.org',
        disabledAtMs: 5,
        passwordHash: 'scrypt$1',
        role: 'admin',
        maxQueued: 7,
      });
      await store.insertAccount(ada);
      assert.deepEqual(await store.getAccount('1'), ada);
      assert.deepEqual(await store.findAccountByEmail('aDA@eXAMPLE.ORG'), ada);
      assert.equal(await store.getAccount('2'), undefined);
      assert.deepEqual(await store.getAccount('1', { store: {} }), ada, 'in a transaction of another store');
      assert.equal(await store.findAccountByEmail('1@example.org'), undefined);
    },

    async 'allows an address for one account only, also for concurrent inserts'(store) {
      const both = ['1', '2'].map((id) => store.insertAccount(account(id, { email: 'a@example.org' })));
      const outcomes = await Promise.allSettled(both);
      const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'made'));
      assert.deepEqual(codes.sort(), ['conflict', 'made']);
      await assert.rejects(store.insertAccount(account('3', { email: 'A@example.org' })), {
        code: 'conflict',
      });
      await store.insertAccount(account('4'));
      const taken = store.changeAccount('4', (four) => ({ ...four, email: 'a@EXAMPLE.org' }));
      await assert.rejects(taken, { code: 'conflict' });
      assert.equal((await store.getAccount('4'))?.email, '4@example.org');
      assert.equal((await store.listAccounts()).length, 2);
    },

    async 'rejects a second account with the same id'(store) {
      await store.insertAccount(account('1'));
      await assert.rejects(store.insertAccount(account('1', { email: 'other@example.org' })));
      assert.deepEqual(await store.getAccount('1'), account('1'));
    },

    async 'loses no concurrent change'(store) {
      await store.insertAccount(account('1', { disabledAtMs: 0 }));
      await Promise.all(
        Array.from({ length: 30 }, () =>
          store.changeAccount('1', (one) => ({ ...one, disabledAtMs: (one.disabledAtMs ?? 0) + 1 })),
        ),
      );
      assert.equal((await store.getAccount('1'))?.disabledAtMs, 30);
    },

    async 'returns the changed account'(store) {
      await store.insertAccount(account('1', { disabledAtMs: 5 }));
      assert.deepEqual(await store.changeAccount('1', ({ disabledAtMs: _, ...one }) => one), account('1'));
      assert.deepEqual(await store.changeAccount('1', (one) => one), account('1'));
      assert.deepEqual(await store.getAccount('1'), account('1'));
    },

    async 'stores nothing if a change throws or the account does not exist'(store) {
      await store.insertAccount(account('1'));
      const failing = store.changeAccount('1', () => {
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      await assert.rejects(
        store.changeAccount('2', (two) => ({ ...two })),
        { code: 'not_found' },
      );
      assert.deepEqual(await store.listAccounts(), [account('1')]);
    },

    async 'releases the address of a deleted account'(store) {
      await store.insertAccount(account('1', { email: 'a@example.org' }));
      await store.changeAccount('1', (one) => ({ ...one, deletedAtMs: 5, email: '' }));
      assert.equal(await store.findAccountByEmail('a@example.org'), undefined);
      assert.equal((await store.getAccount('1'))?.deletedAtMs, 5);
      await store.insertAccount(account('2', { email: 'a@example.org' }));
      assert.equal((await store.findAccountByEmail('a@example.org'))?.accountId, '2');
      await store.changeAccount('2', (two) => ({ ...two, deletedAtMs: 6, email: '' }));
      assert.deepEqual(await store.listAccounts(), [], 'accounts without an address are not listed');
    },

    async 'lists accounts with an address, oldest first, in pages'(store) {
      for (const [id, createdAtMs] of Object.entries({ c: 1000, a: 2000, b: 2000, e: 500, d: 3000 }))
        await store.insertAccount(account(id, { createdAtMs }));
      const list = async (page?: Page) => (await store.listAccounts(page)).map(({ accountId }) => accountId);
      assert.deepEqual(await list(), ['e', 'c', 'a', 'b', 'd']);
      assert.deepEqual(await list({ limit: 2 }), ['e', 'c']);
      assert.deepEqual(await list({ limit: 2, after: 'c' }), ['a', 'b']);
      assert.deepEqual(await list({ after: 'd' }), []);
      await store.changeAccount('a', (a) => ({ ...a, deletedAtMs: 5, email: '' }));
      assert.deepEqual(await list({ limit: 2, after: 'c' }), ['b', 'd']);
      assert.deepEqual(await list({ after: 'a' }), ['b', 'd']);
      await assert.rejects(store.listAccounts({ after: 'x' }), { code: 'not_found' });
    },

    async 'lists accounts whose address contains a text, in any case, in pages'(store) {
      const emails = ['Ada@example.org', 'eve@example.org', 'a_a@example.com', 'nada@x.org', 'x%@ADA.org'];
      for (const [index, email] of emails.entries())
        await store.insertAccount(account(String(index), { email, createdAtMs: index }));
      const list = async (query: AccountQuery) =>
        (await store.listAccounts(query)).map(({ accountId }) => accountId);
      assert.deepEqual(await list({ text: 'ADA' }), ['0', '3', '4']);
      assert.deepEqual(await list({ text: 'ada', limit: 2 }), ['0', '3']);
      assert.deepEqual(await list({ text: 'ada', limit: 2, after: '3' }), ['4']);
      assert.deepEqual(await list({ text: 'a_a' }), ['2']);
      assert.deepEqual(await list({ text: '%' }), ['4']);
      assert.deepEqual(await list({ text: '\\' }), []);
      assert.deepEqual(await list({ text: '' }), ['0', '1', '2', '3', '4']);
    },

    async 'lists 50 accounts by default'(store) {
      const ids = Array.from({ length: 51 }, (_, number) => String(number));
      await Promise.all(ids.map((id) => store.insertAccount(account(id))));
      assert.equal((await store.listAccounts()).length, 50);
      assert.equal((await store.listAccounts({ limit: 100 })).length, 51);
    },

    async 'does not share records with the caller'(store) {
      const ada = account('1');
      await store.insertAccount(ada);
      ada.email = 'eve@example.org';
      assert.equal((await store.getAccount('1'))?.email, '1@example.org');
    },
  });
}

function account(accountId: string, change: Partial<Account> = {}): Account {
  return { accountId, email: `${accountId}@example.org`, createdAtMs: 1000, ...change };
}
