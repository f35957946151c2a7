import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, RenderService, type RenderServiceOptions } from '../../../lib/index.ts';
import { backUp, restore } from '../../../lib/operations.ts';
import { UploadFolder } from '../../../lib/owner-files/upload-folder.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CODE = 'from manim import *';
const REQUEST = { owner: 'ada', className: 'A', code: CODE };

async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const folder = await temporaryFolder(t);
  const dataFolder = new DataFolder(folder);
  const service = new RenderService({ dataFolder, ...options });
  await service.startWithoutWorkers();
  t.teardown(() => service.stop());
  const put = (name: string, content: string | AsyncIterable<Uint8Array> = name, owner = 'ada') =>
    service.files.put({ owner, name, content });
  return { service, dataFolder, folder, put };
}

/** A content that is received as far as it is asked for. */
function slow(text: string) {
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const content = (async function* () {
    yield Buffer.from(text);
    begun.resolve();
    await mayEnd.promise;
  })();
  return { content, begun: begun.promise, end: () => mayEnd.resolve() };
}

t.test('the sets of files that jobs use are limited, each counts once', async (t) => {
  const { service, put } = await open(t, { files: { mostFiles: 1 } });
  const { fileId } = await put('a.txt');
  const enqueue = (folder: string) => {
    const names = Array.from({ length: 20 }, (_, index) => [`${folder}/${index}.txt`, fileId]);
    return service.enqueue({ ...REQUEST, files: Object.fromEntries(names) });
  };
  const first = await enqueue('1');
  await enqueue('2');
  await enqueue('2');
  const message = /different sets of files, with more than 50 entries together. Forget jobs/;
  await t.rejects(enqueue('3'), { code: 'too_much_stored', message });
  await service.cancel(first.jobId);
  await service.forget(first.jobId);
  await enqueue('3');
});

t.test('what is received at the same time is limited, of an owner and of all', async (t) => {
  const limits = { largestBytes: 6, mostBytes: 10, receivingBytes: 14 };
  const { folder, put } = await open(t, { files: limits });
  const [one, two, three] = [slow('12345'), slow('abcde'), slow('ABCDE')];
  const puts = [put('1.txt', one.content), put('2.txt', two.content)];
  await Promise.all([one.begun, two.begun]);
  await t.rejects(put('3.txt', 'x'), { code: 'too_much_stored', message: /Remove some/ });
  const other = put('3.txt', three.content, 'eve');
  await t.rejects(other, { code: 'queue_full', message: /Too many files are being received/ });
  await put('4.txt', 'x', 'eve');
  one.end();
  two.end();
  await Promise.all(puts);
  t.same(readdirSync(join(folder, 'work', 'uploads')), []);
  // One file may be received beyond the limit: its content may be there already.
  await put('5.txt', '12345');
  await t.rejects(put('6.txt', '123456'), { code: 'too_much_stored' });
});

t.test('a file that is removed while a backup is made is in it, and is removed afterwards', async (t) => {
  const { service, dataFolder, folder, put } = await open(t);
  const { fileId } = await put('a.txt');
  const { jobId } = await service.enqueue({ ...REQUEST, files: { 'b.txt': { content: 'b' } } });
  await service.cancel(jobId);
  const copyDatabase = dataFolder.copyDatabase.bind(dataFolder);
  dataFolder.copyDatabase = async (target) => {
    await copyDatabase(target);
    await service.files.remove(fileId);
    await service.forget(jobId);
  };
  const contents = () => readdirSync(join(folder, 'artifacts')).filter((name) => name.startsWith('c'));
  const target = await temporaryFolder(t);
  await backUp(dataFolder, join(target, 'backup'));
  t.equal(contents().length, 2, 'they stayed meanwhile');
  await restore(join(target, 'backup'), join(target, 'restored'));
  const restored = new RenderService({ folder: join(target, 'restored') });
  await restored.startWithoutWorkers();
  t.teardown(() => restored.stop());
  const [file] = await restored.files.list({ owner: 'ada' });
  t.equal((await restored.files.open(file?.fileId ?? '')).sizeBytes, 5);
  t.equal(readdirSync(join(target, 'restored', 'artifacts')).length, 2);
  await put('c.txt', 'c');
  t.equal(contents().length, 3);
});

t.test('a job says why it got no files when its owner has too many', async (t) => {
  const { service, dataFolder } = await open(t);
  await dataFolder.storage.transaction(async (tx) => {
    for (let index = 0; index < 501; index++)
      await dataFolder.storage.files.insert(tx, {
        ...{ fileId: `f${index}`, owner: 'ada', name: `${index}.txt`, phase: 'stored', kind: 'data' },
        ...{ sizeBytes: 1, sha256: String(index), contentId: `c${index}`, createdAtMs: 1, dueAtMs: null },
      });
  });
  const { jobId } = await service.enqueue(REQUEST);
  const note =
    /^The account has more than 500 files, or more than 200 MiB, so the scene got none of them. Name/;
  t.match(await service.filesOf(jobId), { files: [], note });
  const named = await service.enqueue({ ...REQUEST, files: { 'a.txt': 'f7' } });
  t.same(await service.filesOf(named.jobId), { files: [{ name: 'a.txt', fileId: 'f7' }], note: null });
  const none = await service.enqueue({ ...REQUEST, files: {} });
  t.same(await service.filesOf(none.jobId), { files: [], note: null });
});

t.test(
  'uploads without a work folder have a private one, which is removed at the end and at the next start',
  async (t) => {
    const parent = await temporaryFolder(t);
    const folder = new UploadFolder(undefined, parent);
    const path = await folder.path();
    t.match(path, /scenepress-uploads-\d+-\w{6}$/);
    t.equal(statSync(path).mode & 0o777, 0o700);
    t.equal(await folder.path(), path);
    // No process has this id, and one that has ended had our own.
    for (const pid of [2 ** 22 + 1, process.pid]) mkdirSync(join(parent, `scenepress-uploads-${pid}-abcdef`));
    mkdirSync(join(parent, 'scenepress-uploads-1-abcdef'));
    writeFileSync(join(parent, 'scenepress-uploads-9-abcdef.txt'), '');
    await folder.start();
    const others = ['scenepress-uploads-1-abcdef', 'scenepress-uploads-9-abcdef.txt'];
    t.same(new Set(readdirSync(parent)), new Set([...others, path.slice(parent.length + 1)]));
    await folder.stop();
    t.same(new Set(readdirSync(parent)), new Set(others));
    t.not(await folder.path(), path);
    await folder.stop();
  },
);
