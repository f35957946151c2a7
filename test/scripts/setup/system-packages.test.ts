import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  openRun,
  SetupError,
  SYSTEM_PACKAGES,
  systemPackages,
  takeStep,
} from '../../../scripts/setup/index.mjs';

const RUN = Object.keys(SYSTEM_PACKAGES.run);
const BUILD = Object.keys(SYSTEM_PACKAGES.build);

/** Programs in place of apt-get and dpkg: they note how they are called, and apt-get installs. */
const APT_GET = `#!/bin/sh
shift 2
echo "apt-get $*" >> "$CALLS"
if [ "$1" = install ] && [ -e "$BROKEN" ]; then exit 100; fi
if [ "$1" = install ] && [ ! -e "$FUTILE" ]; then
  for name; do printf 'Package: %s\\nStatus: install ok installed\\nVersion: 1\\n\\n' "$name" >> "$STATUS"; done
fi
`;
const DPKG = `#!/bin/sh
echo "dpkg $*" >> "$CALLS"
rm -f "$BROKEN"
`;

/** A Debian with these packages. */
function debian(t: Test, installed: string[], { isRoot = true, hasLists = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'scenepress-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [status, lists, bin] = [join(folder, 'status'), join(folder, 'lists'), join(folder, 'bin')];
  writeFileSync(status, '');
  for (const name of installed) appendFileSync(status, `Package: ${name}\nStatus: install ok installed\n\n`);
  // Removed, but its configuration is still there.
  appendFileSync(status, 'Package: bubblewrap\nStatus: deinstall ok config-files\n\n');
  for (const path of [lists, bin]) mkdirSync(path);
  if (hasLists) writeFileSync(join(lists, 'deb.example_main_Packages.lz4'), '');
  for (const [name, text] of Object.entries({ 'apt-get': APT_GET, dpkg: DPKG })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const [calls, broken, futile] = [join(folder, 'calls'), join(folder, 'broken'), join(folder, 'futile')];
  writeFileSync(calls, '');
  const env = { CALLS: calls, STATUS: status, BROKEN: broken, FUTILE: futile, PATH: `${bin}:/usr/bin:/bin` };
  const before = { ...process.env };
  Object.assign(process.env, env);
  t.teardown(() => {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  });
  const printed: string[] = [];
  const run = openRun(join(folder, 'run'), { cwd: folder, print: (text) => printed.push(text) });
  return {
    machine: { status, lists, isRoot },
    take: (step: ReturnType<typeof systemPackages>) => takeStep(step, run),
    calls: () => readFileSync(calls, 'utf8').trim().split('\n').filter(Boolean),
    printed: () => printed.join(''),
    break: () => writeFileSync(broken, ''),
    makeFutile: () => writeFileSync(futile, ''),
  };
}

const without = (...names: string[]) => [...RUN, ...BUILD].filter((name) => !names.includes(name));

t.test('nothing is missing: nothing is called', async (t) => {
  const { machine, take, calls, printed } = debian(t, [...RUN, ...BUILD]);
  const step = systemPackages({ dev: false, build: true, machine });
  t.ok(step.isDone());
  await take(step);
  t.same([calls(), printed()], [[], '']);
});

t.test('as root: what is missing is installed, and nothing else', async (t) => {
  const { machine, take, calls, printed } = debian(t, without('dvisvgm', 'gcc'));
  const step = systemPackages({ dev: false, build: true, machine });
  t.notOk(step.isDone());
  await take(step);
  t.same(calls(), ['apt-get install --yes --no-install-recommends dvisvgm gcc']);
  t.match(printed(), /^Installing system packages … \d+ s\n$/);
  t.ok(step.isDone());
  await take(step);
  t.equal(calls().length, 1, 'once');
});

t.test('the compilers are only needed while the Python environment is missing', async (t) => {
  const { machine } = debian(t, RUN);
  t.ok(systemPackages({ dev: false, build: false, machine }).isDone());
  t.notOk(systemPackages({ dev: false, build: true, machine }).isDone());
});

t.test('a machine without package lists fetches them first', async (t) => {
  const { machine, take, calls } = debian(t, without('dvisvgm'), { hasLists: false });
  await take(systemPackages({ dev: false, build: true, machine }));
  t.same(calls(), ['apt-get update', 'apt-get install --yes --no-install-recommends dvisvgm']);
});

t.test('an interrupted installation is repaired', async (t) => {
  const { machine, take, calls, break: breakIt } = debian(t, without('dvisvgm'));
  breakIt();
  const step = systemPackages({ dev: false, build: true, machine });
  await take(step);
  t.same(calls(), [
    'apt-get install --yes --no-install-recommends dvisvgm',
    'dpkg --configure -a --force-confdef',
    'apt-get update',
    'apt-get install --yes --no-install-recommends dvisvgm',
  ]);
  t.ok(step.isDone());
});

t.test('an installation without effect is an error', async (t) => {
  const { machine, take, makeFutile } = debian(t, without('dvisvgm'));
  makeFutile();
  const step = systemPackages({ dev: false, build: true, machine });
  await t.rejects(take(step), /^Installing system packages: .* its result is missing/);
});

t.test(
  'as another user: the message names what is missing and the command to run; nothing is called',
  async (t) => {
    const { machine, take, calls } = debian(t, without('dvisvgm', 'libpango1.0-dev'), { isRoot: false });
    const step = systemPackages({ dev: false, build: true, machine });
    const error = await take(step).then(
      () => undefined,
      (error: unknown) => error,
    );
    t.type(error, SetupError);
    t.match(
      (error as Error).message,
      / {2}sudo apt-get update && sudo apt-get install --no-install-recommends dvisvgm libpango1\.0-dev\n/,
    );
    t.match((error as Error).message, '--no-system');
    t.same(calls(), []);
  },
);

t.test('on another system: the message names the missing programs', async (t) => {
  const { machine, take } = debian(t, []);
  process.env['PATH'] = '/nowhere';
  const step = systemPackages({
    dev: false,
    build: true,
    machine: { ...machine, status: '/nowhere/status' },
  });
  await t.rejects(
    take(step),
    /^Some programs are missing: python3, latex, lualatex, xelatex, dvisvgm, bwrap, gcc, pkg-config\./,
  );
});
