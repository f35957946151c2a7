import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FolderWatch } from '../../appliance/cli/watch-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const { signal } = new AbortController();
/** Nothing can be awaited that doesn't happen. Longer than what a save takes to be noticed. */
const QUIET_MS = 500;

function watched(t: Test, file: string, folder: string | null): FolderWatch {
  const watch = new FolderWatch(file, folder);
  t.teardown(() => watch.close());
  return watch;
}

t.test('saves in subfolders are noticed, also in those that are created meanwhile', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'a/b'), { recursive: true });
  const watch = watched(t, join(folder, 'a/scenes.py'), folder);
  const write = (name: string) => writeFile(join(folder, name), 'saved');
  const saves: [title: string, save: () => Promise<unknown>][] = [
    ['a file in a subfolder', () => write('a/b/module.py')],
    ['a file in a new folder', () => mkdir(join(folder, 'new')).then(() => write('new/x'))],
    ['another file in it', () => write('new/y')],
    ['a folder with another name', () => rename(join(folder, 'new'), join(folder, 'a/new'))],
    ['a file in that', () => write('a/new/z')],
    ['a removed file', () => rm(join(folder, 'a/new/z'))],
  ];
  for (const [title, save] of saves) {
    const noticed = watch.nextSave([], signal);
    await save();
    await noticed;
    t.pass(title);
  }
});

t.test('files of the command itself and of other programs are not noticed', async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ['.git', 'node_modules', 'tools', 'pictures']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'tools/pyvenv.cfg'), '');
  // Outputs may be named by another path than the folder.
  await symlink(folder, join(folder, '.link'));
  const watch = watched(t, join(folder, 'scenes.py'), folder);
  const own = [join(folder, '.link/a.mp4'), join(folder, 'pictures')];
  for (const name of [
    'a.mp4',
    'a.mp4.part',
    'pictures/0.png',
    '.hidden',
    '.git/x',
    'node_modules/x',
    'tools/x',
  ])
    await writeFile(join(folder, name), 'saved');
  await mkdir(join(folder, 'videos'));
  await t.rejects(watch.nextSave(own, AbortSignal.timeout(QUIET_MS)), { name: 'AbortError' });
  await writeFile(join(folder, 'scenes.py'), 'saved');
  await watch.nextSave(own, signal);
});

t.test('without a folder that scenes can read, only their file is watched', async (t) => {
  const folder = await temporaryFolder(t);
  const watch = watched(t, join(folder, 'scenes.py'), null);
  await writeFile(join(folder, 'other.py'), 'saved');
  await t.rejects(watch.nextSave([], AbortSignal.timeout(QUIET_MS)), { name: 'AbortError' });
  await writeFile(join(folder, 'scenes.py'), 'saved');
  await watch.nextSave([], signal);
});

t.test('a file that is written all the time does not keep a save from being noticed', async (t) => {
  const folder = await temporaryFolder(t);
  const watch = watched(t, join(folder, 'scenes.py'), folder);
  let isWriting = true;
  const written = (async () => {
    while (isWriting) await appendFile(join(folder, 'log.txt'), 'line\n');
  })();
  await watch.nextSave([], signal);
  isWriting = false;
  await written;
});
