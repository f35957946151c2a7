/** Runs the programs of a plan in a process of tap, and prints what it says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Program, Suite } from './plan.ts';
import { failedTitles, parseEnd, withoutPassed } from './tap-lines.ts';

/** What a program, or the whole run, has used. */
export interface Used {
  wallS: number;
  /** Of its processes, user and system. */
  cpuS: number;
}

/** Counts are of assertions. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** Titles of what failed, indented by their depth. */
  failures: string[];
  /** Seconds of each file that passed. */
  times: Map<string, number>;
  programs: { program: Program; used: Used }[];
  total: Used;
}

const TAP_OUTPUT = '.setup/tests.tap';
/** The plan, and what its programs have used. */
const RUN = '.setup/test-run';

/** Files of several suites run as many of their cases as `suite` says. */
export async function runPlan(programs: Program[], suite: Suite): Promise<Outcome> {
  rmSync(RUN, { recursive: true, force: true });
  mkdirSync(RUN);
  const plan = join(RUN, 'plan.json');
  writeFileSync(plan, JSON.stringify(programs));
  const total = join(RUN, 'total.json');
  const script = join(import.meta.dirname, 'run-programs.ts');
  const measured = ['-I', '-S', join(import.meta.dirname, 'measured.py'), total];
  const tap = spawn('python3', [...measured, process.execPath, script, plan], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SCENEPRESS_TESTS: suite },
  });
  const ended = once(tap, 'close');
  const raw = createWriteStream(TAP_OUTPUT);

  const outcome: Outcome = {
    passed: 0,
    failed: 0,
    skipped: 0,
    failures: [],
    times: new Map(),
    programs: [],
    total: { wallS: 0, cpuS: 0 },
  };
  const names = programs.map(({ name }) => name);
  let lines: string[] = [];
  let describing = false;
  let counts: Map<string, number> | undefined;
  for await (const line of createInterface({ input: tap.stdout })) {
    raw.write(`${line}\n`);
    if (describing && line.startsWith('  ')) {
      console.log(line);
      continue;
    }
    describing = false;
    lines.push(line);
    const end = parseEnd(line);
    if (end && end.depth === 0) {
      const program = programs[names.indexOf(end.name)];
      for (const { name, ok, s } of program ? endsOfFiles(lines, program) : []) {
        console.log(`${ok ? 'ok' : 'not ok'} ${name} (${s.toFixed(1)} s)`);
        if (ok) outcome.times.set(name, s);
      }
      if (!end.ok) {
        const problems = withoutPassed(lines);
        console.log(problems.join('\n'));
        outcome.failures.push(...failedTitles(problems));
        printProcesses(names.indexOf(end.name));
      }
      lines = [];
      // A description of the failure follows.
      describing = !end.ok;
    } else if (line.startsWith('# {')) {
      counts = new Map(
        [...line.matchAll(/(\w+): (\d+)/g)].map(([, key, count]) => [`${key}`, Number(count)]),
      );
    } else if (line.startsWith('Bail out')) {
      console.log(line);
    }
  }

  const [code, signal] = await ended;
  raw.end();
  for (const [index, program] of programs.entries()) {
    const used = readUsed(join(RUN, `${index}.json`));
    if (used) outcome.programs.push({ program, used });
  }
  outcome.total = readUsed(total) ?? outcome.total;
  if (!counts) {
    outcome.failures.push(`tap ended without a result (${signal ?? `status ${code}`}).`);
    outcome.failed = 1;
    return outcome;
  }
  const failed = counts.get('fail') ?? 0;
  outcome.passed = counts.get('pass') ?? 0;
  outcome.failed = failed === 0 && code !== 0 ? 1 : failed;
  outcome.skipped = (counts.get('skip') ?? 0) + (counts.get('todo') ?? 0);
  return outcome;
}

/** The files of a program: in a group, its subtests; otherwise the program itself. */
function endsOfFiles(lines: string[], { isGroup }: Program): { name: string; ok: boolean; s: number }[] {
  return lines.flatMap((line) => {
    const end = parseEnd(line);
    return end && end.depth === (isGroup ? 1 : 0) ? [end] : [];
  });
}

/** What a program that timed out was doing. */
function printProcesses(index: number): void {
  const path = join(RUN, `${index}.processes`);
  if (!existsSync(path)) return;
  console.log('Its processes when it timed out (id, parent, state, where it waits, command):');
  console.log(readFileSync(path, 'utf8'));
}

/** `undefined` if a program was ended before it could be measured. */
function readUsed(path: string): Used | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Used) : undefined;
}
