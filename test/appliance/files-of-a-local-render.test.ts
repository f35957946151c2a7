import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packTar } from 'modern-tar';
import t, { type Test } from 'tap';
import { checkPictures, unpackPictures, unpackSections } from '../../appliance/cli/unpack.ts';
import { saveFile } from '../../appliance/support/save-file.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

interface Entry {
  name: string;
  type?: 'file' | 'symlink' | 'directory' | 'link';
}

async function archiveOf(t: Test, entries: Entry[]): Promise<string> {
  const path = join(await temporaryFolder(t), 'archive.tar');
  const packed = entries.map(({ name, type = 'file' }) =>
    type === 'file'
      ? { header: { name, type, size: 3 }, body: 'new' }
      : { header: { name, type, size: 0, linkname: '/etc/passwd' } },
  );
  await writeFile(path, await packTar(packed));
  return path;
}

t.test('pictures replace those of an earlier render', async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ['0000.png', '0001.png']) await writeFile(join(folder, name), 'old');
  await unpackPictures(await archiveOf(t, [{ name: '0000.png' }]), folder, 1);
  t.strictSame(await readdir(folder), ['0000.png']);
  t.equal(await readFile(join(folder, '0000.png'), 'utf8'), 'new');
});

t.test('a folder with other files is not used for pictures', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'mine.txt'), 'old');
  await t.rejects(checkPictures(folder), { message: /has other files than numbered pictures, such as mine/ });
  await t.rejects(unpackPictures(await archiveOf(t, [{ name: '0.png' }]), folder, 9), {
    message: /other files/,
  });
  t.strictSame(await readdir(folder), ['mine.txt']);
  await checkPictures(join(folder, 'missing'));
});

t.test('nothing of an archive that a scene has changed is written', async (t) => {
  const unexpected: Entry[][] = [
    [{ name: '.bashrc' }],
    [{ name: '../0.png' }],
    [{ name: 'a/0.png' }],
    [{ name: '0.png', type: 'symlink' }],
    [{ name: '0.png', type: 'link' }],
    [{ name: '0.png', type: 'directory' }],
    [{ name: '0.png' }, { name: 'Makefile' }],
    [{ name: '0.png' }, { name: '1.png' }, { name: '2.png' }],
  ];
  for (const entries of unexpected) {
    const folder = await temporaryFolder(t);
    const archive = await archiveOf(t, entries);
    await t.rejects(unpackPictures(archive, folder, 2), { message: /not saved/ }, JSON.stringify(entries));
    t.strictSame(await readdir(folder), []);
  }
});

t.test('sections have the names that Manim gives them, and replace only files', async (t) => {
  const folder = await temporaryFolder(t);
  const options = { className: 'Demo', most: 9 };
  const names = ['Demo.json', 'Demo_0000_first-one.mp4', 'Demo_0001_über-all.webm'];
  await writeFile(join(folder, 'package.json'), 'old');
  const archive = await archiveOf(
    t,
    names.map((name) => ({ name })),
  );
  await unpackSections(archive, folder, options);
  await unpackSections(archive, folder, options);
  t.strictSame((await readdir(folder)).sort(), [...names, 'package.json'].sort());
  for (const name of ['package.json', 'Other_0000_a.mp4', 'Demo_0000_a.sh', 'Demo_0000_a/b.mp4'])
    await t.rejects(unpackSections(await archiveOf(t, [{ name }]), folder, options), {
      message: /not saved/,
    });
  t.equal(await readFile(join(folder, 'package.json'), 'utf8'), 'old');

  await symlink(join(folder, 'package.json'), join(folder, 'Demo_0002_link.mp4'));
  const link = await archiveOf(t, [{ name: 'Demo_0002_link.mp4' }]);
  await t.rejects(unpackSections(link, folder, options), { message: /is not replaced/ });
  t.equal(await readFile(join(folder, 'package.json'), 'utf8'), 'old');
});

t.test('a file is saved from a regular file only, and not through a link', async (t) => {
  const folder = await temporaryFolder(t);
  const [made, mine, target] = [join(folder, 'made'), join(folder, 'mine'), join(folder, 'video.mp4')];
  await writeFile(made, 'new');
  await writeFile(mine, 'old');
  await symlink(mine, `${target}.part`);
  await saveFile(made, target);
  t.equal(await readFile(mine, 'utf8'), 'old');
  t.equal(await readFile(target, 'utf8'), 'new');
  await symlink(mine, join(folder, 'link'));
  await t.rejects(saveFile(join(folder, 'link'), target), { message: /can't be written/ });
  t.equal(await readFile(target, 'utf8'), 'new');
});
