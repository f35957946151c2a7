import assert from 'node:assert/strict';
import type { KeyUseStore } from '../keys/key-use-store.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

/**
 * Behaviors of a {@link KeyUseStore}. `open` returns a new, empty one.
 *
 * ```ts
 * const open = async () => ({ subject: new MyKeyUses(), close: async () => {} });
 * for (const { title, run } of keyUseStoreSuite(open)) test(title, run);
 * ```
 */
export function keyUseStoreSuite(
  open: () => Promise<Opened<KeyUseStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'keyUseStoreSuite', open, options };
  return behaviours(suite, {
    async 'returns the latest use of each key that was used'(store) {
      await store.noteKeyUses([
        { keyId: 'a', usedAtMs: 2000 },
        { keyId: 'b', usedAtMs: 1000 },
      ]);
      await store.noteKeyUses([
        { keyId: 'a', usedAtMs: 1000 },
        { keyId: 'b', usedAtMs: 3000 },
      ]);
      const uses = await store.lastKeyUses(['a', 'b', 'c']);
      assert.deepEqual(
        new Map(uses.map(({ keyId, usedAtMs }) => [keyId, usedAtMs])),
        new Map([
          ['a', 2000],
          ['b', 3000],
        ]),
      );
      assert.deepEqual(await store.lastKeyUses([]), []);
    },
  });
}
