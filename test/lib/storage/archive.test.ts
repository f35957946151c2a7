import { cpSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type Disk, realDisk } from '../../../lib/storage/disk.ts';
import { entriesOf } from '../../../lib/storage/lowdb/cursor.ts';
import { LowdbDatabase, type LowdbDatabaseOptions } from '../../../lib/storage/lowdb/database.ts';
import { Pack } from '../../../lib/storage/lowdb/pack.ts';
import { SimulatedDisk, seededRandom } from '../../fixtures/simulated-disk.ts';

interface Row {
  owner: string;
  over: boolean;
  text: string;
}
type Rows = Map<string, Row>;

function openDatabase(folder: string, options: LowdbDatabaseOptions = {}): LowdbDatabase {
  const database = new LowdbDatabase(folder, { snapshotAfterBytes: 1, recentJobs: 0, ...options });
  database.archive<Row & { id: string }>('rows', {
    finished: ({ over }) => over,
    keepsRecent: true,
    indexes: { byOwner: ({ owner, id }) => ({ bucket: [owner], order: id }) },
  });
  return database;
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

function put(database: LowdbDatabase, id: string, row: Partial<Row>): Promise<void> {
  return database.transaction(async (tx) =>
    tx.put('rows', id, { id, owner: 'a', over: true, text: '', ...row }),
  );
}

function packsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('pack-'));
}

/** A database whose rows 0 to 99 are in two packs, closed. */
async function closedFolder(t: Test): Promise<string> {
  const folder = t.testdir();
  for (const from of [0, 50]) {
    const database = openDatabase(folder);
    await database.start();
    // In one transaction: how many snapshots come amid several, and so how many packs, is chance.
    await database.transaction(async (tx) => {
      for (let id = from; id < from + 50; id++) {
        tx.put('rows', String(id), { id: String(id), owner: 'a', over: true, text: 'x'.repeat(1000) });
      }
    });
    await database.stop();
  }
  t.equal(packsIn(folder).length, 2);
  return folder;
}

const id = fc.constantFrom('', '\0', '"', '\ud800', '数', '__proto__', ...Array.from('abcdefgh'));
const owner = fc.constantFrom('a', 'a\0b', 'b', '');
/** Some fill a block of a pack alone. */
const text = fc.oneof(
  fc.string(),
  fc.nat().map((n) => String(n).repeat(3000)),
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id,
      owner,
      over: fc.boolean(),
      text,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const) }) },
);

t.test('rows are found, listed and viewed wherever they are, as if they were all in memory', async (t) => {
  const folder = t.testdir();
  const history = fc.array(step, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), fc.constantFrom(0, 2), async (steps, seed, recentJobs) => {
      const disk = new SimulatedDisk(seededRandom(seed));
      let database = openDatabase(folder, { disk, recentJobs });
      await database.start();
      await using _ = { [Symbol.asyncDispose]: () => database.stop() }; // Also when it failed: smaller histories follow.
      const model: Rows = new Map();
      for (const step of steps) {
        if (step.do === 'put') {
          const { do: _, id, ...row } = step;
          // A row that is over isn't given to another owner.
          const owner = model.get(id)?.owner ?? row.owner;
          await put(database, id, { ...row, owner });
          model.set(id, { ...row, owner });
        } else if (step.do === 'remove') {
          await database.transaction(async (tx) => tx.remove('rows', step.id));
          model.delete(step.id);
        } else if (step.do === 'purge') await database.purge();
        else {
          await database.stop();
          database = openDatabase(folder, { disk, recentJobs });
          await database.start();
        }
      }
      await compare(database, model);
    }),
    { numRuns: 300 },
  );
});

t.test('a row that comes again in a bucket whose name begins the former one’s is listed once', async (t) => {
  const database = openDatabase(t.testdir(), { recentJobs: 0 });
  await database.start();
  t.teardown(() => database.stop());
  await put(database, 'x', { owner: 'a\0b' });
  await database.purge();
  await database.transaction(async (tx) => tx.remove('rows', 'x'));
  await put(database, 'x', { owner: 'a' });
  await database.purge();
  await compare(database, new Map([['x', { owner: 'a', over: true, text: '' }]]));
});

async function compare(database: LowdbDatabase, model: Rows): Promise<void> {
  const ids = [...model.keys()].sort();
  await using view = database.view('rows');
  const viewed = (await all(view.rows<{ id: string }>('rows'))).map(({ id }) => id);
  if (JSON.stringify(viewed) !== JSON.stringify(ids)) throw new Error(`viewed ${JSON.stringify(viewed)}`);
  for (const id of ['', '\0', '"', '\ud800', '数', '__proto__', ...'abcdefgh']) {
    const found = await database.find<Row>('rows', id);
    if (found?.text !== model.get(id)?.text)
      throw new Error(`${JSON.stringify(id)} is ${JSON.stringify(found)}`);
  }
  for (const owner of ['a', 'a\0b', 'b', '']) {
    for (const before of [undefined, 'd']) {
      const listing = { index: 'byOwner', buckets: [[owner]], ...(before !== undefined && { before }) };
      const listed = (await all(database.newestFirst<{ id: string }>('rows', listing))).map(({ id }) => id);
      const expected = ids
        .filter((id) => model.get(id)?.owner === owner && (before === undefined || id < before))
        .reverse();
      if (JSON.stringify(listed) !== JSON.stringify(expected)) {
        throw new Error(
          `of ${JSON.stringify(owner)} it listed ${JSON.stringify(listed)}, not ${JSON.stringify(expected)}`,
        );
      }
    }
  }
}

