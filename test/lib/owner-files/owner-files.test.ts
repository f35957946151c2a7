import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type AssetStore, DataFolder, RenderService, type RenderServiceOptions } from '../../../lib/index.ts';
import { FileRemoval } from '../../../lib/owner-files/file-removal.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CODE = 'from manim import *';

/** A service that renders nothing, with its folder. */
async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const folder = await temporaryFolder(t);
  const dataFolder = new DataFolder(folder);
  const service = new RenderService({ dataFolder, ...options });
  await service.startWithoutWorkers();
  t.teardown(() => service.stop());
  const put = (name: string, content: string | Uint8Array = name, owner = 'ada') =>
    service.files.put({ owner, name, content });
  /** How many contents are in the store. */
  const contents = () => readdirSync(join(folder, 'artifacts')).filter((name) => name.startsWith('c')).length;
  const { storage, assets } = dataFolder;
  const removal = new FileRemoval({
    storage,
    assets: options.assets ?? assets,
    clock: options.clock ?? systemClock,
  });
  return { service, folder, put, contents, removal };
}

t.test('a file is kept, listed, read and removed, by its owner only', async (t) => {
  const { service, put, contents } = await open(t);
  const { files } = service;
  const logo = await put('pictures/logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  t.match(logo, {
    fileId: /^f[0-9a-f]{48}$/,
    ...{ owner: 'ada', name: 'pictures/logo.svg', kind: 'drawing', sizeBytes: 41 },
    sha256: /^[0-9a-f]{64}$/,
  });
  t.same(await files.get(logo.fileId, { owner: 'ada' }), logo);
  const { stream, contentType, file } = await files.open(logo.fileId);
  t.equal(await text(stream), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  t.same([contentType, file], ['image/svg+xml', logo]);
  const part = await files.open(logo.fileId, { owner: 'ada', range: { start: 0, end: 3 } });
  t.same([await text(part.stream), part.sizeBytes], ['<svg', 41]);
  await put('a.csv');
  t.same(
    (await files.list({ owner: 'ada' })).map(({ name }) => name),
    ['a.csv', 'pictures/logo.svg'],
  );
  t.same(await files.list({ owner: 'ada', folder: 'pictures' }), [logo]);
  t.same(await files.list({ owner: 'eve' }), []);
  const foreign = { owner: 'eve' };
  await t.rejects(files.get(logo.fileId, foreign), { code: 'not_found' });
  await t.rejects(files.open(logo.fileId, foreign), { code: 'not_found' });
  await t.rejects(files.remove(logo.fileId, foreign), { code: 'not_found' });
  await files.remove(logo.fileId, { owner: 'ada' });
  await t.rejects(files.get(logo.fileId), { code: 'not_found' });
  await t.rejects(files.remove(logo.fileId), { code: 'not_found' });
  t.equal(contents(), 1);
});

t.test('equal contents of an owner are stored once, those of two owners twice', async (t) => {
  const { service, put, contents } = await open(t);
  const one = await put('one.txt', 'same');
  await put('two.txt', 'same');
  await put('one.txt', 'same', 'eve');
  t.equal(contents(), 2);
  t.match(await service.files.usage('ada'), { files: 2, bytes: 4 });
  await service.files.remove(one.fileId);
  t.equal(contents(), 2);
  t.equal(await text((await service.files.open((await put('two.txt', 'same')).fileId)).stream), 'same');
});

t.test('a file replaces one of the same name, except by the same content', async (t) => {
  const { service, put, contents } = await open(t);
  const first = await put('a.txt', 'first');
  t.same(await put('a.txt', 'first'), first);
  const second = await put('a.txt', 'second');
  t.not(second.fileId, first.fileId);
  t.same(await service.files.list({ owner: 'ada' }), [second]);
  await t.rejects(service.files.get(first.fileId), { code: 'not_found' });
  t.equal(contents(), 1);
});

