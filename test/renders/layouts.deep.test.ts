import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { LocalRenderer } from '../../lib/index.ts';
import { everyNth } from '../fixtures/depth.ts';
import { isOf, type LayoutScene, layoutScenes } from '../fixtures/layouts.ts';

const renderer = new LocalRenderer({ folder: await mkdtemp(join(tmpdir(), 'scenepress-')), workers: 2 });
t.before(() => renderer.start());
t.teardown(() => renderer.stop());

/** Inspects scenes, two at a time. */
async function inspectSome(scenes: LayoutScene[]) {
  const left = everyNth(6, scenes).values();
  const all: { scene: LayoutScene; ok: boolean; missed: number; told: string; count: number }[] = [];
  const inspectNext = async () => {
    for (const scene of left) {
      const { code, className, faults } = scene;
      const { ok, findings } = await renderer.inspect(code, { className, quality: 'low' });
      const missed = faults.filter((fault) => !findings.some((finding) => isOf(finding, fault))).length;
      const told = findings.map(({ kind, message }) => `${kind}: ${message}`).join('; ');
      all.push({ scene, ok, missed, told: `${className}: ${told}`, count: findings.length });
    }
  };
  await Promise.all([inspectNext(), inspectNext()]);
  return all;
}

t.test('planted faults are found', { timeout: 300_000 }, async (t) => {
  const scenes = layoutScenes('faults');
  const written = scenes.reduce((sum, { faults }) => sum + faults.length, 0);
  t.ok(written > 60, `${written} faults`);
  const all = await inspectSome(scenes);
  const planted = all.reduce((sum, { scene }) => sum + scene.faults.length, 0);
  const missed = all.filter(({ missed }) => missed > 0);
  t.ok(
    all.every(({ ok }) => ok),
    'faults of a layout are no errors',
  );
  t.ok(missed.length <= 0.08 * planted, missed.map(({ told }) => told).join('\n'));
});

t.test('designs that look like faults are left alone', { timeout: 300_000 }, async (t) => {
  const scenes = layoutScenes('designs');
  t.ok(scenes.length > 60, `${scenes.length} designs`);
  const all = await inspectSome(scenes);
  const blamed = all.filter(({ count }) => count > 0);
  t.ok(blamed.length <= 0.05 * all.length, blamed.map(({ told }) => told).join('\n'));
});
