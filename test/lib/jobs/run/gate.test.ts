import { EventEmitter } from 'node:events';
import t from 'tap';
import { Gate } from '../../../../lib/jobs/run/gate.ts';
import type { Renderer } from '../../../../lib/render/pool/renderer.ts';
import type { Settings, SettingsStore } from '../../../../lib/storage/settings-store.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const SETTINGS = { queuePausedAtMs: null } as Settings;

t.test('a storage that does not answer is away until a later look finds it', async (t) => {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  let answers: PromiseWithResolvers<Settings>[] = [];
  let isThere = true;
  const settings = {
    getSettings: () => {
      const answer = Promise.withResolvers<Settings>();
      if (isThere) answer.resolve(SETTINGS);
      else answers.push(answer);
      return answer.promise;
    },
  } as SettingsStore;
  const gate = new Gate({
    spareSpace: undefined,
    storeWatch: Object.assign(new EventEmitter(), { isUnusable: false, stores: true }) as never,
    renderer: new EventEmitter() as Renderer,
    settings,
    signals: { subscribe: () => () => {}, publish: () => {} } as never,
    isShared: true,
    clock,
  });
  await gate.start();
  t.teardown(() => gate.stop());
  const later = async (ms: number) => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  await later(5_000);
  t.notOk(gate.isStorageAway);
  isThere = false;
  await later(5_000);
  await later(5_000);
  t.notOk(gate.isStorageAway, 'it may be slow');
  await later(5_000);
  t.ok(gate.isStorageAway);
  isThere = true;
  await later(5_000);
  t.notOk(gate.isStorageAway);
  for (const { reject } of answers) reject(new Error('the connection was lost'));
  answers = [];
  await later(1_000);
  t.notOk(gate.isStorageAway, 'what earlier looks find does not count');
});
