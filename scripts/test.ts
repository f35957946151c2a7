/**
 * Runs the tests: `npm test`, or `npm test -- test/lib test/appliance/keys.test.ts` for some of them.
 *
 * Prints one line per file, and the full output of failed files. The last line contains the counts, which are also
 * written to `.setup/tests.summary`. The output of tap is stored in `.setup/tests.tap`.
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

// Fast tests first, to report mistakes within seconds. One run of tap per group, because tap sorts files by name.
const [RENDERS, SMOKE] = ['test/renders', 'test/binary/smoke'];
const GROUPS = [
  ['test/scripts'],
  ['test/lib'],
  ['test/appliance'],
  ['test/dashboard'],
  ['test/cluster'],
  ['test/checks', 'test/simulator', 'test/crashes'],
  ['test/examples'],
  [RENDERS],
  [SMOKE],
];
const runs = process.argv.length > 2 ? [process.argv.slice(2)] : GROUPS;
const results: Counts = { passed: 0, failed: 0, skipped: 0 };
let rootBuilt: Promise<unknown> | undefined;
for (const paths of runs) {
  const files = paths.flatMap(testFiles);
  if (files.length === 0) continue;
  if (runs.length > 1 && paths.includes(RENDERS)) rootBuilt = buildRootAhead();
  if (paths.includes(SMOKE)) await rootBuilt;
  const { passed, failed, skipped } = await runTap(files);
  results.passed += passed;
  results.failed += failed;
  results.skipped += skipped;
}
if (results.passed + results.failed === 0) {
  console.log('No tests were run.');
  results.failed = 1;
}

const skipped = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
const summary = `${results.passed} passed, ${results.failed} failed${skipped}`;
writeFileSync('.setup/tests.summary', `${summary}\n`);
console.log(summary);
process.exitCode = results.failed > 0 ? 1 : 0;

/**
 * Builds the renderer root while renders are tested: it takes minutes of one core, and render tests run one at a
 * time. Uses the options of the smoke test, which otherwise builds it, and which reports errors. Only root runs that
 * test.
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
    .map((name) => join(path, name));
}

async function runTap(files: string[]): Promise<Counts> {
  const options = ['--reporter=tap'];
  // These tests may have to build the single executable first.
  if (files.some((name) => name.startsWith('test/binary'))) options.push('--timeout=1200');
  const tap = spawn(process.execPath, ['node_modules/tap/dist/esm/run.mjs', ...options, ...files], {
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
