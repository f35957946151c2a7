/**
 * Runs the tests: `npm test`, or `npm test -- test/lib test/appliance/keys.test.ts` for some of them.
 *
 * Prints one line per file, the full output of failed files, and at the end what failed. The last line contains the
 * counts, which are also written to `.setup/tests.summary`. The output of tap is stored in `.setup/tests.tap`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = join(import.meta.dirname, '..');
process.chdir(root);
mkdirSync('.setup', { recursive: true });

const TAP_OUTPUT = '.setup/tests.tap';
rmSync(TAP_OUTPUT, { force: true });
// Hundreds of processes run the same sources: cache them without types.
process.env['NODE_COMPILE_CACHE'] ??= join(root, '.setup/compiled');

const FOLDERS = [
  'test/scripts',
  'test/lib',
  'test/checks',
  'test/appliance',
  'test/dashboard',
  'test/cluster',
  'test/crashes',
  'test/simulator',
  'test/examples',
  'test/renders',
  'test/binary/smoke',
];

/** How many files run at once, on two cores: most tests wait for the disk or a process for much of their time. */
const [MANY, FEW, ONE] = [3, 2, 1];

const given = process.argv.slice(2);
const files = (given.length > 0 ? given : FOLDERS).flatMap(testFiles);
const results: Counts = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
let rootBuilt: Promise<unknown> | undefined;
for (const atOnce of [MANY, FEW, ONE]) {
  const names = files.filter((name) => atOnceWith(name) === atOnce);
  if (names.length === 0) continue;
  if (atOnce === FEW && given.length === 0) rootBuilt = buildRootAhead();
  if (atOnce === ONE) await rootBuilt;
  const { passed, failed, skipped } = await runTap(names, atOnce);
  results.passed += passed;
  results.failed += failed;
  results.skipped += skipped;
}
if (results.passed + results.failed === 0) {
  console.log('No tests were run.');
  results.failed = 1;
}
if (failures.length > 0) console.log(`Failed:\n  ${failures.join('\n  ')}`);
const skipped = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
const summary = `${results.passed} passed, ${results.failed} failed${skipped}`;
writeFileSync('.setup/tests.summary', `${summary}\n`);
console.log(summary);
process.exitCode = results.failed > 0 ? 1 : 0;

function atOnceWith(name: string): number {
  // What attacks may use is limited by the time that they take.
  if (/^test\/(binary|first-hours|renders\/attacks)/.test(name)) return ONE;
  return name.startsWith('test/renders/') ? FEW : MANY;
}

/**
 * Builds the renderer root while renders are tested: it takes minutes of one core. Uses the options of the smoke test,
 * which otherwise builds it, and which reports errors. Only root runs that test.
 */
async function buildRootAhead(): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const build = ['scripts/root/build.ts', '--compression', '3', '--accept-newer'];
  await once(spawn(process.execPath, build, { stdio: 'ignore' }), 'close');
}

function testFiles(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) {
    console.error(`There are no tests in ${path}.`);
    process.exit(1);
  }
  if (found.isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => join(path, name));
}

/** The name of a file, its failed tests and their failed assertions, indented. */
function titlesOfFailures(lines: string[]): string[] {
  const titles = lines.flatMap((line) => /^ *not ok \d+ - .*?(?=$| # time=)/.exec(line) ?? []);
  return titles.reverse(); // In TAP, what contains others follows them.
}

async function runTap(files: string[], atOnce: number): Promise<Counts> {
  const tap = spawn(process.execPath, ['scripts/run-test-files.ts', String(atOnce), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(tap, 'close');
  const raw = createWriteStream(TAP_OUTPUT, { flags: 'a' });

  let file: string[] = [];
  let describing = false;
  let counts: Map<string, number> | undefined;
  for await (const line of createInterface({ input: tap.stdout })) {
    raw.write(`${line}\n`);
    file.push(line);
    const [, not, name] = /^(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (name) {
      const problems = file.filter((line) => !/^\s+ok /.test(line));
      console.log(not ? problems.join('\n') : `ok ${name}`);
      if (not) failures.push(...titlesOfFailures(problems));
      file = [];
      // A description of the failure follows.
      describing = not !== undefined;
    } else if (line.startsWith('# {')) {
      counts = new Map(
        [...line.matchAll(/(\w+): (\d+)/g)].map(([, key, count]) => [`${key}`, Number(count)]),
      );
    } else if (line.startsWith('Bail out') || (describing && line.startsWith('  '))) {
      console.log(line);
      // tap doesn't show the output of the test.
      const [, hung] = /^ {2}expired: (.*)$/.exec(line) ?? [];
      if (hung) console.log(`The test timed out. To debug it, run it alone: npm test -- ${hung}`);
    } else {
      describing = false;
    }
  }

  const [code, signal] = await ended;
  raw.end();
  if (!counts) {
    console.log(`tap ended without a result (${signal ?? `status ${code}`}).`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const failed = counts.get('fail') ?? 0;
  return {
    passed: counts.get('pass') ?? 0,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: (counts.get('skip') ?? 0) + (counts.get('todo') ?? 0),
  };
}
