import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compiled } from './compiled.ts';
import type { ScaleReport } from './scale-folder.ts';
import { fill } from './stored-jobs.ts';

/** The printed figures of a report, and their limits for a million jobs. */
const LINES: [name: string, figure: keyof ScaleReport, most: string][] = [
  ['start, ms', 'startMs', '500'],
  ['memory after the start, MiB', 'memoryMib', '200'],
  ['slowest page of a listing, ms', 'listingMs', '5'],
  ['forgetting a job, ms', 'forgetMs', '100'],
  ['backup, s', 'backupSeconds', '60'],
  ['  commits meanwhile, p99 ms', 'backupCommitMs', '50'],
  ['  loop held meanwhile, most ms', 'backupLoopMs', ''],
  ['new master key, s', 'rotationSeconds', ''],
  ['  commits meanwhile, p99 ms', 'rotationCommitMs', '50'],
  ['audit, s', 'auditSeconds', '60'],
  ['  commits meanwhile, p99 ms', 'auditCommitMs', '50'],
  ['  loop held meanwhile, most ms', 'auditLoopMs', ''],
  ['commit, p99 ms', 'commitMs', ''],
  ['bytes on disk per job', 'bytesPerJob', ''],
];

/**
 * Measures operations that take longer with more jobs: for each size in a separate process, on a data folder of ended
 * jobs with their own webhooks and secrets. Extrapolates to ten times the largest size from the growth between the
 * last two sizes.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { jobs: { type: 'string', multiple: true, default: ['10000', '100000', '1000000'] } },
  });
  const sizes = values.jobs.map(Number);
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  try {
    const reports: ScaleReport[] = [];
    let stored = 0;
    for (const jobs of sizes) {
      await fill(join(folder, 'data'), jobs - stored, { secrets: true });
      stored = jobs;
      const report = await measure(folder, jobs);
      reports.push(report);
      console.error(`${jobs} jobs: ${JSON.stringify(report)}`);
    }
    print(sizes, reports);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, jobs: number): Promise<ScaleReport> {
  const program = compiled('scale-folder.ts');
  const child = fork(program, [folder, String(jobs)], { execArgv: ['--expose-gc'] });
  const exit = once(child, 'exit');
  const [answer] = await Promise.race([once(child, 'message'), exit]);
  const [code] = await exit;
  if (code !== 0) throw new Error(`The measurement ended with exit code ${code}.`);
  return answer as ScaleReport;
}

function print(sizes: number[], reports: ScaleReport[]): void {
  const largest = sizes.at(-1) as number;
  console.log(row('', ...sizes.map((jobs) => `${jobs}`), `${largest * 10} *`, 'at most'));
  for (const [name, figure, most] of LINES) {
    const figures = reports.map((report) => report[figure]);
    const computed = extrapolated(sizes, figures);
    console.log(row(name, ...[...figures, computed].map(shown), most));
  }
  console.log('* computed');
}

function extrapolated(sizes: number[], figures: number[]): number {
  const [size0, size1] = sizes.slice(-2) as [number, number];
  const [figure0, figure1] = figures.slice(-2) as [number, number];
  if (figure1 === undefined) return Number.NaN;
  return Math.max(figure1, figure1 + ((figure1 - figure0) / (size1 - size0)) * 9 * size1);
}

function shown(figure: number): string {
  if (Number.isNaN(figure)) return '';
  return figure < 10 ? figure.toFixed(1) : figure.toFixed(0);
}

function row(first: string, ...cells: string[]): string {
  return (first.padEnd(34) + cells.map((cell) => cell.padStart(12)).join('')).trimEnd();
}