t.test('while thousands of rows leave memory, each is seen once, as it was last written', async (t) => {
  const database = openDatabase(t.testdir(), { snapshotAfterBytes: 100_000 });
  await database.start();
  t.teardown(() => database.stop());
  const ids = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, '0'));
  await database.transaction(async (tx) => {
    for (const id of ids) tx.put('rows', id, { id, owner: 'a', over: true, text: 'first' });
  });
  let left = false;
  const leaving = database.purge().then(() => {
    left = true;
  });
  const newest = ids.slice(-20).reverse();
  const wrong: unknown[] = [];
  let looks = 0;
  for (let at = 0; !left; at = (at + 701) % ids.length) {
    const id = ids[at] as string;
    await put(database, id, { text: `look ${looks}` });
    const found = await database.find<Row>('rows', id);
    if (found?.text !== `look ${looks}`) wrong.push({ id, found });
    await using view = database.view('rows');
    const seen = (await all(view.rows<Row & { id: string }>('rows'))).map((row) => row.id);
    if (seen.join() !== ids.join()) wrong.push({ seen });
    const listed: string[] = [];
    for await (const row of database.newestFirst<Row & { id: string }>('rows', {
      index: 'byOwner',
      buckets: [['a']],
    })) {
      if (listed.push(row.id) === newest.length) break;
    }
    if (listed.join() !== newest.join()) wrong.push({ listed });
    looks += 1;
  }
  await leaving;
  t.same(wrong, []);
  t.ok(looks > 1, 'it was looked at meanwhile');
});

t.test('packs stay few, however many snapshots are written', async (t) => {
  const folder = t.testdir();
  const database = openDatabase(folder);
  await database.start();
  for (let id = 0; id < 300; id++) {
    await put(database, String(id).padStart(4, '0'), { text: String(Math.random()) });
    await database.purge();
  }
  t.ok(packsIn(folder).length <= 12, `${packsIn(folder).length} packs`);
  t.equal((await all(database.newestFirst('rows'))).length, 300);
  await database.stop();
});

t.test('who reads a view goes on while its packs are merged and removed', async (t) => {
  const folder = t.testdir();
  const database = openDatabase(folder);
  await database.start();
  for (let id = 0; id < 20; id++) await put(database, String(id), { text: 'x'.repeat(20_000) });
  await database.purge();
  const before = packsIn(folder);
  await using view = database.view('rows');
  const rows = view.rows('rows');
  t.ok((await rows.next()).value);
  for (let id = 20; id < 40; id++) {
    await put(database, String(id), { text: 'x'.repeat(20_000) });
    await database.purge();
  }
  t.notSame(packsIn(folder).slice(0, before.length), before);
  t.equal((await all(rows)).length, 19);
  await database.stop();
});

t.test('what was replaced or removed is on the disk no more after a purge', async (t) => {
  const folder = t.testdir();
  const database = openDatabase(folder);
  await database.start();
  for (const id of ['1', '2', '3']) await put(database, id, { text: `secret ${id}` });
  await database.purge();
  await put(database, '1', { text: '' });
  await database.transaction(async (tx) => tx.remove('rows', '2'));
  await database.purge();
  await database.stop();
  const texts: string[] = [];
  for (const name of readdirSync(folder).filter((name) => /^(database|journal)/.test(name))) {
    texts.push(readFileSync(join(folder, name), 'utf8'));
  }
  for (const name of packsIn(folder)) {
    const pack = await Pack.open(realDisk, folder, name);
    for (const table of pack.tables) {
      for await (const { json } of entriesOf(pack.cursor(table, {}))) texts.push(json ?? '');
    }
    await pack.release();
  }
  t.notMatch(texts.join(), /secret [12]/);
  t.match(texts.join(), /secret 3/);
});

t.test('a purge amid writes loses none of them', async (t) => {
  const folder = t.testdir();
  const failures: Error[] = [];
  let database = openDatabase(folder, {
    snapshotAfterBytes: 1_000_000,
    onFatal: (error) => failures.push(error),
  });
  await database.start();
  const written: string[] = [];
  let purged = false;
  const write = async (writer: number) => {
    for (let n = 0; !purged; n++) {
      await put(database, `${writer} ${n}`, { text: 'x'.repeat(200) });
      written.push(`${writer} ${n}`);
    }
  };
  const writing = [1, 2, 3].map(write);
  for (let n = 0; n < 10; n++) {
    const more = written.length + 3 * n + 1;
    while (written.length < more) await new Promise(setImmediate);
    await Promise.all([database.purge(), database.purge()]);
  }
  purged = true;
  await Promise.all(writing);
  await database.stop();
  t.same(failures, []);
  database = openDatabase(folder);
  await database.start();
  await using view = database.view('rows');
  const rows = await all(view.rows<{ id: string }>('rows'));
  t.same(
    rows.map(({ id }) => id),
    written.sort(),
  );
  await database.stop();
});

