import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, type JobRecord } from '../../../lib/index.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { alteredDisk } from '../../fixtures/altered-disk.ts';

async function openFolder(t: Test, path = t.testdir()): Promise<DataFolder> {
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  return folder;
}

function journalOf(path: string): string {
  return join(path, readdirSync(path).find((name) => name.startsWith('journal-')) as string);
}

function readJournal(path: string): string {
  return readFileSync(journalOf(path), 'utf8');
}

function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  writeFileSync(path, bytes);
}

/** All files of the database, by name. */
function contents(path: string): Record<string, string> {
  const names = readdirSync(path).filter((name) => /^(database|journal|rows)/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

const insert = ({ storage }: DataFolder, job: JobRecord, source = 'x') =>
  storage.transaction((tx) => storage.insertJob(tx, job, source));

t.test('a write that fails leaves everything as it was, on disk and in memory', async (t) => {
  let full = false;
  const disk = alteredDisk((file) => ({
    writeNow(bytes, position) {
      file.writeNow(full ? bytes.subarray(0, 100) : bytes, position);
      if (full) throw new Error('ENOSPC: no space left on device');
    },
  }));
  const path = t.testdir();
  const folder = new DataFolder(path, { disk });
  await folder.start();
  t.teardown(() => folder.stop());
  await insert(folder, jobRecord('1'));
  const { storage } = folder;
  const before = readJournal(path);
  full = true;
  const change = (attempts: number) =>
    storage.transaction((tx) => storage.updateJob(tx, jobRecord('1', { attempts })));
  const results = await Promise.allSettled([change(1), change(2), change(3)]);
  for (const result of results) t.match(result, { status: 'rejected', reason: { code: 'storage_failed' } });
  t.equal((await storage.getJob('1'))?.attempts, 0);
  t.equal(readJournal(path), before);

  full = false;
  await change(4);
  t.equal((await storage.getJob('1'))?.attempts, 4, 'it goes on when there is room again');
});

t.test('a handle is good for its own transaction only', async (t) => {
  const [one, other] = [await openFolder(t), await openFolder(t, join(t.testdir(), 'other'))];
  let kept: Parameters<Parameters<typeof one.storage.transaction>[0]>[0] | undefined;
  await one.storage.transaction(async (tx) => {
    kept = tx;
    await t.rejects(other.storage.insertJob(tx, jobRecord('1'), 'x'), 'of another database');
  });
  await t.rejects(
    one.storage.insertJob(kept as NonNullable<typeof kept>, jobRecord('1'), 'x'),
    'after its end',
  );
});

t.test('sources leave memory with a snapshot, and read the same afterwards', async (t) => {
  const path = t.testdir();
  const folder = new DataFolder(path, { snapshotAfterBytes: 20_000 });
  await folder.start();
  t.teardown(() => folder.stop());
  const source = (id: number) => `# ${id} \ud800\n`.repeat(300);
  for (let id = 1; id <= 30; id++) await insert(folder, jobRecord(String(id)), source(id));
  await folder.stop(); // Waits for a snapshot under way.
  t.match(readdirSync(path).join(' '), /pack-\d{8}/);
  await folder.start();
  for (let id = 1; id <= 30; id++) t.equal(await folder.storage.readSource(String(id)), source(id));
});

t.test('the folder and what is in it are the owner’s alone', async (t) => {
  const path = t.testdir({ data: {} });
  const folder = await openFolder(t, join(path, 'data'));
  await insert(folder, jobRecord('1'));
  t.equal(statSync(join(path, 'data')).mode & 0o777, 0o700);
  t.equal(statSync(join(path, 'data/database.jsonl')).mode & 0o777, 0o600);
});

/** A folder with some commits in it, closed. */
async function closedFolder(t: Test): Promise<string> {
  const path = t.testdir();
  const folder = await openFolder(t, path);
  for (const id of ['1', '2', '3']) await insert(folder, jobRecord(id));
  await folder.stop();
  return path;
}

const damages: [title: string, harm: (path: string) => void, message: RegExp][] = [
  [
    'a flipped bit in the journal’s middle',
    (path) => flipBit(journalOf(path), 500),
    /middle of journal-\d+ was altered/,
  ],
  [
    'a flipped bit in the journal’s last record',
    (path) => flipBit(journalOf(path), -300),
    /may have been acknowledged/,
  ],
  ['a flipped bit in the snapshot', (path) => flipBit(join(path, 'database.jsonl'), 30), /database\.jsonl/],
  ['a missing snapshot', (path) => rmSync(join(path, 'database.jsonl')), /database\.jsonl is missing/],
  ['a missing journal', (path) => rmSync(journalOf(path)), /journal from record 1 on is missing/],
  ['a cut-off snapshot', (path) => truncateSync(join(path, 'database.jsonl'), 20), /incomplete/],
  [
    'records in another order',
    (path) => {
      const [a, b, c] = readJournal(path).split('\n');
      writeFileSync(journalOf(path), `${[a, c, b].join('\n')}\n`);
    },
    /middle of journal-\d+ was altered/,
  ],
];
for (const [title, harm, message] of damages) {
  t.test(`${title} stops the start with a clear message, and nothing is changed`, async (t) => {
    const path = await closedFolder(t);
    harm(path);
    const before = contents(path);
    const folder = new DataFolder(path);
    await t.rejects(folder.start(), { code: 'storage_damaged', message });
    t.same(contents(path), before);
    await t.rejects(folder.start(), { code: 'storage_damaged' }, 'the lock was given back');
  });
}

t.test('a torn last record is dropped without a word: nobody was told of it', async (t) => {
  for (const cut of [1, 40, 200]) {
    const path = await closedFolder(t);
    truncateSync(journalOf(path), statSync(journalOf(path)).size - 1 - cut);
    const folder = await openFolder(t, path);
    t.equal((await folder.storage.listJobs({})).length, 2);
    await insert(folder, jobRecord('4'));
    await folder.stop();
    await folder.start();
    t.equal((await folder.storage.listJobs({})).length, 3);
    await folder.stop();
  }
});

t.test('a last record that lacks only its newline is kept', async (t) => {
  const path = await closedFolder(t);
  truncateSync(journalOf(path), statSync(journalOf(path)).size - 1);
  const folder = await openFolder(t, path);
  await insert(folder, jobRecord('4'));
  await folder.stop();
  await folder.start();
  t.equal((await folder.storage.listJobs({})).length, 4);
});

t.test('data of a later version is refused', async (t) => {
  const path = await closedFolder(t);
  const snapshot = readFileSync(join(path, 'database.jsonl'), 'utf8');
  writeFileSync(join(path, 'database.jsonl'), snapshot.replace(/"format":\d+/, '"format":99'));
  await t.rejects(new DataFolder(path).start(), { code: 'storage_damaged', message: /has format 99/ });
});

t.test('a second process is refused, and gets in when the first was killed', async (t) => {
  const path = t.testdir();
  const program = `
    import { DataFolder } from ${JSON.stringify(new URL('../../../lib/index.ts', import.meta.url).href)};
    await new DataFolder(process.argv[1]).start();
    console.log('open');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const folder = new DataFolder(path);
  await t.rejects(folder.start(), {
    code: 'storage_locked',
    message: new RegExp(`process id ${child.pid}\\b`),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await folder.start();
  await folder.stop();
});