t.test('names and contents that scenes cannot use are refused, and leave nothing', async (t) => {
  const { service, folder, put, contents } = await open(t, { files: { largestBytes: 100 } });
  await put('a/b.txt');
  const cases: [name: string, content: string | Uint8Array, message: RegExp][] = [
    ['', 'x', /is a text of at most/],
    ['../a.txt', 'x', /no name of a file/],
    ['/a.txt', 'x', /no name of a file/],
    ['a//b.txt', 'x', /no name of a file/],
    ['a/.b.txt', 'x', /no name of a file/],
    ['a\\b.txt', 'x', /no name of a file/],
    ['a\nb.txt', 'x', /no name of a file/],
    ['\u202Etxt.txt', 'x', /no name of a file/],
    [' a.txt', 'x', /no name of a file/],
    ['1/2/3/4/5/6/7/8/9.txt', 'x', /at most 8 parts/],
    [`${'x'.repeat(600)}.txt`, 'x', /at most 512 bytes/],
    [`${'x'.repeat(300)}.txt`, 'x', /no name of a file/],
    ['a.exe', 'x', /no kind that scenes use. Names end in png, /],
    [
      'tmp/a.txt',
      'x',
      /Scenes would not find tmp\/a.txt: the renderer has files or a folder of its own there/,
    ],
    ['channel/a.txt', 'x', /would not find/],
    ['media/Tex/a.tex', 'x', /would not find/],
    ['media/media/a.txt', 'x', /would not find/],
    ['output.png', 'x', /would not find/],
    ['scene.py', 'x', /would not find/],
    ['a', 'x', /no kind/],
    ['a/b.txt/c.txt', 'x', /a\/b.txt would be a file and a folder/],
    ['a.png', 'x', /not that of a .png file/],
    ['a.png', '<svg>', /not that of a .png file/],
    ['a.mp3', 'GIF89a', /not that of a .mp3 file/],
    ['a.svg', 'text', /no <svg> element/],
    ['a.py', new Uint8Array([0x61, 0xff]), /not text in UTF-8/],
    ['a.py', new Uint8Array([0x61, 0xc3]), /not text in UTF-8/],
    ['a.txt', 'a\0b', /NUL character/],
    ['a.txt', 'x'.repeat(101), /at most/],
  ];
  for (const [name, content, message] of cases)
    await t.rejects(put(name, content), { code: 'invalid_request', message }, name);
  await t.rejects(put('a.txt', 'x', ''), { code: 'invalid_request' });
  const failing = (async function* () {
    yield Buffer.from('x');
    throw new Error('the client has left');
  })();
  await t.rejects(
    service.files.put({ owner: 'ada', name: 'c.txt', content: failing }),
    /the client has left/,
  );
  const aborted = { owner: 'ada', name: 'c.txt', content: 'x', signal: AbortSignal.abort() };
  await t.rejects(service.files.put(aborted), { name: 'AbortError' });
  t.equal(contents(), 1);
  t.same(readdirSync(join(folder, 'work', 'uploads')), []);
});

