import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SYSTEM_PACKAGES } from '../../../scripts/setup/index.mjs';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const MORE = Object.keys(SYSTEM_PACKAGES.moreTex);
/** In place of apt-get: says what it was asked, and goes on when it is told to. */
const APT_GET = `#!/bin/sh
shift 6
case "$*" in *--download-only*) what=download;; *install*) what=install;; *) what=$1;; esac
echo $what >> "$FOLDER/calls"
while [ ! -e "$FOLDER/may-$what" ]; do sleep 0.05; done
if [ $what = install ]; then
  for name; do printf 'Package: %s\\nStatus: install ok installed\\n\\n' "$name" >> "$FOLDER/status"; done
fi
echo "end of $what" >> "$FOLDER/calls"
`;

/** In place of dpkg, whose audit tells of an interruption. */
const DPKG = `#!/bin/sh
[ -e "$FOLDER/interrupted" ] && echo 'half installed'
true
`;

/** The process on a Debian that lacks these packages. */
function start(t: Test, lacking: string[], { isInterrupted = false } = {}) {
  const folder = testFolder(t, { setup: { scripts: {}, renderer: {} }, bin: {} });
  const checkout = join(folder, 'setup');
  for (const part of ['scripts/setup', 'renderer'])
    cpSync(join(PROJECT, part), join(checkout, part), { recursive: true });
  const steps = join(checkout, 'scripts/setup/system-packages.mjs');
  const status = join(folder, 'status');
  const text = readFileSync(steps, 'utf8').replace('/var/lib/dpkg/status', status);
  writeFileSync(steps, text.replace('/var/lib/apt/lists', join(folder, 'lists')));
  mkdirSync(join(folder, 'lists'));
  writeFileSync(join(folder, 'lists/deb_Packages'), '');
  const installed = MORE.filter((name) => !lacking.includes(name));
  writeFileSync(
    status,
    installed.map((name) => `Package: ${name}\nStatus: install ok installed\n\n`).join(''),
  );
  writeFileSync(join(folder, 'bin/apt-get'), APT_GET, { mode: 0o755 });
  writeFileSync(join(folder, 'bin/dpkg'), DPKG, { mode: 0o755 });
  if (isInterrupted) writeFileSync(join(folder, 'interrupted'), '');
  const child = fork(join(checkout, 'scripts/setup/more-tex-process.mjs'), {
    stdio: 'ignore',
    execArgv: [],
    detached: true,
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, FOLDER: folder },
  });
  const phases: string[] = [];
  child.on('message', ({ phase }: { phase: string }) => {
    if (phases.at(-1) !== phase) phases.push(phase);
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  t.teardown(async () => {
    for (const what of ['download', 'install', 'update']) writeFileSync(join(folder, `may-${what}`), '');
    await exited;
  });
  return {
    child,
    phases,
    exited,
    permit: (what: string) => writeFileSync(join(folder, `may-${what}`), ''),
    calls: () =>
      // Only whole lines: one may be being written.
      existsSync(join(folder, 'calls'))
        ? readFileSync(join(folder, 'calls'), 'utf8').split('\n').slice(0, -1)
        : [],
    isInstalled: () => lacking.every((name) => readFileSync(status, 'utf8').includes(`Package: ${name}\n`)),
  };
}

const skip = process.getuid?.() === 0 ? false : 'only root installs packages';

t.test('packages are downloaded before anything is changed', { skip }, async (t) => {
  const { phases, exited, permit, calls, isInstalled } = start(t, ['texlive-xetex', 'tipa']);
  await until(() => calls().length === 1 && phases.at(-1) === 'downloading');
  t.same(calls(), ['download']);
  permit('download');
  await until(() => calls().length === 3 && phases.at(-1) === 'installing');
  permit('install');
  t.same(await exited, [0, null]);
  t.same(phases, ['waiting', 'downloading', 'installing', 'preparing']);
  t.ok(isInstalled());
});

t.test('with its service, it ends while it downloads', { skip }, async (t) => {
  const { child, exited, calls } = start(t, ['tipa']);
  await until(() => calls().length === 1);
  child.disconnect();
  t.same(await exited, [null, 'SIGKILL']);
});

t.test('without its service, it completes what it has begun to install', { skip }, async (t) => {
  const { child, exited, permit, calls, phases, isInstalled } = start(t, ['tipa']);
  permit('download');
  await until(() => phases.at(-1) === 'installing');
  child.disconnect();
  permit('install');
  t.same(await exited, [0, null]);
  t.equal(calls().at(-1), 'end of install');
  t.ok(isInstalled());
});

t.test('an interrupted installation is completed first', { skip }, async (t) => {
  const { exited, permit, phases, calls, isInstalled } = start(t, ['tipa'], { isInterrupted: true });
  permit('install');
  t.same(await exited, [0, null]);
  t.same(
    [phases, calls()],
    [
      ['waiting', 'installing', 'preparing'],
      ['install', 'end of install'],
    ],
  );
  t.ok(isInstalled());
});

t.test('nothing is called where nothing is missing', { skip }, async (t) => {
  const { exited, phases, calls } = start(t, []);
  t.same(await exited, [0, null]);
  t.same([phases, calls()], [[], []]);
});
