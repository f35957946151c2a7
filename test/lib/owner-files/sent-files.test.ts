import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, RenderService, type RenderServiceOptions } from '../../../lib/index.ts';
import { MOST_BYTES_OF_JOB } from '../../../lib/owner-files/file-limits.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CODE = 'from manim import *';

/** A service that renders nothing. */
async function open(t: Test, options: Partial<RenderServiceOptions> = {}) {
  const folder = await temporaryFolder(t);
  const dataFolder = new DataFolder(folder);
  const service = new RenderService({ dataFolder, ...options });
  await service.startWithoutWorkers();
  t.teardown(() => service.stop());
  type Request = Parameters<RenderService['enqueue']>[0];
  const enqueue = async (files?: Request['files'], more: Partial<Request> = {}) => {
    const request = { owner: 'ada', className: 'A', code: CODE, ...more };
    return (await service.enqueue({ ...request, ...(files && { files }) })).jobId;
  };
  const used = async (jobId: string) =>
    Object.fromEntries((await service.filesOf(jobId)).files.map(({ name, fileId }) => [name, fileId]));
  /** How many contents are in the store, and temporary files. */
  const left = () => [
    readdirSync(join(folder, 'artifacts')).filter((name) => name.startsWith('c')).length,
    readdirSync(join(folder, 'work', 'uploads')).length,
  ];
  return { service, enqueue, used, left, storage: dataFolder.storage };
}

t.test(
  'a content that comes with a request is of its job only, and of those that render it again',
  async (t) => {
    const { service, enqueue, used, left } = await open(t);
    const kept = await service.files.put({ owner: 'ada', name: 'kept.txt', content: 'kept' });
    const pieces = (async function* () {
      yield Buffer.from('in ');
      yield Buffer.from('pieces');
    })();
    const jobId = await enqueue({
      ...{ 'a/b.txt': { content: 'text' }, 'c.txt': { content: pieces }, 'd.txt': kept.fileId },
    });
    const files = await used(jobId);
    t.match(files, { 'a/b.txt': /^f/, 'c.txt': /^f/, 'd.txt': kept.fileId });
    t.same(left(), [3, 0]);
    t.same(await service.files.list({ owner: 'ada' }), [kept]);
    t.match(await service.files.usage('ada'), { files: 1, bytes: 17 });
    await t.rejects(service.files.get(files['c.txt'] ?? ''), { code: 'not_found' });
    await t.rejects(enqueue({ 'c.txt': files['c.txt'] ?? '' }), { code: 'not_found' });
    await t.rejects(enqueue({ 'c.txt': kept.fileId }, { owner: 'eve' }), { code: 'not_found' });
    t.same(await used(await enqueue()), { 'kept.txt': kept.fileId });
    const again = await service.renderAgain(jobId);
    t.same(await used(again.jobId), files);
    const changes = { files: { 'x.txt': { content: 'other' } } };
    t.same(Object.keys(await used((await service.renderAgain(jobId, { changes })).jobId)), ['x.txt']);
    for (const id of [jobId, again.jobId]) {
      t.equal(left()[0], 4);
      await service.cancel(id);
      await service.forget(id);
    }
    t.equal(left()[0], 2, 'removed with the last job that has them');
  },
);

t.test('equal contents under equal names are one file in one set', async (t) => {
  const { service, enqueue, used, left, storage } = await open(t);
  const first = await used(await enqueue({ 'a.txt': { content: 'same' } }));
  t.same(await used(await enqueue({ 'a.txt': { content: 'same' } })), first);
  t.not((await used(await enqueue({ 'b.txt': { content: 'same' } })))['b.txt'], first['a.txt']);
  await service.files.put({ owner: 'ada', name: 'a.txt', content: 'same' });
  t.same(await used(await enqueue({ 'a.txt': { content: 'same' } })), first);
  t.same(left(), [1, 0]);
  t.equal((await storage.files.of('ada', 9)).length, 3);
  await enqueue({ 'a.txt': { content: 'same' } }, { owner: 'eve' });
  t.same(left(), [2, 0], 'owners share nothing');
});

