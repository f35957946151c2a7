import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RenderService } from '../../../../lib/index.ts';
import {
  environmentFiles,
  environmentOf,
  plainSettings,
} from '../../../../lib/render/environment/python-environment.ts';
import { findRoot } from '../../../../lib/render/environment/renderer-root.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const SYSTEM_PYTHON = realpathSync('/usr/bin/python3');
const SETTINGS = 'home = /usr/bin\nversion = 3.11.2\ncommand = /usr/bin/python3 -m venv /home/user/.venv\n';

/** A folder with an interpreter and with files that scenes must not see. */
function folderWithPython(t: Test, files: Record<string, string | object> = {}): string {
  const folder = testFolder(t, { bin: {}, '.ssh': { id: 'secret' }, notes: 'secret', ...files });
  symlinkSync(SYSTEM_PYTHON, join(folder, 'bin', 'python'));
  return folder;
}

async function refused(t: Test, python: string, reason: RegExp, closed: string[] = []): Promise<void> {
  await t.rejects(findRoot({ python }, closed), { code: 'renderer_unavailable', message: reason });
  await t.rejects(findRoot({ python }, closed), { message: /-m venv FOLDER`, and name its bin\/python/ });
}

t.test('a home folder is rejected as an environment, whatever it contains', async (t) => {
  const home = folderWithPython(t, { lib: { 'python3.11': {} }, 'pyvenv.cfg': SETTINGS });
  const { HOME } = process.env;
  process.env['HOME'] = home;
  t.teardown(() => {
    process.env['HOME'] = HOME;
  });
  t.equal(homedir(), home);
  const python = join(home, 'bin', 'python');
  await refused(t, python, /is a home folder, and scenes could read it/);

  const service = new RenderService({ folder: join(home, 'data'), renderer: { python } });
  await t.rejects(service.start(), { code: 'renderer_unavailable', message: /is a home folder/ });

  const link = join(home, 'link');
  symlinkSync(home, link);
  await refused(t, join(link, 'bin', 'python'), /is a home folder/);
});

t.test('an environment based on a home folder is rejected', async (t) => {
  const home = folderWithPython(t, { lib: { 'python3.11': {} }, made: { bin: {} }, linked: { bin: {} } });
  const { HOME } = process.env;
  process.env['HOME'] = home;
  t.teardown(() => {
    process.env['HOME'] = HOME;
  });
  writeFileSync(join(home, 'made', 'pyvenv.cfg'), `home = ${join(home, 'bin')}\n`);
  symlinkSync(SYSTEM_PYTHON, join(home, 'made', 'bin', 'python'));
  await refused(t, join(home, 'made', 'bin', 'python'), /is a home folder/);

  writeFileSync(join(home, 'linked', 'pyvenv.cfg'), 'home = /usr/bin\n');
  writeFileSync(join(home, 'bin', 'python3'), '');
  symlinkSync(join(home, 'bin', 'python3'), join(home, 'linked', 'bin', 'python'));
  await refused(t, join(home, 'linked', 'bin', 'python'), /is a home folder/);
});

t.test('shared system folders are rejected as environments', async (t) => {
  for (const home of [
    '/opt/bin',
    '/srv/bin',
    '/mnt/bin',
    join('/home', 'bin'),
    join('/root', 'bin'),
    join('/home', 'nobody', 'bin'),
    '/x',
  ]) {
    const folder = folderWithPython(t, { 'pyvenv.cfg': `home = ${home}\n` });
    await refused(t, join(folder, 'bin', 'python'), /is a (system|home) folder/);
  }
});

t.test('a folder not created by Python is rejected as an environment', async (t) => {
  await refused(
    t,
    join(folderWithPython(t), 'bin', 'python'),
    /is not a Python environment \(it has neither/,
  );
  const folder = folderWithPython(t, { lib: { notes: '' } });
  await refused(t, join(folder, 'bin', 'python'), /is not a Python environment/);
});

t.test('an environment that contains the service’s data is rejected', async (t) => {
  const folder = folderWithPython(t, { 'pyvenv.cfg': SETTINGS });
  const python = join(folder, 'bin', 'python');
  await refused(t, python, /holds the service's data/, [join(folder, 'lib', 'data', 'not-made-yet')]);
  t.equal((await findRoot({ python }, [`${folder}-data`])).python, python);
});

t.test('only the parts of an environment that Python reads are mounted', async (t) => {
  const folder = folderWithPython(t, {
    'pyvenv.cfg': SETTINGS,
    lib: { 'python3.11': {} },
    share: {},
    etc: {},
  });
  symlinkSync('lib', join(folder, 'lib64'));
  const environment = environmentOf(join(folder, 'bin', 'python'), []);
  t.same(environmentFiles({ ...environment, settingsFile: '/settings' }, true), {
    mounts: [
      { from: join(folder, 'lib'), to: '/scenepress/python/lib' },
      { from: join(folder, 'share'), to: '/scenepress/python/share' },
      { from: '/settings', to: '/scenepress/python/pyvenv.cfg' },
    ],
    links: [
      { path: '/scenepress/python/lib64', target: 'lib' },
      { path: '/scenepress/python/bin/python', target: SYSTEM_PYTHON },
    ],
  });
  const { mounts } = environmentFiles(environment, false);
  t.same(
    mounts.map(({ from, to }) => [from, to === from]),
    ['bin', 'lib', 'share', 'pyvenv.cfg'].map((name) => [join(folder, name), true]),
  );
  t.equal(plainSettings(environment), 'home = /usr/bin\nversion = 3.11.2\n');
});

t.test('a link that leads out of an environment is not mounted', async (t) => {
  const folder = folderWithPython(t, { 'pyvenv.cfg': SETTINGS });
  mkdirSync(join(folder, 'lib'));
  symlinkSync('/root', join(folder, 'share'));
  const environment = environmentOf(join(folder, 'bin', 'python'), []);
  for (const hidden of [true, false]) {
    const { mounts, links } = environmentFiles(environment, hidden);
    t.notMatch(JSON.stringify([mounts, links]), /share/);
  }
});