t.test('a folder that could not be flushed loses nothing, whatever of it is on the disk', async (t) => {
  const root = t.testdir();
  const folder = join(root, 'data');
  let last = '';
  let fails = '-';
  const disk: Disk = {
    ...realDisk,
    open(path, how) {
      last = basename(path);
      return realDisk.open(path, how);
    },
    rename(from, to) {
      last = basename(to);
      return realDisk.rename(from, to);
    },
    async syncFolder(path) {
      if (last.startsWith(fails))
        throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
      await realDisk.syncFolder(path);
    },
  };
  let database = openDatabase(folder, { disk, snapshotAfterBytes: 1_000_000 });
  await database.start();
  let rows = 0;
  // A journal that is not used, one before a snapshot that isn't there, and one before a snapshot that may be.
  for (fails of ['journal', 'pack', 'database', 'journal', 'database']) {
    await put(database, String(rows++), {});
    await t.rejects(database.purge(), { code: 'EMFILE' });
    await put(database, String(rows++), {});
    fails = '-';
    const copy = join(root, `found-${rows}`);
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, 'lock'));
    const found = openDatabase(copy);
    await found.start();
    for (let id = 0; id < rows; id++) t.ok(await found.find('rows', String(id)), `${id} of ${rows} is there`);
    await found.stop();
  }
  await database.purge();
  t.equal(packsIn(folder).length, 1, 'what was kept in case goes when it is not needed');
  await database.stop();
  database = openDatabase(folder);
  await database.start();
  for (let id = 0; id < rows; id++) t.ok(await database.find('rows', String(id)), `${id} is there`);
  await database.stop();
});

t.test('what stands before a removed row in a pack is found after a purge', async (t) => {
  const folder = t.testdir();
  const text = (id: number) => String(id).repeat(9000); // Each fills a block alone.
  let database = openDatabase(folder, { snapshotAfterBytes: 1_000_000 });
  await database.start();
  for (let id = 0; id < 5; id++) await put(database, String(id), { text: text(id) });
  await database.purge();
  for (const id of ['4', '3']) {
    await database.transaction(async (tx) => tx.remove('rows', id));
    await database.purge();
    t.equal(await database.find('rows', id), undefined);
    for (let left = 0; left < 3; left++)
      t.match(await database.find('rows', String(left)), { text: text(left) });
  }
  await database.stop();
  database = openDatabase(folder);
  await database.start();
  t.match(await database.find('rows', '2'), { text: text(2) });
  await database.stop();
});

t.test('a pack that is missing or was altered stops the start with a clear message', async (t) => {
  const harms: [harm: (path: string) => void, message: RegExp][] = [
    [(path) => rmSync(path), /pack-\d+ is damaged: it is missing/],
    [
      (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
      /pack-\d+ is damaged: it is not whole/,
    ],
    [(path) => flipBit(path, -100), /pack-\d+ is damaged: it is not whole/],
  ];
  for (const [harm, message] of harms) {
    const folder = await closedFolder(t);
    harm(join(folder, packsIn(folder)[0] as string));
    await t.rejects(openDatabase(folder).start(), { code: 'storage_damaged', message });
  }
});

t.test('a start that fails leaves no file open, and can be tried again', async (t) => {
  const folder = await closedFolder(t);
  const database = openDatabase(folder);
  const second = packsIn(folder).sort()[1] as string;
  const bytes = readFileSync(join(folder, second));
  rmSync(join(folder, second));
  await t.rejects(database.start(), { code: 'storage_damaged' });
  const open = readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).startsWith(folder));
  t.same(open, []);
  writeFileSync(join(folder, second), bytes);
  await database.start();
  for (let id = 0; id < 100; id++) t.ok(await database.find('rows', String(id)));
  await put(database, 'another', {});
  await database.stop();
  const snapshot = readFileSync(join(folder, 'database.jsonl'), 'utf8');
  t.match(JSON.parse(snapshot.slice(0, snapshot.indexOf('\t'))), {
    packs: { length: packsIn(folder).length },
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // It was that of the folder of links.
  }
}

t.test('an altered row is never given out', async (t) => {
  const folder = await closedFolder(t);
  for (const name of packsIn(folder)) flipBit(join(folder, name), 5);
  const database = openDatabase(folder);
  await database.start();
  await t.rejects(database.find('rows', '0'), { code: 'storage_damaged', message: /altered \(at byte 0\)/ });
  await t.rejects(all(database.newestFirst('rows')), { code: 'storage_damaged' });
  await database.stop();
});

function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  writeFileSync(path, bytes);
}
