import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Finding, LocalRenderer } from '../../lib/index.ts';

import { type BrokenScene, brokenScenes } from '../fixtures/broken-scenes.ts';
import { everyNth } from '../fixtures/depth.ts';

const renderer = new LocalRenderer({ folder: await mkdtemp(join(tmpdir(), 'scenepress-')), workers: 2 });
t.before(() => renderer.start());
t.teardown(() => renderer.stop());

/** Whether a finding names what to write instead. */
const names = ({ candidates, hint, tex }: Finding, replacement: string) =>
  candidates[0] === replacement || tex?.packages.includes(replacement) || hint?.includes(replacement);

const all = brokenScenes();
t.ok(all.length > 400, `${all.length} scenes`);

t.test('broken scenes are found, with kind, line and advice', { timeout: 300_000 }, async (t) => {
  const scenes = everyNth(4, all);
  const misses: Record<'found' | 'kind' | 'line' | 'advice', string[]> = {
    ...{ found: [], kind: [], line: [], advice: [] },
  };
  const left = scenes.values();
  const checkNext = async () => {
    for (const scene of left)
      note(scene, await renderer.check(scene.code, { className: 'Demo', quality: 'low' }));
  };
  const note = (
    { group, title, kind, line, replacement }: BrokenScene,
    { findings }: { findings: Finding[] },
  ) => {
    const name = `${group}: ${title}`;
    const [finding] = findings;
    if (!finding) return void misses.found.push(name);
    if (finding.kind !== kind) misses.kind.push(`${name}: ${finding.kind}`);
    if (finding.line !== line) misses.line.push(`${name}: ${finding.line}`);
    if (replacement !== undefined && !names(finding, replacement))
      misses.advice.push(`${name}: ${finding.hint}`);
  };
  await Promise.all([checkNext(), checkNext()]);
  const known = scenes.filter(({ replacement }) => replacement !== undefined).length;
  t.same(misses.found, []);
  t.ok(misses.kind.length <= 0.02 * scenes.length, misses.kind.join('\n'));
  t.ok(misses.line.length <= 0.03 * scenes.length, misses.line.join('\n'));
  t.ok(misses.advice.length <= 0.1 * known, misses.advice.join('\n'));
});

t.test(
  'most broken scenes are found without running them, at their line',
  { timeout: 300_000 },
  async (t) => {
    const missed: string[] = [];
    const misplaced: string[] = [];
    const times: number[] = [];
    const read = everyNth(2, all);
    for (const { code, group, title, line, kind } of read) {
      const startedMs = performance.now();
      const { findings } = await renderer.check(code, { className: 'Demo', dryRun: false });
      times.push(performance.now() - startedMs);
      const [finding] = findings;
      if (!finding) missed.push(`${group}: ${title}`);
      else if (finding.line !== line || finding.kind !== kind)
        misplaced.push(`${group}: ${title}: ${finding.line}`);
    }
    const found = read.length - missed.length;
    t.ok(found >= 0.8 * read.length, `${found} of ${read.length}; missed:\n${missed.join('\n')}`);
    t.ok(misplaced.length <= 0.03 * found, misplaced.join('\n'));
    t.comment(`median ${times.toSorted((a, b) => a - b)[times.length >> 1]?.toFixed(0)} ms`);
  },
);
