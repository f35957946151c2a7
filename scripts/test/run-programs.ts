/**
 * Runs the programs of a plan with tap, several at once: `node scripts/test/run-programs.ts PLAN`. Writes what each has
 * used beside the plan, in `N.json`.
 *
 * Unlike the command `tap`, it loads nothing into the processes that it starts, nor into theirs: the module hooks that
 * tap needs for mocks and coverage double the time that a program takes to start.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { CAPACITY, type Program } from './plan.ts';
import { describeProcesses } from './processes.ts';

const MEASURED = join(import.meta.dirname, 'measured.py');
/** Written before tap ends a program that has timed out. */
const BEFORE_END_MS = 2_000;
/** tap adds its hooks to this variable. */
const NODE_OPTIONS = process.env['NODE_OPTIONS'] ?? '';
const FLAGS = ['-I', '-S']; // Python starts faster.

const plan = process.argv[2] ?? '';
const programs: Program[] = JSON.parse(readFileSync(plan, 'utf8'));
t.jobs = programs.length;
t.setTimeout(0);
const waiting = [...programs.entries()];
let free = CAPACITY;
startNext();

/** Starts the next ones for which there is room. None passes another: it would leave no room for a heavier one. */
function startNext(): void {
  for (let [next] = waiting; next && next[1].weight <= free; [next] = waiting) {
    waiting.shift();
    void run(...next);
  }
}

async function run(index: number, { name, command, limitS, weight }: Program): Promise<void> {
  free -= weight;
  const report = join(dirname(plan), `${index}.json`);
  const running = t.spawn('python3', [...FLAGS, MEASURED, report, ...command], {
    name,
    buffered: true,
    timeout: limitS * 1_000 + BEFORE_END_MS,
    env: { ...process.env, NODE_OPTIONS, TAP_TIMEOUT: `${limitS + BEFORE_END_MS / 1_000}` },
  });
  const timer = setTimeout(() => {
    const pid = running.subtest?.proc?.pid;
    if (pid) writeFileSync(join(dirname(plan), `${index}.processes`), describeProcesses(pid));
  }, limitS * 1_000);
  await running;
  clearTimeout(timer);
  free += weight;
  startNext();
}
