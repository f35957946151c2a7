import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import type { EventReport, MonthReport } from '../../scripts/bench/month/program.ts';
import { noMounts } from '../fixtures/mounts.ts';

const BENCH = join(import.meta.dirname, '../../scripts/bench/index.ts');
const LEAST_EVENTS = 15;

t.test('a short month of operations loses no job and no credit', { skip: noMounts() }, async (t) => {
  const { stdout, stderr } = spawnSync(process.execPath, [BENCH, 'month', '--short', '--json'], {
    encoding: 'utf8',
  });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const sums = lines.pop() as MonthReport;
  const events = lines as EventReport[];
  for (const { event, outcome, seconds, note } of events)
    t.not(outcome, 'lost', `${event}: ${outcome}, next job after ${seconds} s. ${note}`);
  const happened = events.filter(({ outcome }) => outcome !== 'not run').length;
  t.ok(happened >= LEAST_EVENTS, `${happened} events happened. ${stderr}`);
  t.match(sums, { failed: 0, lost: 0, creditsExact: true, creditsNote: '', notDelivered: 0 });
  t.equal(sums.completed, sums.posted);
  t.ok(sums.posted >= 2 * happened, `${sums.posted} jobs`);
});
