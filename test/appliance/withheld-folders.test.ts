import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { remedyOf } from '../../appliance/cli/missing-files.ts';
import { whyWithheld } from '../../appliance/cli/withheld-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const MISSING = "FileNotFoundError: [Errno 2] No such file or directory: 'x.csv'";

/** A folder with `home/project`, `tmp` and `data`, all of which are in use. */
async function places(t: Test) {
  const top = await temporaryFolder(t);
  const [home, tmp, dataDir] = [join(top, 'home'), join(top, 'tmp'), join(top, 'data')];
  for (const folder of [join(home, 'project/data'), tmp, dataDir]) await mkdir(folder, { recursive: true });
  const { HOME, TMPDIR } = process.env;
  Object.assign(process.env, { HOME: home, TMPDIR: tmp });
  t.teardown(() => {
    for (const [name, value] of Object.entries({ HOME, TMPDIR }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  return { top, home, tmp, dataDir };
}

t.test('folders with secrets are withheld, unless they are named', async (t) => {
  const { top, home, tmp, dataDir } = await places(t);
  t.match(
    whyWithheld(home, { dataDir }),
    /which is your home directory, unless it is named with --folder\.$/,
  );
  t.match(whyWithheld(top, { dataDir }), /which contains your home directory/);
  t.match(whyWithheld(tmp, { dataDir }), /which is the folder for temporary files/);
  t.equal(whyWithheld(join(home, 'project'), { dataDir }), null);
  await symlink(home, join(top, 'link'));
  t.match(whyWithheld(join(top, 'link'), { dataDir }), /which is your home directory/);
});

t.test('a folder named like the data folder is withheld only if it is one', async (t) => {
  const { home } = await places(t);
  const dataDir = join(home, 'project/data');
  t.equal(whyWithheld(join(home, 'project'), { dataDir }), null);
  await writeFile(join(dataDir, 'master.key'), '');
  t.match(whyWithheld(join(home, 'project'), { dataDir }), /which contains scenepress's data folder/);
});

t.test('an error about a missing file says why the folder is withheld', async (t) => {
  const { home, dataDir } = await places(t);
  const files = { folder: null, withheld: whyWithheld(home, { dataDir }), server: undefined };
  t.match(remedyOf(MISSING, files), /home directory, unless it is named with --folder\.$/);
  t.match(remedyOf("ModuleNotFoundError: No module named 'helpers'", files), /named with --folder\. Other/);
  t.match(
    remedyOf(MISSING, { ...files, withheld: null }),
    /To let them read those of a folder: --folder DIR/,
  );
});

t.test('an error about a missing TeX package or font names the flag', async (t) => {
  const files = { folder: null, withheld: null, server: undefined };
  const error = (place: string) =>
    `TeX: LaTeX Error: File \`x.sty' not found. It isn't installed here; it can be added to ${place} of the studio's folder.\nline 4: Tex("x")`;
  t.equal(
    remedyOf(error('fonts/'), files),
    'Put its files below fonts/ of a folder of yours: --studio-dir DIR.',
  );
  const folder = { path: '/lessons', file: 'a.py' };
  t.equal(
    remedyOf(error('texmf/tex/latex/'), { ...files, folder }),
    'Put its files into /lessons, or below texmf/ of a folder of yours: --studio-dir DIR.',
  );
  const server = { url: 'https://renders.example.org', key: 'k', artifacts: [] };
  t.equal(remedyOf(error('texmf/tex/latex/'), { ...files, server }), undefined);
});
