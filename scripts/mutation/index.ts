/**
 * Mutation tests: `npm run mutation` for all rooms, `npm run mutation -- ledger` for one, `npm run mutation --
 * jobs/job-book.ts` for one file of a room.
 *
 * Stryker changes the code of a room in one place at a time and runs the room's own tests; a change that no test
 * notices has survived. Survivors are printed, and shown in `.setup/mutation/ROOM.html`.
 */
import { existsSync, globSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../install-packages.ts';

/** The parts of Stryker in use. */
interface Stryker {
  Stryker: new (options: object) => { runMutationTest: () => Promise<{ status: string }[]> };
}

/** The rooms of `lib/`, with those of their tests that are left out, as they start processes or take long. */
const ROOMS: Record<string, string[]> = {
  ledger: [],
  keys: [],
  jobs: [
    'a-job-whose-renderer-dies',
    'a-missing-artifact',
    'a-stop-rejects-wait',
    'an-unreadable-source',
    'no-free-descriptors',
    'paused-queue',
  ],
  webhooks: [
    'embedding',
    'hostile-receivers',
    'killed-service',
    'one-account-does-not-delay-others',
    'one-receiver-does-not-delay-others',
    'sending-thread',
  ],
};

const ROOT = join(import.meta.dirname, '../..');
const RESULTS = '.setup/mutation';
/** In memory, where every flush of a test's database is quick. */
const SANDBOXES = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scenepress-mutation');

process.chdir(ROOT);
const targets = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(ROOMS);
const unknown = targets.map(roomOf).filter((room) => !Object.hasOwn(ROOMS, room));
if (unknown.length > 0) {
  console.error(`There is no room ${unknown.join(', ')}. The rooms are ${Object.keys(ROOMS).join(', ')}.`);
  process.exit(2);
}
installPackages(import.meta.dirname, 'Stryker');
// The same sources run thousands of times: cache them without types.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, '.setup/compiled');
// Repetitions of random histories.
process.env['RUNS'] ??= '20';

const rows: string[][] = [['room', 'mutants', 'killed', 'survived', '%']];
for (const target of targets) {
  const statuses = (await mutate(target))
    .map(({ status }) => status)
    .filter((status) => status !== 'Ignored');
  const survived = statuses.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
  const killed = statuses.length - survived;
  rows.push([
    target,
    ...[statuses.length, killed, survived].map(String),
    ((100 * killed) / statuses.length).toFixed(1),
  ]);
}
for (const [target = '', ...figures] of rows) {
  console.log(target.padEnd(10) + figures.map((figure) => figure.padStart(10)).join(''));
}

function roomOf(target: string): string {
  return target.split('/', 1).join();
}

async function mutate(target: string): Promise<{ status: string }[]> {
  // Not a literal: types are also checked where this package isn't installed.
  const name = '@stryker-mutator/core';
  const { Stryker }: Stryker = await import(name);
  const room = roomOf(target);
  const leftOut = ROOMS[room] ?? [];
  const stryker = new Stryker({
    mutate: [target === room ? `lib/${room}/*.ts` : `lib/${target}`],
    ignorePatterns: [
      '*',
      '!appliance/**',
      '!lib/**',
      '!renderer/**',
      '!scripts/*',
      '!test/**',
      '!package.json',
    ],
    tempDirName: SANDBOXES,
    testRunner: 'tap',
    tap: {
      testFiles: globSync(`test/lib/${room}/*.test.ts`).filter(
        (path) => !leftOut.some((name) => path.includes(name)),
      ),
    },
    plugins: [import.meta.resolve('@stryker-mutator/tap-runner'), join(import.meta.dirname, 'messages.ts')],
    ignorers: ['messages'],
    // Types are only stripped.
    disableTypeChecks: false,
    concurrency: availableParallelism(),
    incremental: true,
    incrementalFile: `${RESULTS}/${room}.json`,
    reporters: ['progress-append-only', 'clear-text', 'html'],
    clearTextReporter: { reportTests: false, reportScoreTable: false, logTests: false },
    htmlReporter: { fileName: `${RESULTS}/${room}.html` },
    allowEmpty: false,
  });
  return stryker.runMutationTest();
}
