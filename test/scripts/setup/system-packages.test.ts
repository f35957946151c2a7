import {
  appendFileSync,
  chmodSync,
  existsSync,
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
  plainLines,
  SetupError,
  SYSTEM_PACKAGES,
  systemPackages,
  takeSteps,
} from '../../../scripts/setup/index.mjs';

const { python, run: ofRun, moreTex, build: compilers } = SYSTEM_PACKAGES;
const RUN = [python, ofRun, moreTex].flatMap(Object.keys);
const BUILD = Object.keys(compilers);

/** Programs in place of apt-get and dpkg: they note how they are called, and apt-get installs. */
const APT_GET = `#!/bin/sh
shift 6
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
  const progress = plainLines((line) => printed.push(`${line}\n`));
  const place = join(folder, 'run');
  let run: ReturnType<typeof openRun> | undefined;
  const machine = { status, lists, isRoot };
  /** As at the next start of the set-up. */
  const steps = (options: Partial<Parameters<typeof systemPackages>[0]> = {}) =>
    Object.values(systemPackages({ folder: place, build: true, machine, ...options }));
  return {
    folder: place,
    machine,
    steps,
    isDone: (options?: Parameters<typeof steps>[0]) => steps(options).every((step) => step.isDone()),
    take: (options?: Parameters<typeof steps>[0]) => {
      run ??= openRun(place, { cwd: folder, progress });
      return takeSteps(steps(options), run);
    },
    calls: () => readFileSync(calls, 'utf8').trim().split('\n').filter(Boolean),
    printed: () => printed.join(''),
    break: () => writeFileSync(broken, ''),
    makeFutile: () => writeFileSync(futile, ''),
  };
}

const without = (...names: string[]) => [...RUN, ...BUILD].filter((name) => !names.includes(name));

t.test('nothing is missing: nothing is called', async (t) => {
  const { isDone, take, calls, printed } = debian(t, [...RUN, ...BUILD]);
  t.ok(isDone());
  await take();
  t.same([calls(), printed()], [[], '']);
});

t.test('as root: what is missing is installed, and nothing else', async (t) => {
  const { isDone, take, calls, printed } = debian(t, without('dvisvgm', 'gcc'));
  t.notOk(isDone());
  await take();
  t.same(calls(), [
    'apt-get install --yes --no-install-recommends gcc',
    'apt-get install --yes --no-install-recommends dvisvgm',
  ]);
  t.match(
    printed(),
    /^Installing compilers …\nInstalling compilers: \d+ s\nInstalling TeX and fonts …\nInstalling TeX and fonts: \d+ s\n$/,
  );
  t.ok(isDone());
  await take();
  t.equal(calls().length, 2, 'once');
});

t.test('the compilers are only needed while the Python environment is missing', async (t) => {
  const { isDone } = debian(t, RUN);
  t.ok(isDone({ build: false }));
  t.notOk(isDone());
});

t.test('TeX that few scenes need can be left for later', async (t) => {
  const { isDone, take, calls } = debian(t, without('dvisvgm', 'texlive-xetex', 'tipa'));
  await take({ moreTex: false });
  t.same(calls(), ['apt-get install --yes --no-install-recommends dvisvgm']);
  t.ok(isDone({ moreTex: false }));
  t.notOk(isDone());
  await take();
  t.equal(calls()[1], 'apt-get install --yes --no-install-recommends texlive-xetex tipa');
});

t.test('a machine without package lists fetches them first', async (t) => {
  const { take, calls } = debian(t, without('dvisvgm'), { hasLists: false });
  await take();
  t.same(calls(), ['apt-get update', 'apt-get install --yes --no-install-recommends dvisvgm']);
});

t.test('an interrupted installation is repaired', async (t) => {
  const { isDone, take, calls, break: breakIt } = debian(t, without('dvisvgm'));
  breakIt();
  await take();
  t.same(calls(), [
    'apt-get install --yes --no-install-recommends dvisvgm',
    'dpkg --configure -a --force-confdef',
    'apt-get update',
    'apt-get install --yes --no-install-recommends dvisvgm',
  ]);
  t.ok(isDone());
});

t.test(
  'packages are installed again if the machine lost its power before they were on the disk',
  async (t) => {
    const { folder, isDone, take, calls } = debian(t, [...RUN, ...BUILD]);
    const mark = join(folder, 'packages-before');
    mkdirSync(folder);
    const before = without('gcc', 'dvisvgm').join('\n');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    writeFileSync(mark, `${boot}${before}`);
    t.ok(isDone(), 'a set-up that was killed has lost nothing');
    writeFileSync(mark, `another boot\n${before}`);
    t.notOk(isDone());
    await take();
    t.match(
      calls()[0],
      /^apt-get install --yes --reinstall --no-install-recommends (dvisvgm gcc|gcc dvisvgm)$/,
    );
    t.ok(isDone());
    t.notOk(existsSync(mark));
  },
);

t.test('an installation without effect is an error', async (t) => {
  const { take, makeFutile } = debian(t, without('dvisvgm'));
  makeFutile();
  await t.rejects(take(), /^Installing TeX and fonts: .* its result is missing/);
});

t.test(
  'as another user: the message names all that is missing and the command to run; nothing is called',
  async (t) => {
    const { take, calls } = debian(t, without('dvisvgm', 'libpango1.0-dev'), { isRoot: false });
    const error = await take().then(
      () => undefined,
      (error: unknown) => error,
    );
    t.type(error, SetupError);
    t.match(
      (error as Error).message,
      / {2}sudo apt-get update && sudo apt-get install --no-install-recommends libpango1\.0-dev dvisvgm\n/,
    );
    t.match((error as Error).message, '--no-system');
    t.same(calls(), []);
  },
);

t.test('on another system: the message names the missing programs', async (t) => {
  const { machine, take } = debian(t, []);
  process.env['PATH'] = '/nowhere';
  await t.rejects(
    take({ machine: { ...machine, status: '/nowhere/status' } }),
    /^Some programs are missing: python3, gcc, pkg-config, latex, dvisvgm, bwrap, lualatex, xelatex\./,
  );
});