t.test('a name is no folder of another, also while both are being stored', async (t) => {
  const { put } = await open(t);
  await put('a/b.txt');
  // With this end, the folder has the name of a file.
  await put('b.txt/c.txt');
  await t.rejects(put('b.txt'), { message: /b.txt would be a file and a folder/ });
  const results = await Promise.allSettled([put('c.txt'), put('c.txt/d.txt')]);
  t.same(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

t.test('the limits of an owner hold, also when files are stored at once', async (t) => {
  const limitsOf = (owner: string) => (owner === 'eve' ? { mostFiles: 1 } : undefined);
  const { service, put, contents } = await open(t, { files: { mostFiles: 5, mostBytes: 10, limitsOf } });
  await put('a.txt', '1', 'eve');
  const beyond = { code: 'too_much_stored', message: /1 files, which is the limit. Remove some/ };
  await t.rejects(put('b.txt', '2', 'eve'), beyond);
  await put('a.txt', '2', 'eve');
  const names = Array.from({ length: 8 }, (_, index) => `${index}.txt`);
  const small = await Promise.allSettled(names.map((name) => put(name, name.slice(0, 1))));
  t.equal(small.filter(({ status }) => status === 'fulfilled').length, 5);
  t.match(await service.files.usage('ada'), { files: 5, bytes: 5, mostFiles: 5, mostBytes: 10 });
  const large = await Promise.allSettled(
    ['0.txt', '1.txt', '2.txt'].map((name) => put(name, `long${name[0]}`)),
  );
  t.equal(large.filter(({ status }) => status === 'fulfilled').length, 1);
  t.match(
    large.find(({ status }) => status === 'rejected'),
    { reason: { code: 'too_much_stored' } },
  );
  t.equal(contents(), 6);
});

t.test('a job uses all files of its owner, those that it names, or those of an earlier job', async (t) => {
  const { service, put, contents } = await open(t);
  const used = async (jobId: string) =>
    Object.fromEntries((await service.filesOf(jobId)).files.map(({ name, fileId }) => [name, fileId]));
  const enqueue = async (files?: Record<string, string>) =>
    (await service.enqueue({ owner: 'ada', className: 'A', code: CODE, ...(files && { files }) })).jobId;
  t.same(await used(await enqueue()), {});
  const logo = await put('logo.txt', 'old');
  const other = await put('other.txt');
  const foreign = await put('foreign.txt', 'x', 'eve');
  const all = await enqueue();
  t.same(await used(all), { 'logo.txt': logo.fileId, 'other.txt': other.fileId });
  const named = await enqueue({ 'brand/sign.txt': logo.fileId });
  t.same(await used(named), { 'brand/sign.txt': logo.fileId });
  t.same(await used(await enqueue({})), {});
  for (const fileId of [foreign.fileId, 'f0', ''])
    await t.rejects(enqueue({ 'a.txt': fileId }), {
      code: 'not_found',
      message: /There is no file .*, for a.txt/,
    });
  await t.rejects(enqueue({ 'a.py': logo.fileId }), {
    message: /a.py would be logo.txt, which is of another kind/,
  });
  await t.rejects(enqueue({ '../a.txt': logo.fileId }), { code: 'invalid_request' });
  await t.rejects(enqueue({ 'a.txt': logo.fileId, 'a.txt/b.txt': logo.fileId }), { code: 'invalid_request' });
  await t.rejects(enqueue(JSON.parse('{ "a.txt": 5 }')), { code: 'invalid_request' });
  await t.rejects(enqueue(JSON.parse('[]')), { code: 'invalid_request' });

  const replaced = await put('logo.txt', 'new');
  t.same((await used(await enqueue()))['logo.txt'], replaced.fileId);
  t.equal(contents(), 4, 'the old content is used by a job');
  const again = await service.renderAgain(all);
  t.same(await used(again.jobId), await used(all));
  const changed = await service.renderAgain(all, { changes: { files: { 'a.txt': replaced.fileId } } });
  t.same(await used(changed.jobId), { 'a.txt': replaced.fileId });
  const [first] = await service.enqueueMany([{ owner: 'ada', className: 'A', code: CODE }]);
  t.same(await used(first?.jobId ?? ''), { 'logo.txt': replaced.fileId, 'other.txt': other.fileId });
});

t.test('a removed file is discarded when no job uses it any more', async (t) => {
  const { service, put, contents, removal } = await open(t);
  const { fileId } = await put('a.txt');
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'A', code: CODE });
  await service.files.remove(fileId);
  await removal.recover();
  t.equal(contents(), 1);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 5 });
  await put('b.txt', 'a.txt');
  await service.cancel(jobId);
  await service.forget(jobId);
  t.same(await service.filesOf(jobId), { files: [], note: null });
  t.equal(contents(), 1, 'its content is shared');
  const [b] = await service.files.list({ owner: 'ada' });
  await service.files.remove(b?.fileId ?? '');
  t.equal(contents(), 0);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
});

t.test('all files of an owner are removed with its jobs', async (t) => {
  const { service, put, contents } = await open(t);
  for (let count = 0; count < 3; count++) await put(`${count}.txt`);
  await put('0.txt', 'x', 'eve');
  await service.enqueue({ owner: 'ada', className: 'A', code: CODE });
  await service.forgetAll('ada');
  t.equal(contents(), 1);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
});

