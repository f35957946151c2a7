/** Where the time of a run went. */
import { readFileSync } from 'node:fs';
import type { Suite } from './plan.ts';
import type { Outcome } from './run-plan.ts';

const SLOWEST = 10;
/** A row of the table of folders in the manual of the tests: the seconds of processor time that they may take. */
const BUDGET = /^\| `(\S+)\/` \|.*\| (\d+) \| (\d+) \|$/gm;

/** Prints the times of each folder, with its budget, and the slowest files. */
export function printTimes({ programs, times, total }: Outcome, suite: Suite): void {
  const rows = new Map<string, { files: number; cpuS: number; wallS: number }>();
  for (const { program, used } of programs) {
    const [, folder = ''] = program.files[0]?.split('/') ?? [];
    const row = rows.get(folder) ?? { files: 0, cpuS: 0, wallS: 0 };
    row.files += program.files.length;
    row.cpuS += used.cpuS;
    row.wallS += used.wallS;
    rows.set(folder, row);
  }
  const budgets = budgetsOf(suite);
  console.log(`\n${line(['folder', 'files', 'CPU s', 'budget', 'wall s'])}`);
  for (const [folder, { files, cpuS, wallS }] of [...rows].sort((a, b) => b[1].cpuS - a[1].cpuS)) {
    const budget = budgets.get(folder);
    const over = budget !== undefined && cpuS > budget ? '  over its budget' : '';
    console.log(line([folder, files, cpuS, budget ?? '', wallS]) + over);
  }
  const files = programs.reduce((sum, { program }) => sum + program.files.length, 0);
  console.log(line(['all', files, total.cpuS, '', total.wallS]));
  console.log('\nThe slowest files, in seconds:');
  const slowest = [...times].sort((a, b) => b[1] - a[1]).slice(0, SLOWEST);
  for (const [path, s] of slowest) console.log(`${s.toFixed(1).padStart(8)}  ${path}`);
}

function line([name = '', ...figures]: (string | number)[]): string {
  const cells = figures.map((figure) =>
    (typeof figure === 'number' ? figure.toFixed(0) : figure).padStart(9),
  );
  return `${String(name)}`.padEnd(14) + cells.join('');
}

function budgetsOf(suite: Suite): Map<string, number> {
  if (suite === 'release') return new Map(); // It has none.
  const rows = readFileSync('test/README.md', 'utf8').matchAll(BUDGET);
  const ofRow = (quick: number, added: number) => ({ quick, rest: added, deep: quick + added })[suite];
  return new Map(
    [...rows].map(([, folder = '', quick, added]) => [folder, ofRow(Number(quick), Number(added))]),
  );
}
