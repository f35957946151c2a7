import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { DataFolder, RenderService } from '../../../lib/index.ts';
import { contentKeyOf } from '../../../lib/model/owner-file.ts';
import { FileTrees } from '../../../lib/owner-files/file-trees.ts';
import { deepTest } from '../../fixtures/depth.ts';
import { smallDisk } from '../../fixtures/small-disk.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CODE = 'from manim import *';
const MIB = 1024 ** 2;
/** Two sets of one small file each fit, and three do not. */
const TWO_SETS_BYTES = 70_000;

/** Trees of the files of a service that renders nothing. */
async function open(
  t: Test,
  { mostBytes = MIB, folder: given }: { mostBytes?: number; folder?: string } = {},
) {
  const dataFolder = new DataFolder(await temporaryFolder(t));
  const service = new RenderService({ dataFolder });
  await service.startWithoutWorkers();
  t.teardown(() => service.stop());
  const folder = given ?? join(await temporaryFolder(t), 'work', 'files');
  const { storage, assets } = dataFolder;
  const trees = new FileTrees({
    ...{ files: storage.files, assets, folder, place: undefined, mostBytes, logger: silentLogger },
  });
  const put = (name: string, content: string) => service.files.put({ owner: 'ada', name, content });
  /** The files of a new job. */
  const set = async (files?: Record<string, string>) => {
    const request = { owner: 'ada', className: 'A', code: CODE, ...(files && { files }) };
    const used = await storage.files.usedBy((await service.enqueue(request)).jobId);
    if (!used) throw new Error('the job uses no files');
    return used;
  };
  const kept = () => ({
    sets: readdirSync(join(folder, 'sets')).length,
    contents: readdirSync(join(folder, 'contents')).length,
  });
  return { trees, put, set, kept, folder, service, storage, assets };
}

t.test('files are laid out under their names, for everybody to read', async (t) => {
  const { trees, put, set, kept } = await open(t);
  const { fileId } = await put('a/b/c.txt', 'text');
  await put('d.txt', 'text');
  const { path } = await trees.take(await set());
  t.equal(readFileSync(join(path, 'a/b/c.txt'), 'utf8'), 'text');
  t.equal(readFileSync(join(path, 'd.txt'), 'utf8'), 'text');
  t.equal(statSync(join(path, 'd.txt')).mode & 0o777, 0o444);
  for (const folder of [path, join(path, 'a'), join(path, 'a/b')])
    t.equal(statSync(folder).mode & 0o777, 0o755, folder);
  for (const folder of [join(path, '..'), join(path, '../..')])
    t.equal(statSync(folder).mode & 0o777, 0o711, folder);
  const named = await trees.take(await set({ 'other.txt': fileId }));
  t.same(readdirSync(named.path), ['other.txt']);
  t.same(kept(), { sets: 2, contents: 1 });
});

t.test('equal sets share a folder, also when they are taken at once', async (t) => {
  const { trees, put, set, kept } = await open(t);
  await put('a.txt', 'text');
  const taken = await Promise.all([trees.take(await set()), trees.take(await set())]);
  t.equal(taken[0].path, taken[1].path);
  t.same(kept(), { sets: 1, contents: 1 });
});

t.test(
  'what is unused longest goes first when contents are too large, and nothing that is used',
  async (t) => {
    const { trees, put, set, folder } = await open(t, { mostBytes: TWO_SETS_BYTES });
    const sets = [];
    for (const name of ['a.txt', 'b.txt', 'c.txt'])
      sets.push(await set({ [name]: (await put(name, `${name[0]}-text`)).fileId }));
    const [a, b, c] = await Promise.all(sets.map((one) => trees.take(one)));
    t.equal(readdirSync(join(folder, 'contents')).length, 3);
    b?.release();
    b?.release();
    const gone = join(folder, 'contents');
    while (readdirSync(gone).length > 2) await new Promise(setImmediate);
    t.notOk(existsSync(b?.path ?? ''));
    t.ok(existsSync(a?.path ?? '') && existsSync(c?.path ?? ''));
    a?.release();
    c?.release();
    t.ok(existsSync(a?.path ?? '') && existsSync(c?.path ?? ''), 'they are within the limit');
  },
);

