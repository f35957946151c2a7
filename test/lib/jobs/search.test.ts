import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { JobSearches } from '../../../lib/jobs/search/job-searches.ts';
import { WordIndex } from '../../../lib/jobs/search/word-index.ts';
import { queryWords, wordsOf } from '../../../lib/jobs/search/words.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import type { JobSearch } from '../../../lib/model/job-search.ts';
import { backUp } from '../../../lib/operations.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

async function opened(t: Test) {
  const folder = new DataFolder(join(testFolder(t), 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const searches = new JobSearches({ storage, clock });
  const put = (jobId: string, change: Partial<JobRecord> = {}, code = '') =>
    storage.transaction((tx) =>
      storage.insertJob(tx, jobRecord(jobId, { phase: 'completed', ...change }), code),
    );
  const find = async (search: JobSearch | string) => {
    const { jobs } = await searches.search(typeof search === 'string' ? { text: search } : search);
    return jobs.map(({ jobId }) => jobId).join(' ');
  };
  return { storage, searches, clock, put, find };
}

t.test('words have neither case nor accents; parts of names count', async (t) => {
  t.same([...wordsOf('FourierSeries(Scene): Größe d’été')].sort(), [
    ...['d', 'ete', 'fourierseries', 'grosse', 'scene', 'series'],
  ]);
  t.same([...wordsOf('snake_case x2Y')], ['snake', 'case', 'x2y', 'y']);
  t.same(queryWords('  Été, été Fou'), ['ete', 'fou']);
});

t.test('a word index finds beginnings, and removes words that are left over', async (t) => {
  const words = new WordIndex();
  for (let document = 0; document < 20; document++) words.add(document, ['alpha', `al${document}`]);
  words.add(-1, ['beta']);
  const found = (prefix: string) => {
    const documents = new Set<number>();
    words.each(prefix, (document) => documents.add(document));
    return [...documents].sort((a, b) => a - b);
  };
  t.equal(found('a').length, 20);
  t.same(found('al1'), [1, ...Array.from({ length: 10 }, (_, i) => 10 + i)]);
  t.same(found('be'), [-1]);
  const { sizeBytes } = words;
  words.remove(new Set([-1, 19]));
  t.same([found('beta'), found('al19'), found('alpha').length], [[], [], 19]);
  t.ok(words.sizeBytes < sizeBytes);
});

t.test('all texts of a job are found, by the beginnings of all words', async (t) => {
  const { put, find } = await opened(t);
  await put(
    '1',
    { className: 'FourierSeries', title: 'Wellen im Sand', tags: ['Übung'], project: 'Analysis I' },
    'x = Dot()',
  );
  await put('2', {
    owner: 'b',
    metadataJson: '{"lesson":"waves"}',
    audio: [{ file: 'a.wav', text: 'Hello world' }],
  });
  await put('3', { phase: 'failed', error: 'NameError: banana', failedBy: 'scene' });
  await put('4', { captions: 'Der Satz des Pythagoras' });
  for (const [text, ids] of Object.entries({
    'fourier dot': '1',
    SERIES: '1',
    'wellen ubu anal': '1',
    waves: '2',
    'hell wor': '2',
    banan: '3',
    'pythag satz': '4',
    'dot banana': '',
    '': '4 3 2 1',
  }))
    t.equal(await find(text), ids, text);
  t.equal(await find({ text: 'waves', owner: 'a' }), '');
  t.equal(await find({ project: 'Analysis I', tag: 'Übung' }), '1');
  t.equal(await find({ status: 'failed', canceled: false }), '3');
  t.equal(await find({ order: 'oldest' }), '1 2 3 4');
});

t.test('pages follow each other in both orders', async (t) => {
  const { searches, put } = await opened(t);
  const ids = Array.from({ length: 120 }, (_, i) => `${1000 + i}`);
  for (const id of ids) await put(id);
  for (const order of ['newest', 'oldest'] as const) {
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await searches.search({ order, limit: 50, ...(cursor && { cursor }) });
      seen.push(...page.jobs.map(({ jobId }) => jobId));
      cursor = page.next;
    }
    t.same(seen, order === 'newest' ? ids.toReversed() : ids);
  }
});

t.test('a search sees jobs, ends, labels and forgetting since the last one', async (t) => {
  const { storage, clock, searches, put, find } = await opened(t);
  await put('1', { title: 'One' }, 'apple');
  await put('2', { phase: 'running', startedAtMs: 1 }, 'pear');
  t.equal(await find('apple'), '1');
  await put('3', {}, 'apple cherry');
  t.equal(await find('apple'), '3 1');
  const ended = { ...jobRecord('2', { phase: 'failed', error: 'ValueError: plum' }) };
  await storage.transaction((tx) => storage.updateJob(tx, ended));
  t.equal(await find('plum'), '2');
  t.equal(await find({ status: 'failed', text: 'pear' }), '2');
  await put('5', { phase: 'running', startedAtMs: 1 }, 'fig');
  t.equal(await find('lychee'), '');
  const completed = jobRecord('5', { phase: 'completed', captions: 'A lychee' });
  await storage.transaction((tx) => storage.updateJob(tx, completed));
  t.equal(await find('fig lychee'), '5');
  const one = jobRecord('1', {
    phase: 'completed',
    title: 'Renamed',
    starred: true,
    tags: ['t'],
    project: 'p',
  });
  await storage.transaction((tx) => storage.relabelJob(tx, one, clock.now()));
  t.equal(await find('renamed'), '1');
  t.equal(await find('one'), '');
  t.equal(await find({ starred: true }), '1');
  t.same(await searches.labels(), { projects: [{ name: 'p', count: 1 }], tags: [{ name: 't', count: 1 }] });
  await storage.transaction((tx) => storage.relabelJob(tx, { ...one, tags: null }, clock.now()));
  t.same(await searches.labels(), { projects: [{ name: 'p', count: 1 }], tags: [] });
  await storage.transaction((tx) => storage.forgetJob(tx, { ...one, forgottenAtMs: 1 }));
  await find('');
  t.same(await searches.labels(), { projects: [], tags: [] });
  t.equal(await find('apple'), '3', 'also one that another process forgot');
  searches.forget('3');
  t.equal(await find('cherry'), '');
});

t.test('an index that is not used is dropped', async (t) => {
  const { clock, put, find, searches } = await opened(t);
  await put('1', {}, 'apple');
  t.equal(await find('apple'), '1');
  searches.forget('1');
  t.equal(await find('apple'), '');
  clock.advance(17 * 60_000);
  t.equal(await find('apple'), '1', 'read again');
});

t.test('a search tells what is wrong with it', async (t) => {
  const { searches } = await opened(t);
  for (const wrong of [{ limit: 0 }, { order: 'title' }, { txt: 'a' }] as object[])
    await t.rejects(searches.search(wrong), { code: 'invalid_request' });
});

t.test('words of 300 forgotten jobs are nowhere: database, log, backup and index', async (t) => {
  const root = testFolder(t);
  const folder = new DataFolder(join(root, 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const searches = new JobSearches({ storage, clock: new FakeClock('2026-11-21T10:00:00Z') });
  const recordOf = (i: number) =>
    jobRecord(`${1000 + i}`, {
      phase: 'completed',
      title: `xylophone${i}`,
      project: 'zeppelin',
      tags: ['quokka'],
      captions: 'A wolverine',
    });
  const inserts = Array.from({ length: 310 }, (_, i) =>
    storage.transaction((tx) => storage.insertJob(tx, recordOf(i), `rhinoceros = ${i}`)),
  );
  await Promise.all(inserts);
  const starred = { ...recordOf(7), title: 'yellowhammer', starred: true };
  await storage.transaction((tx) => storage.relabelJob(tx, starred, 5));
  t.equal((await searches.search({ text: 'rhino xylo wolverine', limit: 400 })).jobs.length, 309);
  t.equal((await searches.search({ text: 'yellowhammer' })).jobs.length, 1);
  for (let i = 0; i < 310; i++) {
    const forgotten = {
      ...recordOf(i),
      title: null,
      project: null,
      tags: null,
      captions: null,
      className: '',
      forgottenAtMs: 9,
    };
    await storage.transaction((tx) => storage.forgetJob(tx, forgotten));
    searches.forget(forgotten.jobId);
  }
  await storage.purge();
  for (const text of ['rhino', 'xylo', 'yellow', 'quokka', 'zepp', 'wolv'])
    t.same((await searches.search({ text })).jobs, [], text);
  t.same(await searches.labels(), { projects: [], tags: [] });
  const backup = join(root, 'backup');
  await backUp(folder, backup);
  const words = ['rhinoceros', 'xylophone', 'yellowhammer', 'quokka', 'zeppelin', 'wolverine'];
  for (const place of [folder.path, backup]) {
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    t.ok(files.length > 0);
    for (const file of files) {
      const content = readFileSync(join(file.parentPath, file.name)).toString('latin1');
      for (const word of words) t.notOk(content.includes(word), `${word} in ${file.name}`);
    }
  }
});
