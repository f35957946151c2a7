/**
 * Runs the tests: `npm test`, or `npm test -- test/lib test/appliance/keys.test.ts` for some of them.
 *
 * One line per file, everything for a file that fails; the last line has the counts, which also go to
 * `.setup/tests.summary`. tap's whole output is kept in `.setup/tests.tap`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');
process.chdir(root);
mkdirSync('.setup', { recursive: true });

// Fast ones first, so that a small mistake is seen in seconds.
const ALL = ['lib', 'scripts', 'appliance', 'checks', 'crashes', 'renders', 'binary/smoke'].map((name) =>
  join('test', name),
);
const files = (process.argv.length > 2 ? process.argv.slice(2) : ALL).flatMap(testFiles);
const results = files.length > 0 ? await runTap(files) : { passed: 0, failed: 0, skipped: 0 };
if (results.passed + results.failed === 0) {
  console.log('No test has run.');
  results.failed = 1;
}

const skipped = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
const summary = `${results.passed} passed, ${results.failed} failed${skipped}`;
writeFileSync('.setup/tests.summary', `${summary}\n`);
console.log(summary);
process.exitCode = results.failed > 0 ? 1 : 0;

function testFiles(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(path, name));
}

async function runTap(files: string[]): Promise<{ passed: number; failed: number; skipped: number }> {
  const tap = spawn(process.execPath, ['node_modules/tap/dist/esm/run.mjs', '--reporter=tap', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(tap, 'close');
  const raw = createWriteStream('.setup/tests.tap');

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
      // A description follows the failure.
      describing = not !== undefined;
    } else if (line.startsWith('# {')) {
      counts = new Map(
        [...line.matchAll(/(\w+): (\d+)/g)].map(([, key, count]) => [`${key}`, Number(count)]),
      );
    } else if (line.startsWith('Bail out') || (describing && line.startsWith('  '))) {
      console.log(line);
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
