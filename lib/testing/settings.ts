import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_SETTINGS, type SettingsStore } from '../storage/settings-store.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

const AT_FIRST = {
  holds: 'a store with default settings',
  flaw: async (store: SettingsStore) =>
    isDeepStrictEqual(await store.getSettings(), DEFAULT_SETTINGS) ? undefined : 'others',
};

/**
 * Behaviors of a {@link SettingsStore}. `open` returns a new one with default settings.
 *
 * ```ts
 * const open = async () => ({ subject: new MySettings(), close: async () => {} });
 * for (const { title, run } of settingsStoreSuite(open)) test(title, run);
 * ```
 */
export function settingsStoreSuite(
  open: () => Promise<Opened<SettingsStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'settingsStoreSuite', open, options, ...AT_FIRST };
  return behaviours(suite, {
    async 'returns the defaults at first'(store) {
      assert.deepEqual(await store.getSettings(), DEFAULT_SETTINGS);
    },

    async 'stores since when the queue is paused, until it is resumed'(store) {
      for (const queuePausedAtMs of [1000, null]) {
        const changed = await store.changeSettings((settings) => ({ ...settings, queuePausedAtMs }));
        assert.deepEqual(changed, { queuePausedAtMs });
        assert.deepEqual(await store.getSettings(), { queuePausedAtMs });
      }
    },

    async 'loses no concurrent change'(store) {
      const later = () =>
        store.changeSettings(({ queuePausedAtMs }) => ({ queuePausedAtMs: (queuePausedAtMs ?? 0) + 1 }));
      await Promise.all(Array.from({ length: 30 }, later));
      assert.equal((await store.getSettings()).queuePausedAtMs, 30);
    },

    async 'stores nothing of a change that throws'(store) {
      const failing = store.changeSettings(() => {
        throw new Error('no');
      });
      await assert.rejects(failing, { message: 'no' });
      assert.deepEqual(await store.getSettings(), DEFAULT_SETTINGS);
    },
  });
}
