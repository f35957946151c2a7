import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Finding, LocalRenderer } from '../../lib/index.ts';
import { type BrokenScene, brokenScenes } from '../../test/fixtures/broken-scenes.ts';
import { median, quantile } from './numbers.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Checked extends BrokenScene {
  finding: Finding | undefined;
  ms: number;
  /** The first finding without a dry run. */
  read: Finding | undefined;
  readMs: number;
}

/** A scene that renders. */
interface GoodScene {
  name: string;
  code: string;
  className?: string;
}

/** The aspects of a finding that the corpus predicts. */
const ASPECTS: Record<string, (checked: Checked) => boolean | undefined> = {
  found: ({ finding }) => finding !== undefined,
  kind: ({ finding, kind }) => finding?.kind === kind,
  line: ({ finding, line }) => finding?.line === line,
  read: ({ read }) => read !== undefined,
  'its line': ({ read, line }) => (read === undefined ? undefined : read.line === line),
  hint: ({ finding, replacement }) => (replacement === undefined ? undefined : names(finding, replacement)),
};

/**
 * Checks the broken scenes, and prints how many were found, with the right kind, line and replacement; beside it, without a
 * dry run (`read`). Then reads scenes that render, and prints in which something was found.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { group: { type: 'string', multiple: true } } });
  const scenes = brokenScenes().filter(({ group }) => !values.group || values.group.includes(group));
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-check-'));
  const renderer = new LocalRenderer({ folder, workers: 1 });
  const all: Checked[] = [];
  const timed = async (code: string, className: string | undefined, dryRun: boolean) => {
    const startedMs = performance.now();
    const named = className === undefined ? {} : { className };
    const { findings } = await renderer.check(code, { ...named, quality: 'low', dryRun });
    return { findings, ms: performance.now() - startedMs };
  };
  try {
    await renderer.start();
    await timed('x = 1', undefined, false);
    for (const scene of scenes) {
      const read = await timed(scene.code, 'Demo', false);
      const { findings, ms } = await timed(scene.code, 'Demo', true);
      all.push({ ...scene, finding: findings[0], ms, read: read.findings[0], readMs: read.ms });
    }
    if (!values.group) {
      const good = await goodScenes();
      const falseAlarms: string[] = [];
      const times: number[] = [];
      for (const { name, code, className } of good) {
        const { findings, ms } = await timed(code, className, false);
        times.push(ms);
        falseAlarms.push(...findings.map(({ line, message }) => `${name}:${line}: ${message}`));
      }
      console.log(`\n${good.length} scenes that render were read, ${ofTimes(times)}; found in them:`);
      console.log(falseAlarms.join('\n') || 'nothing');
    }
  } finally {
    await renderer.stop();
    await rm(folder, { recursive: true, force: true });
  }
  for (const checked of all) printMisses(checked);
  console.log(
    `\n${'group'.padEnd(12)}${[...Object.keys(ASPECTS), ...TIMES].map((name) => name.padStart(9)).join('')}`,
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

const TIMES = ['ms', 'p95', 'read ms', 'p95'];

function timesOf(some: Checked[]): string[] {
  const times = [some.map(({ ms }) => ms), some.map(({ readMs }) => readMs)];
  return times.flatMap((ms) => [median(ms).toFixed(0), quantile(ms, 0.95).toFixed(0)]);
}

function ofTimes(times: number[]): string {
  return `median ${median(times).toFixed(0)} ms, 95 % within ${quantile(times, 0.95).toFixed(0)} ms`;
}

/** The examples of Manim's documentation and of the dashboard, and the scenes whose layout is inspected. */
async function goodScenes(): Promise<GoodScene[]> {
  const list =
    'import json; from fidelity import corpus; print(json.dumps([e.__dict__ for e in corpus.documented()]))';
  const PYTHONPATH = [join(ROOT, 'renderer'), join(ROOT, 'test/renderer')].join(':');
  const { stdout } = await promisify(execFile)(join(ROOT, '.venv/bin/python'), ['-c', list], {
    env: { ...process.env, PYTHONPATH },
    maxBuffer: 64 * 1024 * 1024,
  });
  const documented = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as (Required<
    Omit<GoodScene, 'className'>
  > & {
    class_name: string;
  })[];
  const found: GoodScene[] = documented.map(({ name, code, class_name }) => ({
    name,
    code,
    className: class_name,
  }));
  for (const folder of ['appliance/dashboard/examples', 'test/fixtures/layouts']) {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    for (const name of names.filter((one) => one.endsWith('.py')))
      found.push({ name, code: await readFile(join(ROOT, folder, name), 'utf8') });
  }
  return found;
}