t.test('what is being stored when its owner is removed, or the store fails, is not kept', async (t) => {
  const stored = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const kept = new Set<string>();
  let failure: Error | undefined;
  const assets: AssetStore = {
    async put(key) {
      stored.resolve();
      await mayEnd.promise;
      kept.add(key);
      if (failure) throw failure;
      return { sizeBytes: 1 };
    },
    open: async () => undefined,
    async delete(key) {
      kept.delete(key);
    },
  };
  const { service, put } = await open(t, { assets });
  const putting = put('a.txt');
  await stored.promise;
  await service.forgetAll('ada');
  mayEnd.resolve();
  await t.rejects(putting, { code: 'not_found' });
  failure = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  await t.rejects(put('a.txt'), { code: 'storage_full', cause: failure });
  t.same([...kept], []);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
});

t.test('a content that took an hour to store is not left when its file was given up meanwhile', async (t) => {
  const clock = new FakeClock('2026-11-28T10:00:00Z');
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const kept = new Set<string>();
  const assets: AssetStore = {
    async put(key) {
      began.resolve();
      await mayEnd.promise;
      kept.add(key);
      return { sizeBytes: 1 };
    },
    open: async () => undefined,
    async delete(key) {
      kept.delete(key);
    },
  };
  const { service, put, removal } = await open(t, { assets, clock });
  const putting = put('a.txt');
  await began.promise;
  clock.advance(3_600_000);
  await removal.recover();
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
  mayEnd.resolve();
  await t.rejects(putting, { code: 'not_found' });
  t.same([...kept], []);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
});

t.test('a content that the store has lost or changed is stored again', async (t) => {
  const { service, folder, put } = await open(t);
  const { fileId, sha256 } = await put('a.txt', 'text');
  const [name = ''] = readdirSync(join(folder, 'artifacts')).filter((name) => name.startsWith('c'));
  const path = join(folder, 'artifacts', name, 'content.bin');
  rmSync(path);
  t.match(await put('a.txt', 'text'), { fileId, sha256 });
  t.equal(await text((await service.files.open(fileId)).stream), 'text');
  writeFileSync(path, 'evil');
  const other = await put('b.txt', 'text');
  t.equal(await text((await service.files.open(fileId)).stream), 'text');
  t.equal(await text((await service.files.open(other.fileId)).stream), 'text');
});

t.test('an owner that is refused keeps nothing', async (t) => {
  const { put } = await open(t, { admitsOwner: (owner) => owner !== 'eve' });
  await put('a.txt');
  await t.rejects(put('a.txt', 'x', 'eve'), { code: 'owner_refused' });
});

t.test('a file is renamed, and jobs find it under its earlier name', async (t) => {
  const { service, put, contents } = await open(t);
  const { files } = service;
  const logo = await put('logo.txt', 'x');
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'A', code: CODE });
  const renamed = await files.rename(logo.fileId, { owner: 'ada', name: 'brand/Logo.TXT' });
  t.same(renamed, { ...logo, name: 'brand/Logo.TXT' });
  t.same(await files.list({ owner: 'ada', search: 'LOGO' }), [renamed]);
  t.same(await files.list({ owner: 'ada', search: 'logo.png' }), []);
  t.same((await service.filesOf(jobId)).files, [{ name: 'logo.txt', fileId: logo.fileId }]);
  await put('other.txt');
  const rename = (name: string, owner = 'ada') => files.rename(logo.fileId, { owner, name });
  await t.rejects(rename('other.txt'), { code: 'conflict', message: /There is a file other.txt already/ });
  await t.rejects(rename('a.png'), { code: 'invalid_request', message: /of another format/ });
  await t.rejects(rename('../a.txt'), { code: 'invalid_request' });
  await t.rejects(rename('tmp/a.txt'), { code: 'invalid_request', message: /would not find/ });
  await t.rejects(rename('other.txt/a.txt'), { message: /a file and a folder/ });
  await t.rejects(rename('a.txt', 'eve'), { code: 'not_found' });
  t.same(await files.get(logo.fileId), renamed, 'what is refused changes nothing');
  t.same(await rename('brand/Logo.TXT'), renamed);
  t.equal((await rename('brand/Logo.TXT/a.txt')).name, 'brand/Logo.TXT/a.txt', 'its name becomes a folder');
  t.equal(contents(), 2);
  await files.remove(logo.fileId);
  await t.rejects(rename('b.txt'), { code: 'not_found' });
});
