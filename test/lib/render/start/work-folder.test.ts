import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { identityOf } from '../../../../lib/files/disk.ts';
import { WorkFolder } from '../../../../lib/render/start/work-folder.ts';
import { noMounts, whereMounted } from '../../../fixtures/mounts.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

t.test('an unchanged folder passes the check, which leaves no files', async (t) => {
  const folder = new WorkFolder(join(testFolder(t), 'work'));
  await folder.make();
  t.equal(await folder.check({ write: false }), false);
  t.equal(await folder.check({ write: true }), false);
  t.same(readdirSync(folder.path), []);
});

t.test('a missing or replaced folder is created again with its mode', async (t) => {
  const folder = new WorkFolder(join(testFolder(t), 'work'));
  await folder.make();
  rmSync(folder.path, { recursive: true });
  t.equal(await folder.check({ write: true }), true);
  rmSync(folder.path, { recursive: true });
  mkdirSync(folder.path, { mode: 0o700 }); // As a worker creates it.
  t.equal(await folder.check({ write: false }), true);
  t.equal(statSync(folder.path).mode & 0o777, 0o711);
  chmodSync(folder.path, 0o500);
  t.equal(await folder.check({ write: true }), false, 'its mode is corrected');
  t.equal(await folder.check({ write: true }), false);
});

t.test('nothing is made in another data folder at its path', async (t) => {
  const parent = testFolder(t);
  const data = join(parent, 'data');
  mkdirSync(data);
  const folder = new WorkFolder(join(data, 'work'), { path: data, identity: identityOf(statSync(data)) });
  await folder.make();
  renameSync(data, join(parent, 'moved'));
  mkdirSync(data);
  await t.rejects(folder.check({ write: false }), { message: /data was moved or replaced/ });
  t.same(readdirSync(data), []);
  rmSync(data, { recursive: true });
  renameSync(join(parent, 'moved'), data);
  t.equal(await folder.check({ write: true }), false, 'it is in its place again');
});

t.test('a place where no folder can be made is an error, and does not block the process', async (t) => {
  await t.rejects(new WorkFolder('/proc/scenepress/work').make(), { code: 'ENOENT' });
  const deep = new WorkFolder(join(testFolder(t), 'a/b/work'));
  await deep.make();
  t.equal(await deep.check({ write: true }), false);
});

t.test('a file at its path is an error and is kept', async (t) => {
  const folder = new WorkFolder(join(testFolder(t), 'work'));
  await folder.make();
  rmSync(folder.path, { recursive: true });
  writeFileSync(folder.path, '');
  await t.rejects(folder.check({ write: false }), { code: 'EEXIST' });
  t.ok(existsSync(folder.path));
});

t.test('a read-only file system is an error', { skip: noMounts() }, (t) => {
  const path = testFolder(t);
  const module = pathToFileURL(join(import.meta.dirname, '../../../../lib/render/start/work-folder.ts'));
  const source = `
    import { WorkFolder } from ${JSON.stringify(module)};
    const folder = new WorkFolder(${JSON.stringify(path)});
    await folder.check({ write: true }).catch(({ code }) => console.log(code));`;
  t.equal(whereMounted('ro', path, source), 'EROFS\n');
  t.end();
});
