/**
 * Runs the tests: `npm test`, or `npm test -- lib/webhooks test/appliance/cors.test.ts` for those of some folders or
 * files.
 *
 *   --deep        runs all tests, instead of the quick ones (`npm run test:deep`)
 *   --rest        runs those of the deep ones that the quick ones leave
 *   --release     runs all, with all their cases (`npm run test:release`)
 *   --shard 1/4   runs a part of them, on one of several machines
 *   --limit 30    ends a program after so many seconds, instead of a small multiple of its usual time
 *   --record      stores how long the files have taken, in `test/usual-times.json`
 *
 * Prints one line for each file, the full output of what failed, where the time went, and at the end a list of what
 * failed. The last line contains the counts, which are also written to `.setup/tests.summary`. The output of tap is stored
 * in `.setup/tests.tap`.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { programsFor, type Suite, shardOf, testFiles } from './plan.ts';
import { printTimes } from './report.ts';
import { runPlan } from './run-plan.ts';
import { keepTimes, recordTimes, usualTimes } from './usual-times.ts';

/** How much longer programs may take with all their cases. */
const RELEASE_FACTOR = 5;

process.chdir(join(import.meta.dirname, '../..'));
mkdirSync('.setup', { recursive: true });
// Hundreds of processes run the same sources: cache them without types.
process.env['NODE_COMPILE_CACHE'] ??= join(process.cwd(), '.setup/compiled');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    deep: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    release: { type: 'boolean', default: false },
    shard: { type: 'string' },
    limit: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const suite: Suite = values.release ? 'release' : values.rest ? 'rest' : values.deep ? 'deep' : 'quick';
const isDeep = suite !== 'quick';
const usual = usualTimes(isDeep);
const files = chosenFiles();
if (files.length === 0) {
  console.error('There are no such tests. To run those that `npm test` leaves: npm run test:deep -- PATH');
  process.exit(1);
}

const programs = programsFor(files, usual);
if (suite === 'release') for (const program of programs) program.limitS *= RELEASE_FACTOR;
if (values.limit !== undefined) for (const program of programs) program.limitS = Number(values.limit);
const outcome = await runPlan(programs, suite);
// With all its cases a file takes longer.
if (suite !== 'release') keepTimes(outcome.times, isDeep);
if (values.record) recordTimes(outcome.times, isDeep, testFiles([], 'release'));
printTimes(outcome, suite);
if (outcome.failures.length > 0) console.log(`\nFailed:\n  ${outcome.failures.join('\n  ')}`);
const { passed, failed, skipped } = outcome;
const summary = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
writeFileSync('.setup/tests.summary', `${summary}\n`);
console.log(`\n${summary}`);
process.exitCode = failed > 0 ? 1 : 0;

function chosenFiles(): string[] {
  rmSync('.setup/tests.summary', { force: true });
  try {
    const found = testFiles(positionals, suite);
    if (values.shard === undefined) return found;
    const [, index, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.shard) ?? [];
    if (index === undefined || Number(index) > Number(count))
      throw new Error('--shard needs a value such as 1/4.');
    return shardOf(found, usual, [Number(index), Number(count)]);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
