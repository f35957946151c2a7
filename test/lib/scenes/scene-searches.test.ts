import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { SceneIndex } from '../../../lib/scenes/scene-index.ts';
import { SceneSearches } from '../../../lib/scenes/scene-searches.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

async function open(t: Test) {
  const folder = new DataFolder(join(testFolder(t), 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  /** As another process adds a scene. */
  const put = (sceneId: string, code: string, changedAtMs = clock.now()) =>
    storage.transaction((tx) =>
      storage.scenes.insert(
        tx,
        { sceneId, owner: 'ada', name: sceneId, revision: 1, draftBytes: 1, createdAtMs: 0, changedAtMs },
        { sceneId, revision: 1, savedAtMs: 0, sizeBytes: 1, className: '', code, settings: {} },
      ),
    );
  return { scenes: storage.scenes, storage, clock, put };
}

t.test('a search sees what other processes added, also with another clock, and removed', async (t) => {
  const { storage, scenes, clock, put } = await open(t);
  const searches = new SceneSearches({ scenes, clock });
  t.teardown(() => searches.stop());
  const found = async () =>
    (await searches.find({ owner: 'ada', words: ['wave'], after: undefined, limit: 9 })).map(
      ({ scene }) => scene.sceneId,
    );
  for (let count = 0; count < 30; count += 1) await put(`other${count}`, 'sand');
  await put('d1', 'waves');
  t.same(await found(), ['d1']);
  await put('d2', 'waves', clock.now() - 50_000);
  t.same(await found(), ['d1', 'd2']);
  await storage.transaction((tx) => scenes.remove(tx, 'd1'));
  t.same(await found(), ['d2']);
});

t.test('an index lets go of removed scenes, and stays within its bound', async (t) => {
  const { scenes, clock, put } = await open(t);
  const parts = { scenes, clock, owner: 'ada' };
  const index = new SceneIndex({ ...parts, mostBytes: 1e9 });
  const words = (start: string) => Array.from({ length: 1_000 }, (_, at) => `${start}${at}`).join(' ');
  const atMs = clock.now();
  await put('d0', words('a'), atMs + 100);
  await index.sync();
  const { sizeBytes } = index;
  t.ok(sizeBytes > 50_000, `${sizeBytes}`);
  for (let count = 1; count < 60; count += 1) await put(`d${count}`, words(`b${count}x`), atMs + count);
  await index.sync();
  t.equal(index.find(['b1x7'], undefined).length, 1);
  for (let count = 1; count < 60; count += 1) index.forget(`d${count}`);
  index.purge();
  t.equal(index.sizeBytes, sizeBytes);
  t.same(index.find(['b1x7'], undefined), []);
  const small = new SceneIndex({ ...parts, mostBytes: 1_000_000 });
  await small.sync();
  t.same([small.find(['a7'], undefined), small.find(['b1x7'], undefined)], [['d0'], []], 'the newest');
});