t.test('a content that is not what was stored is not used, and is fetched again', async (t) => {
  const { trees, put, set, kept, storage, assets } = await open(t);
  const { fileId } = await put('a.txt', 'text');
  const file = await storage.files.get(fileId);
  const path = assets.path(contentKeyOf(file ?? { contentId: '' }));
  const used = await set();
  writeFileSync(path, 'evil');
  await t.rejects(trees.take(used), { code: 'storage_failed', message: /a.txt is not what was stored/ });
  t.same(kept(), { sets: 0, contents: 0 });
  rmSync(path);
  await t.rejects(trees.take(used), {
    code: 'not_found',
    message: /The content of a.txt is lost. Put the file again/,
  });
  writeFileSync(path, 'text');
  t.ok(existsSync((await trees.take(used)).path));
});

t.test('the folders are made again when the work folder was replaced', async (t) => {
  const { trees, put, set, folder } = await open(t);
  await put('a.txt', 'text');
  const used = await set();
  (await trees.take(used)).release();
  rmSync(join(folder, '..'), { recursive: true });
  const { path } = await trees.take(used);
  t.equal(readFileSync(join(path, 'a.txt'), 'utf8'), 'text');
});

t.test('folders and links count, too, so that small files do not fill the disk', async (t) => {
  const { trees, put, set, folder } = await open(t);
  const { fileId } = await put('a.txt', '');
  for (let count = 0; count < 20; count++)
    (await trees.take(await set({ [`1/2/3/4/5/6/7/${count}.txt`]: fileId }))).release();
  const sets = join(folder, 'sets');
  // Each has eight folders.
  while (readdirSync(sets).length > 8) await new Promise(setImmediate);
  t.equal(readdirSync(join(folder, 'contents')).length, 1);
});

t.test('contents of a set that could not be made are not kept', async (t) => {
  const { trees, put, set, kept, storage, assets } = await open(t);
  await put('a.txt', 'one');
  const { fileId } = await put('b.txt', 'two');
  const file = await storage.files.get(fileId);
  rmSync(assets.path(contentKeyOf(file ?? { contentId: '' })));
  await t.rejects(trees.take(await set()), { code: 'not_found' });
  while (kept().contents > 0) await new Promise(setImmediate);
  t.same(kept(), { sets: 0, contents: 0 });
});

const disk = smallDisk(t, 1);

t.test('what no job uses makes room when the disk is full', { skip: disk === undefined }, async (t) => {
  const { trees, put, set } = await open(t, { folder: join(disk ?? '', 'files'), mostBytes: 100 * MIB });
  const sets = [];
  for (const name of ['a', 'b', 'c'])
    sets.push(await set({ 'x.txt': (await put(`${name}.txt`, name.repeat(0.4 * MIB))).fileId }));
  const [a, b, c] = sets.map((one) => () => trees.take(one));
  (await a?.())?.release();
  const used = await b?.();
  t.ok(existsSync((await c?.())?.path ?? ''), 'it took the place of what was not used');
  t.ok(existsSync(used?.path ?? ''));
  const full = { code: 'storage_full', message: 'The disk is full. Try again later.' };
  if (a) await t.rejects(a(), full);
});

deepTest(t, 'a file that has as many links as the disk allows is copied', async (t) => {
  const { trees, put, set, folder } = await open(t);
  const { fileId } = await put('a.txt', 'text');
  await trees.take(await set());
  const contents = join(folder, 'contents');
  const path = join(contents, readdirSync(contents)[0] ?? '');
  const others = join(await temporaryFolder(t), 'links');
  mkdirSync(others);
  t.throws(() => {
    // Where there is no limit, the number has to do.
    for (let count = 0; count < 70_000; count++) linkSync(path, join(others, String(count)));
    throw new Error('70,000 links');
  });
  const { path: other } = await trees.take(await set({ 'b.txt': fileId }));
  t.equal(readFileSync(join(other, 'b.txt'), 'utf8'), 'text');
});
