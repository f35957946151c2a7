/**
 * Mutation tests: `npm run mutation` for all folders, `npm run mutation -- ledger` for one, `npm run mutation --
 * jobs/admission` for one module.
 *
 * Stryker changes the code in one place at a time and runs tests; a change that no test notices has survived. A module
 * with a test file of its own name has to be covered by that file alone ({@link TESTS}: by these), the others by the
 * tests of their folder.
 * Survivors are printed, and shown in `.setup/mutation/FOLDER/`. In the figures, those that hang are among the killed.
 */
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { installPackages } from '../install-packages.ts';

/** The parts of Stryker in use. */
interface Stryker {
  Stryker: new (options: object) => { runMutationTest: () => Promise<{ status: string }[]> };
}

/**
 * The folders of `lib/`, with the tests and modules that are left out: these tests start processes or take long, and
 * the tests of `outbound-thread` wait for a thread to hang.
 */
const FOLDERS: Record<string, string[]> = {
  ledger: [],
  keys: [],
  jobs: [
    'a-job-whose-renderer-dies',
    'a-missing-artifact',
    'a-stop-rejects-wait',
    'an-unreadable-source',
    'forgetting-an-owner',
    'paused-queue',
    'too-many-failures',
  ],
  webhooks: [
    'delivering',
    'embedding',
    'hostile-receivers',
    'one-receiver-does-not-delay-others',
    'outbound-thread',
  ],
};

/** Modules that are checked by other files than one of their own name. */
const TESTS: Record<string, string[]> = {
  'jobs/admission': ['admission', 'job-book', 'recovery'],
  'jobs/job-ending': ['job-ending', 'job-book', 'recovery', 'recover-jobs'],
  'webhooks/deliveries': ['deliveries', 'failed-deliveries-are-sent-again-once'],
  'webhooks/delivery-book': ['delivery-book', 'failed-deliveries-are-sent-again-once'],
};

/**
 * Modules that run in a thread, which leaves no figures of what its tests execute: their tests run for every mutant, and
 * results are not kept.
 */
const IN_THREADS = ['webhooks/sending-thread'];

const ROOT = join(import.meta.dirname, '../..');
const RESULTS = '.setup/mutation';
/** In memory, where every flush of a test's database is quick. */
const TEMPORARY = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `scenepress-mutation-${process.pid}`);
/**
 * A mutant whose tests take longer than this plus {@link TIMEOUT_FACTOR} times their usual duration counts as killed:
 * it hangs. Much longer than the tests take on a machine that has become busy since they were timed.
 */
const TIMEOUT_MS = 15_000;
const TIMEOUT_FACTOR = 4;

process.chdir(ROOT);
const targets = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(FOLDERS);
for (const target of targets) {
  const [folder = '', module = '*'] = target.split('/');
  if (Object.hasOwn(FOLDERS, folder) && globSync(`lib/${folder}/**/${module}.ts`).length > 0) continue;
  console.error(`There is no ${target}. The folders are ${Object.keys(FOLDERS).join(', ')}.`);
  process.exit(2);
}
installPackages(import.meta.dirname, 'Stryker');
// The same sources run thousands of times: cache them without types.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, '.setup/compiled');
process.env['TMPDIR'] = join(TEMPORARY, 'tmp');
mkdirSync(process.env['TMPDIR'], { recursive: true });
// Tests of mutants that hang are killed and leave files.
process.once('exit', () => rmSync(TEMPORARY, { recursive: true, force: true }));
// By default, tap fails a file after 30 s, which a busy machine alone can cause.
process.env['TAP_TIMEOUT'] ??= '900';
// Repetitions of random histories.
process.env['RUNS'] ??= '20';

const rows: string[][] = [['folder', 'mutants', 'killed', 'hanging', 'survived', '%']];
for (const target of targets) {
  const statuses: string[] = [];
  for (const run of runsOf(target)) statuses.push(...(await mutate(run)));
  const survived = statuses.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
  const hanging = statuses.filter((status) => status === 'Timeout').length;
  const killed = statuses.length - survived;
  rows.push([
    target,
    ...[statuses.length, killed, hanging, survived].map(String),
    ((100 * killed) / statuses.length).toFixed(1),
  ]);
}
for (const [target = '', ...figures] of rows) {
  console.log(target.padEnd(24) + figures.map((figure) => figure.padStart(10)).join(''));
}

interface Run {
  folder: string;
  /** Names its files of results. */
  name: string;
  modules: string[];
  tests: string[];
}

/** A run for each module with its own test, and one for all others. */
function runsOf(target: string): Run[] {
  const [folder = '', chosen = '*'] = target.split('/');
  const leftOut = FOLDERS[folder] ?? [];
  const tests = globSync(`test/lib/${folder}/**/*.test.ts`, { exclude: ['**/*.deep.test.ts'] }).sort();
  const others: Run = {
    folder,
    name: chosen === '*' ? 'others' : chosen,
    modules: [],
    tests: tests.filter((path) => !leftOut.includes(basename(path, '.test.ts'))),
  };
  const runs: Run[] = [];
  for (const module of globSync(`lib/${folder}/**/${chosen}.ts`).sort()) {
    const name = basename(module, '.ts');
    if (leftOut.includes(name)) continue;
    const names = TESTS[`${folder}/${name}`] ?? [name];
    const own = tests.filter((path) => names.includes(basename(path, '.test.ts')));
    if (own.length > 0) runs.push({ folder, name, modules: [module], tests: own });
    else others.modules.push(module);
  }
  return others.modules.length > 0 ? [...runs, others] : runs;
}

/** The states of the mutants. */
async function mutate({ folder, name, modules, tests }: Run): Promise<string[]> {
  // Not a literal: types are also checked where this package isn't installed.
  const stryker = '@stryker-mutator/core';
  const { Stryker }: Stryker = await import(stryker);
  const isInThread = IN_THREADS.includes(`${folder}/${name}`);
  const mutants = await new Stryker({
    mutate: modules,
    ignorePatterns: [
      '*',
      '!appliance/**',
      '!lib/**',
      '!renderer/**',
      '!scripts/*',
      '!test/**',
      '!package.json',
    ],
    tempDirName: join(TEMPORARY, 'sandboxes'),
    timeoutMS: TIMEOUT_MS,
    timeoutFactor: TIMEOUT_FACTOR,
    testRunner: isInThread ? 'command' : 'tap',
    tap: { testFiles: tests },
    commandRunner: { command: tests.map((path) => `TAP_BAIL=1 node ${path}`).join(' && ') },
    plugins: [import.meta.resolve('@stryker-mutator/tap-runner'), join(import.meta.dirname, 'messages.ts')],
    ignorers: ['messages'],
    // Types are only stripped.
    disableTypeChecks: false,
    concurrency: Number(process.env['CONCURRENCY'] ?? availableParallelism()),
    incremental: !isInThread,
    incrementalFile: `${RESULTS}/${folder}/${name}.json`,
    reporters: ['progress-append-only', 'clear-text', 'html'],
    clearTextReporter: { reportTests: false, reportScoreTable: false, logTests: false },
    htmlReporter: { fileName: `${RESULTS}/${folder}/${name}.html` },
    allowEmpty: true,
  }).runMutationTest();
  return mutants.map(({ status }) => status).filter((status) => status !== 'Ignored');
}
