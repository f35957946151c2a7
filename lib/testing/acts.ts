import assert from 'node:assert/strict';
import type { Act, ActQuery, ActStore } from '../accounts/act-store.ts';
import { type Behaviour, behaviours, countOf, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'an empty record of acts',
  flaw: async (store: ActStore) => countOf('acts', await store.listActs({ limit: 1 })),
};

/**
 * Behaviors of an {@link ActStore}. `open` returns a new, empty one.
 *
 * ```ts
 * const open = async () => ({ subject: new MyActs(), close: async () => {} });
 * for (const { title, run } of actStoreSuite(open)) test(title, run);
 * ```
 */
export function actStoreSuite(
  open: () => Promise<Opened<ActStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'actStoreSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'lists acts newest first, in pages, of all or of one account'(store) {
      const acts = [act('1'), act('2', { actor: 'bob' }), act('3', { actor: null, address: null }), act('4')];
      for (const one of acts) await store.appendAct(one);
      const ids = async (query: Partial<ActQuery> = {}) =>
        (await store.listActs({ limit: 10, ...query })).map(({ actId }) => actId);
      assert.deepEqual(await store.listActs({ limit: 10 }), acts.toReversed());
      assert.deepEqual(await ids({ limit: 2 }), ['4', '3']);
      assert.deepEqual(await ids({ limit: 2, before: '3' }), ['2', '1']);
      assert.deepEqual(await ids({ actor: 'ada' }), ['4', '1']);
      assert.deepEqual(await ids({ actor: 'ada', before: '4' }), ['1']);
      assert.deepEqual(await ids({ actor: 'eve' }), []);
    },

    async 'rejects a second act with the same id'(store) {
      await store.appendAct(act('1'));
      await assert.rejects(store.appendAct(act('1', { action: 'other' })));
      assert.deepEqual(await store.listActs({ limit: 10 }), [act('1')]);
    },

    async 'erases the addresses of one account, and nothing else'(store) {
      await store.appendAct(act('1'));
      await store.appendAct(act('2', { actor: 'bob' }));
      await store.forgetAddressesOf('ada');
      await store.forgetAddressesOf('ada');
      const left = await store.listActs({ limit: 10 });
      assert.deepEqual(left, [act('2', { actor: 'bob' }), act('1', { address: null })]);
    },
  });
}

function act(actId: string, change: Partial<Act> = {}): Act {
  return {
    actId,
    atMs: 1000,
    actor: 'ada',
    action: 'keys.revoke',
    subject: 'key_1',
    address: '192.0.2.1',
    ...change,
  };
}