t.test('what is refused, or is cut in the middle, leaves nothing', async (t) => {
  const { service, enqueue, left, storage } = await open(t, {
    ...{ files: { largestBytes: 400, mostBytes: 600 }, queue: { maxQueuedPerOwner: 1 } },
    admitsOwner: (owner) => owner !== 'mallory',
  });
  const a = { content: 'a' };
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`${index}.txt`, a]));
  const files = async function* (...given: [string, { content: string }][]) {
    yield* given;
  };
  const cut = async function* (): AsyncGenerator<[string, { content: AsyncIterable<Uint8Array> }]> {
    const content = (async function* () {
      yield Buffer.from('x');
      throw new Error('the client has left');
    })();
    yield ['a.txt', { content }];
  };
  const invalid = (message: RegExp) => ({ code: 'invalid_request', message });
  await t.rejects(enqueue({ 'a.txt': a, '../b.txt': a }), invalid(/no name of a file/));
  await t.rejects(enqueue({ 'a.txt': a, 'tmp/b.txt': a }), invalid(/would not find/));
  await t.rejects(enqueue({ 'a.txt': a, 'a.txt/b.txt': a }), invalid(/a file and a folder/));
  await t.rejects(enqueue({ 'a.txt': a, 'a.png': a }), invalid(/^a.png: The content is not that of/));
  await t.rejects(enqueue({ 'a.txt': a, 'b.txt': 5 as never }), invalid(/ids of files, or contents/));
  await t.rejects(enqueue({ 'a.txt': a, 'b.txt': { content: 5 } as never }), invalid(/or contents/));
  await t.rejects(enqueue(many), invalid(/at most 500 files/));
  await t.rejects(enqueue(files(['a.txt', a], ['a.txt', a])), invalid(/^a.txt is given twice/));
  await t.rejects(enqueue(files(['a.txt', a], ['', a])), invalid(/is a text/));
  await t.rejects(enqueue(files(...Object.entries(many))), invalid(/at most 500 files/));
  await t.rejects(enqueue({ 'a.txt': { content: 'x'.repeat(401) } }), invalid(/^a.txt: A file has at most/));
  await t.rejects(enqueue({ 'a.txt': a, 'b.txt': 'f1' }), { code: 'not_found' });
  const large = { 'a.txt': { content: 'x'.repeat(390) }, 'b.txt': { content: 'y'.repeat(390) } };
  await t.rejects(enqueue(large), { code: 'too_much_stored' });
  await t.rejects(enqueue(cut()), /the client has left/);
  await t.rejects(enqueue({ 'a.txt': a }, { owner: 'mallory' }), { code: 'owner_refused' });
  t.same(left(), [0, 0]);
  await enqueue();
  await t.rejects(enqueue({ 'a.txt': a }), { code: 'queue_full' });
  t.same(left(), [0, 0]);
  t.same(await storage.files.of('ada', 9), []);
  t.match(await service.files.usage('ada'), { files: 0, bytes: 0 });
});

t.test('the files of a request are too large together before they are all received', async (t) => {
  const { enqueue, left } = await open(t);
  const block = new Uint8Array(50 * 1024 * 1024).fill(0x61);
  let received = 0;
  const endless = (async function* (): AsyncGenerator<[string, { content: AsyncIterable<Uint8Array> }]> {
    for (let index = 0; ; index++) {
      const content = (async function* () {
        received += block.length;
        yield block;
      })();
      yield [`${index}.txt`, { content }];
    }
  })();
  const message = /The files of a job have at most 200 MiB together/;
  await t.rejects(enqueue(endless), { code: 'invalid_request', message });
  t.equal(received, MOST_BYTES_OF_JOB + block.length);
  t.same(left(), [0, 0]);
});

t.test('a repeated request returns the first job, and one with other contents conflicts', async (t) => {
  const { enqueue, left } = await open(t);
  const idempotency = { key: 'k' };
  const jobId = await enqueue({ 'a.txt': { content: 'a' } }, { idempotency });
  t.equal(await enqueue({ 'a.txt': { content: 'a' } }, { idempotency }), jobId);
  await t.rejects(enqueue({ 'a.txt': { content: 'b' } }, { idempotency }), { code: 'conflict' });
  await t.rejects(enqueue({ 'b.txt': { content: 'a' } }, { idempotency }), { code: 'conflict' });
  await t.rejects(enqueue(undefined, { idempotency }), { code: 'conflict' });
  t.same(left(), [1, 0]);
});

t.test('jobs that are added together have their own contents', async (t) => {
  const { service, used, left } = await open(t);
  const request = { owner: 'ada', className: 'A', code: CODE };
  const jobs = await service.enqueueMany([
    { ...request, files: { 'a.txt': { content: 'a' } } },
    { ...request, files: {} },
    { ...request, files: { 'a.txt': { content: 'b' } } },
  ]);
  const sets = await Promise.all(jobs.map(({ jobId }) => used(jobId)));
  t.match(sets, [{ 'a.txt': /^f/ }, {}, { 'a.txt': /^f/ }]);
  t.not(sets[0]?.['a.txt'], sets[2]?.['a.txt']);
  t.same(left(), [2, 0]);
});

t.test('checks and pictures take contents only for an owner', async (t) => {
  const { service } = await open(t);
  const files = { 'a.txt': { content: 'a' } };
  await t.rejects(service.check(CODE, { files }), { code: 'invalid_request', message: /give `owner`/ });
});
