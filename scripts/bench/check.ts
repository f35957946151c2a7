import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Finding, LocalRenderer } from '../../lib/index.ts';
import { type BrokenScene, brokenScenes } from '../../test/fixtures/broken-scenes.ts';
import { median, quantile } from './numbers.ts';

interface Checked extends BrokenScene {
  finding: Finding | undefined;
  ms: number;
}

/** The aspects of a finding that the corpus predicts. */
const ASPECTS: Record<string, (checked: Checked) => boolean | undefined> = {
  found: ({ finding }) => finding !== undefined,
  kind: ({ finding, kind }) => finding?.kind === kind,
  line: ({ finding, line }) => finding?.line === line,
  hint: ({ finding, replacement }) => (replacement === undefined ? undefined : names(finding, replacement)),
};

/** Checks the broken scenes, and prints how many were found, with the right kind, line and replacement. */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { group: { type: 'string', multiple: true } } });
  const scenes = brokenScenes().filter(({ group }) => !values.group || values.group.includes(group));
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-check-'));
  const renderer = new LocalRenderer({ folder, workers: 1 });
  const all: Checked[] = [];
  try {
    await renderer.start();
    for (const scene of scenes) {
      const startedMs = performance.now();
      const { findings } = await renderer.check(scene.code, { className: 'Demo', quality: 'low' });
      all.push({ ...scene, finding: findings[0], ms: performance.now() - startedMs });
    }
  } finally {
    await renderer.stop();
    await rm(folder, { recursive: true, force: true });
  }
  for (const checked of all) printMisses(checked);
  console.log(
    `\n${'group'.padEnd(12)}${[...Object.keys(ASPECTS), 'ms', 'p95'].map((name) => name.padStart(9)).join('')}`,
  );
  for (const [group, some] of [...Map.groupBy(all, ({ group }) => group), ['all', all] as const])
    console.log(
      group.padEnd(12) + [...sharesOf(some), ...timesOf(some)].map((cell) => cell.padStart(9)).join(''),
    );
}

function names({ candidates, hint, tex }: Finding = NOTHING, replacement: string): boolean {
  const packages = tex?.packages ?? [];
  return (
    candidates[0] === replacement || packages.includes(replacement) || (hint ?? '').includes(replacement)
  );
}

const NOTHING = { candidates: [], hint: null, tex: null } as unknown as Finding;

function printMisses(checked: Checked): void {
  const { group, title, kind, line, replacement, finding } = checked;
  const missed = Object.entries(ASPECTS).filter(([, isRight]) => isRight(checked) === false);
  if (missed.length === 0) return;
  const expected = [kind, `line ${line}`, replacement].filter((part) => part !== undefined).join(', ');
  const said = finding && `${finding.kind}, line ${finding.line}, ${finding.message} | ${finding.hint}`;
  console.log(
    `${group}: ${title}: ${missed.map(([name]) => name).join(', ')}: ${expected} / ${said ?? 'nothing'}`,
  );
}

function sharesOf(some: Checked[]): string[] {
  return Object.values(ASPECTS).map((isRight) => {
    const known = some.map(isRight).filter((is) => is !== undefined);
    return `${known.filter(Boolean).length}/${known.length}`;
  });
}

function timesOf(some: Checked[]): string[] {
  const times = some.map(({ ms }) => ms);
  return [median(times).toFixed(0), quantile(times, 0.95).toFixed(0)];
}
