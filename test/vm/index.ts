/**
 * Runs tests in virtual machines whose kernel has control groups of version 2, which many machines lack or use as
 * version 1: `npm run test:cgroups`, or `npm run test:cgroups -- --place user test/renders/attacks.test.ts` for others,
 * in one place in the tree of groups. A machine sees this checkout and the programs of this system, and writes to neither.
 *
 *   --place NAME     where in the tree: root, session, unit, user or container (see `enter-group.sh`); all of them
 *   --command LINE   a line for a shell instead of tests
 *   --timeout S      seconds after which a machine is ended; 1800
 *
 * A skipped test counts as failed: there would be no need for a virtual machine.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { virtualMachineParts } from './packages.ts';
import { PLACES, type Place, runInMachine } from './virtual-machine.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const TEST = 'test/renders/lib/cgroup.deep.test.ts';
/** Variables that tests take. */
const PASSED_ON = /^(SCENEPRESS_TEST_|(ATTACKS|PLACE|SEED)$)/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    place: { type: 'string', multiple: true, default: [...PLACES] },
    command: { type: 'string' },
    timeout: { type: 'string', default: '1800' },
  },
});
const places = values.place.map((name) => {
  const found = PLACES.find((place) => place === name);
  if (!found) throw new Error(`--place is one of ${PLACES.join(', ')}.`);
  return found;
});
const tests = positionals.length > 0 ? positionals : [TEST];
const lines =
  values.command === undefined ? tests.map((test) => `exec node ${quoted(test)}`) : [values.command];
const variables = Object.entries({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))),
  // tap's own limits are for one test file of many.
  TAP_TIMEOUT: '600',
  SCENEPRESS_TEST_LIMITED_BY: 'kernel',
}).map(([name, value]) => `export ${name}=${quoted(value ?? '')}\n`);
const setting = `${variables.join('')}export PATH=${quoted(join(CHECKOUT, 'node_modules/.bin'))}:$PATH\n`;

const parts = virtualMachineParts();
const summary: string[] = [];
for (const place of places) for (const line of lines) await run(place, line);
console.log(summary.join('\n'));

async function run(place: Place, line: string): Promise<void> {
  const begun = performance.now();
  const problem = await problemOf(place, line);
  const seconds = Math.round((performance.now() - begun) / 1000);
  summary.push(`${problem ? `not ok (${problem})` : 'ok'} ${place}: ${line} # ${seconds} s`);
  if (problem) process.exitCode = 1;
}

async function problemOf(place: Place, line: string): Promise<string | undefined> {
  let output = '';
  const print = (text: string) => {
    output += text;
    process.stdout.write(text);
  };
  const options = { place, job: `${setting}${line}\n`, print, timeoutMs: Number(values.timeout) * 1000 };
  try {
    const status = await runInMachine(parts, options);
    if (status !== 0) return `status ${status}`;
  } catch (error) {
    return (error as Error).message;
  }
  const skipped = output.match(/# SKIP /g)?.length ?? 0;
  return skipped > 0 ? `${skipped} skipped` : undefined;
}

/** For a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
