import assert from 'node:assert/strict';
import type { SessionRecord, SessionStore } from '../accounts/session-store.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

/**
 * Behaviors of a {@link SessionStore}. `open` returns a new, empty one.
 *
 * ```ts
 * const open = async () => ({ subject: new MySessions(), close: async () => {} });
 * for (const { title, run } of sessionStoreSuite(open)) test(title, run);
 * ```
 */
export function sessionStoreSuite(
  open: () => Promise<Opened<SessionStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'sessionStoreSuite', open, options };
  return behaviours(suite, {
    async 'stores a session until it is removed'(store) {
      const [one, two] = [session('1'), session('2')];
      await store.insertSession(one);
      await store.insertSession(two);
      assert.deepEqual(await store.getSession(one.tokenHash), one);
      await store.removeSession(one.tokenHash);
      await store.removeSession(one.tokenHash);
      assert.equal(await store.getSession(one.tokenHash), undefined);
      assert.deepEqual(await store.getSession(two.tokenHash), two);
    },

    async 'rejects a second session with the same token'(store) {
      await store.insertSession(session('1'));
      await assert.rejects(store.insertSession(session('1', { accountId: 'eve' })));
      assert.equal((await store.getSession(session('1').tokenHash))?.accountId, 'ada');
    },

    async 'removes the oldest sessions of an account with too many'(store) {
      await store.insertSession(session('0', { accountId: 'bob', createdAtMs: 1 }));
      const numbers = [1, 2, 3, 4];
      for (const at of numbers) {
        await store.insertSession(session(`${at}`, { createdAtMs: at }), { most: 2 });
      }
      const left = await Promise.all(numbers.map((at) => store.getSession(session(`${at}`).tokenHash)));
      assert.deepEqual(
        left.map((found) => found?.createdAtMs),
        [undefined, undefined, 3, 4],
      );
      assert.ok(await store.getSession(session('0').tokenHash));
    },

    async 'limits the sessions of an account that are stored at the same time'(store) {
      const all = Array.from({ length: 8 }, (_, at) => session(`${at}`, { createdAtMs: at }));
      await Promise.all(all.map((one) => store.insertSession(one, { most: 2 })));
      const left = await Promise.all(all.map(({ tokenHash }) => store.getSession(tokenHash)));
      assert.equal(left.filter((found) => found).length, 2);
    },

    async 'moves the expiry of an existing session only'(store) {
      const one = session('1');
      await store.insertSession(one);
      await store.extendSession(one.tokenHash, 9000);
      assert.deepEqual(await store.getSession(one.tokenHash), { ...one, expiresAtMs: 9000 });
      await store.extendSession(session('2').tokenHash, 9000);
      assert.equal(await store.getSession(session('2').tokenHash), undefined);
    },

    async 'removes all sessions of an account, and no other'(store) {
      for (const id of ['1', '2']) await store.insertSession(session(id));
      await store.insertSession(session('3', { accountId: 'bob' }));
      assert.equal(await store.removeSessionsOf('ada'), 2);
      assert.equal(await store.removeSessionsOf('ada'), 0);
      assert.equal(await store.getSession(session('1').tokenHash), undefined);
      assert.ok(await store.getSession(session('3').tokenHash));
    },

    async 'removes sessions that have expired'(store) {
      for (const [id, expiresAtMs] of Object.entries({ 1: 1999, 2: 2000, 3: 2001 })) {
        await store.insertSession(session(id, { expiresAtMs }));
      }
      await store.removeExpiredSessions(2000);
      const left = await Promise.all(['1', '2', '3'].map((id) => store.getSession(session(id).tokenHash)));
      assert.deepEqual(
        left.map((one) => one?.expiresAtMs),
        [undefined, undefined, 2001],
      );
    },
  });
}

function session(id: string, change: Partial<SessionRecord> = {}): SessionRecord {
  return { tokenHash: id.padEnd(64, '0'), accountId: 'ada', createdAtMs: 1000, expiresAtMs: 2000, ...change };
}
