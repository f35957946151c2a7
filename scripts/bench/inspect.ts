import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalRenderer } from '../../lib/index.ts';
import { isOf, type LayoutScene, layoutScenes } from '../../test/fixtures/layouts.ts';
import { median, quantile } from './numbers.ts';

const ROOT = join(import.meta.dirname, '../..');
const MOST_BYTES = 64 * 1024 * 1024;

interface Inspected extends LayoutScene {
  findings: string[];
  found: number;
  /** Findings that are of no planted fault. */
  blamed: string[];
  checkMs: number;
  inspectMs: number;
}

/** Inspects scenes with planted faults, designs without, and Manim's documented scenes; prints what is found and missed. */
export async function bench(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-inspect-'));
  const renderer = new LocalRenderer({ folder, workers: 1 });
  try {
    await renderer.start();
    const faults = await inspectAll(renderer, layoutScenes('faults'));
    const designs = await inspectAll(renderer, layoutScenes('designs'));
    const documented = await inspectAll(renderer, await documentedScenes());
    for (const scene of faults) printMisses(scene);
    for (const [name, scenes] of Object.entries({ designs, documented }))
      for (const { className, blamed } of scenes)
        if (blamed.length > 0) console.log(`${name}: ${className}: ${blamed.join('; ')}`);
    print('planted faults', faults);
    print('designs', designs);
    print('documented', documented);
    printFound(faults);
  } finally {
    await renderer.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function inspectAll(renderer: LocalRenderer, scenes: LayoutScene[]): Promise<Inspected[]> {
  const all: Inspected[] = [];
  for (const scene of scenes) {
    const { code, className, faults } = scene;
    const options = { className, quality: 'low' } as const;
    await renderer.check(code, options); // Its TeX is known afterwards.
    const begunMs = performance.now();
    await renderer.check(code, options);
    const checkedMs = performance.now();
    const { findings } = await renderer.inspect(code, options);
    const inspectMs = performance.now() - checkedMs;
    const found = faults.filter((fault) => findings.some((finding) => isOf(finding, fault))).length;
    const others = findings.filter((finding) => !faults.some((fault) => isOf(finding, fault)));
    const said = (some: typeof findings) => some.map(({ kind, message }) => `${kind}: ${message}`);
    const told = { findings: said(findings), blamed: said(others) };
    all.push({ ...scene, ...told, found, checkMs: checkedMs - begunMs, inspectMs });
  }
  return all;
}

/** The scenes of Manim's documentation. */
async function documentedScenes(): Promise<LayoutScene[]> {
  const { stdout } = await promisify(execFile)(join(ROOT, '.venv/bin/python'), ['-m', 'fidelity.corpus'], {
    cwd: join(ROOT, 'test/renderer'),
    env: { ...process.env, PYTHONPATH: `.:${join(ROOT, 'renderer')}` },
    maxBuffer: MOST_BYTES,
  });
  const scenes = JSON.parse(stdout) as { name: string; className: string; code: string }[];
  return scenes.map(({ name, ...scene }) => ({ group: name, ...scene, faults: [] }));
}

function printMisses({ className, faults, found, findings }: Inspected): void {
  if (found === faults.length) return;
  const planted = faults.map(({ kind, variable }) => `${kind} ${variable}`).join(', ');
  console.log(`missed: ${className}: ${planted} / ${findings.join('; ') || 'nothing'}`);
}

function print(name: string, scenes: Inspected[]): void {
  const blamed = scenes.filter((scene) => scene.blamed.length > 0).length;
  const ms = (of: (scene: Inspected) => number) => {
    const times = scenes.map(of);
    return `${median(times).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} ms`;
  };
  const ratio = median(scenes.map(({ checkMs, inspectMs }) => inspectMs / checkMs));
  console.log(
    `${name}: ${scenes.length} scenes, ${blamed} (${((100 * blamed) / scenes.length).toFixed(1)} %) blamed wrongly; ` +
      `check ${ms(({ checkMs }) => checkMs)}, inspect ${ms(({ inspectMs }) => inspectMs)} (median / p95), ` +
      `${ratio.toFixed(2)} × a check (median)`,
  );
}

function printFound(scenes: Inspected[]): void {
  for (const [group, some] of [...Map.groupBy(scenes, ({ group }) => group), ['all', scenes] as const]) {
    const planted = some.reduce((sum, { faults }) => sum + faults.length, 0);
    const found = some.reduce((sum, one) => sum + one.found, 0);
    console.log(`${group.padEnd(14)}${`${found}/${planted}`.padStart(8)}`);
  }
}
