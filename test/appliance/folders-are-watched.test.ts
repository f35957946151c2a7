import { spawn } from 'node:child_process';
import { appendFile, mkdir, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { FolderWatch } from '../../appliance/cli/watch-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const { signal } = new AbortController();
/** Nothing can be awaited that doesn't happen. Longer than what a save takes to be noticed. */
const QUIET_MS = 1000;
/** Longer than the time in which other programs may write what the command has printed. */
const AFTER_ECHO_MS = 700;
const isInput = (path: string) => path.endsWith('.py');

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
    const noticed = watch.nextSave({ own: [], isInput }, signal);
    await delay(AFTER_ECHO_MS);
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
  const quiet = t.rejects(watch.nextSave({ own, isInput }, AbortSignal.timeout(AFTER_ECHO_MS + QUIET_MS)), {
    name: 'AbortError',
  });
  await delay(AFTER_ECHO_MS);
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
  await quiet;
  await writeFile(join(folder, 'scenes.py'), 'saved');
  await watch.nextSave({ own, isInput }, signal);
});

t.test(
  'of files saved during a render, or by what it has printed, only inputs of the scene count',
  async (t) => {
    const folder = await temporaryFolder(t);
    const watch = watched(t, join(folder, 'scenes.py'), folder);
    await writeFile(join(folder, 'render.log'), 'line');
    const quiet = t.rejects(watch.nextSave({ own: [], isInput }, AbortSignal.timeout(QUIET_MS)), {
      name: 'AbortError',
    });
    await delay(100);
    await writeFile(join(folder, 'render.log'), 'another');
    await quiet;
    await writeFile(join(folder, 'scenes.py'), 'saved');
    await watch.nextSave({ own: [], isInput }, signal);
    const noticed = watch.nextSave({ own: [], isInput }, signal);
    await delay(AFTER_ECHO_MS);
    await writeFile(join(folder, 'data.csv'), 'saved');
    await noticed;
  },
);

t.test('a file that the command prints to is not noticed', async (t) => {
  const folder = await temporaryFolder(t);
  const module = join(import.meta.dirname, '../../appliance/cli/watch-folder.ts');
  const program = `
    import { FolderWatch } from ${JSON.stringify(module)};
    const watch = new FolderWatch('scenes.py', '.');
    const printing = setInterval(() => console.log('line'), 50);
    await watch.nextSave({ own: [], isInput: () => false }, AbortSignal.timeout(2000)).catch((error) => console.error(error.name));
    clearInterval(printing);
    watch.close();`;
  const log = await open(join(folder, 'watch.log'), 'w');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    stdio: ['ignore', log.fd, 'pipe'],
  });
  t.ok(child.stderr);
  if (child.stderr) t.equal(await text(child.stderr), 'AbortError\n');
  await log.close();
  t.match(await readFile(join(folder, 'watch.log'), 'utf8'), /^(line\n){10,}$/);
});

t.test('without a folder that scenes can read, only their file is watched', async (t) => {
  const folder = await temporaryFolder(t);
  const watch = watched(t, join(folder, 'scenes.py'), null);
  await writeFile(join(folder, 'other.py'), 'saved');
  await t.rejects(watch.nextSave({ own: [], isInput }, AbortSignal.timeout(QUIET_MS)), {
    name: 'AbortError',
  });
  await writeFile(join(folder, 'scenes.py'), 'saved');
  await watch.nextSave({ own: [], isInput }, signal);
});

t.test('a file that is written all the time does not keep a save from being noticed', async (t) => {
  const folder = await temporaryFolder(t);
  const watch = watched(t, join(folder, 'scenes.py'), folder);
  let isWriting = true;
  const written = (async () => {
    while (isWriting) await appendFile(join(folder, 'log.txt'), 'line\n');
  })();
  await watch.nextSave({ own: [], isInput }, signal);
  isWriting = false;
  await written;
});
