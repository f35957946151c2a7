import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { WorkFolder } from '../../../../lib/render/start/work-folder.ts';
import { noMounts, whereMounted } from '../../../fixtures/mounts.ts';

t.test('a folder that is as it was made can be used, and nothing is left of the try', async (t) => {
  const folder = new WorkFolder(join(t.testdir(), 'work'));
  await folder.make();
  t.equal(await folder.check({ write: false }), false);
  t.equal(await folder.check({ write: true }), false);
  t.same(readdirSync(folder.path), []);
});

t.test('one that is gone, or another, is made, with its rights', async (t) => {
  const folder = new WorkFolder(join(t.testdir(), 'work'));
  await folder.make();
  rmSync(folder.path, { recursive: true });
  t.equal(await folder.check({ write: true }), true);
  rmSync(folder.path, { recursive: true });
  mkdirSync(folder.path, { mode: 0o700 }); // By a worker.
  t.equal(await folder.check({ write: false }), true);
  t.equal(statSync(folder.path).mode & 0o777, 0o711);
  chmodSync(folder.path, 0o500);
  t.equal(await folder.check({ write: true }), false, 'its rights are put right');
  t.equal(await folder.check({ write: true }), false);
});

t.test('a file in its place is an error, and left', async (t) => {
  const folder = new WorkFolder(join(t.testdir(), 'work'));
  await folder.make();
  rmSync(folder.path, { recursive: true });
  writeFileSync(folder.path, '');
  await t.rejects(folder.check({ write: false }), { code: 'EEXIST' });
  t.ok(existsSync(folder.path));
});

t.test('a file system that takes nothing is an error', { skip: noMounts() }, (t) => {
  const path = t.testdir();
  const module = pathToFileURL(join(import.meta.dirname, '../../../../lib/render/start/work-folder.ts'));
  const source = `
    import { WorkFolder } from ${JSON.stringify(module)};
    const folder = new WorkFolder(${JSON.stringify(path)});
    await folder.check({ write: true }).catch(({ code }) => console.log(code));`;
  t.equal(whereMounted('ro', path, source), 'EROFS\n');
  t.end();
});
