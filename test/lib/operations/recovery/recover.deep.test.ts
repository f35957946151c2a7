import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { Connection } from '../../../../lib/databases/sqlite/connection.ts';
import { makeDatabase } from '../../../../lib/databases/sqlite/make-database.ts';
import { Schema } from '../../../../lib/databases/sqlite/migrated-schema.ts';
import { DataFolder, RenderService, StoredLedger } from '../../../../lib/index.ts';
import { salvage } from '../../../../lib/operations/recovery/salvage.ts';
import { recover } from '../../../../lib/operations.ts';
import { SQLITE_SCHEMA } from '../../../../lib/sql/sqlite/schema.ts';
import { abortAtEachCheck } from '../../../fixtures/aborts-at-check.ts';
import { isDeep, sample } from '../../../fixtures/depth.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const JOBS = 40;
const PAGE_BYTES = 4096;

/** A closed folder with completed jobs: a copy of one that is made once. */
async function usedFolder(test: Test): Promise<string> {
  const path = join(testFolder(test), 'data');
  used ??= temporaryFolder(t).then((folder) => makeUsedFolder(join(folder, 'data')));
  cpSync(await used, path, { recursive: true });
  return path;
}

let used: Promise<string> | undefined;

async function makeUsedFolder(path: string): Promise<string> {
  const folder = new DataFolder(path);
  await folder.start();
  const { storage } = folder;
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  await ledger.grantPaid('a', 1000);
  for (let number = 1; number <= JOBS; number++) {
    const jobId = `job${String(number).padStart(3, '0')}`;
    await storage.transaction(async (tx) => {
      await ledger.reserve({ jobId, owner: 'a', amountCredits: 5 }, tx);
      await ledger.settle({ jobId, owner: 'a', amountCredits: 3 }, tx);
      const job = jobRecord(jobId, {
        owner: 'a',
        phase: 'completed',
        reserveCredits: 5,
        creditsCost: 3,
        metadataJson: JSON.stringify('m'.repeat(500)),
      });
      await storage.insertJob(tx, job, `# ${jobId} ${'x'.repeat(300)}`);
    });
  }
  await folder.stop();
  return path;
}

const databaseIn = (path: string) => join(path, 'database.sqlite');

function change(path: string, how: (bytes: Buffer) => void): void {
  const bytes = readFileSync(databaseIn(path));
  how(bytes);
  writeFileSync(databaseIn(path), bytes);
}

function flip(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] as number) ^ 1;
}

/** The pages of a table or an index. */
function pagesOf(path: string, name: string): number[] {
  const database = new DatabaseSync(databaseIn(path));
  const rows = database.prepare('SELECT pageno FROM dbstat WHERE name = ? ORDER BY pageno').all(name);
  database.close();
  return rows.map(({ pageno }) => Number(pageno));
}

function keysIn(path: string, table: string): string[] {
  const database = new DatabaseSync(databaseIn(path));
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`)
    .all();
  const rows = database.prepare(`SELECT * FROM ${table}`).all();
  database.close();
  return rows.map((row) => columns.map(({ name }) => row[String(name)]).join(', '));
}

function textsOf(path: string, table: string, jobId: string): Buffer {
  const database = new DatabaseSync(databaseIn(path));
  const row = database.prepare(`SELECT texts FROM ${table} WHERE job_id = ?`).get(jobId);
  database.close();
  return Buffer.from(row?.['texts'] as Uint8Array);
}

function wipePage(path: string, page: number): void {
  change(path, (bytes) => bytes.fill(0xaa, (page - 1) * PAGE_BYTES, page * PAGE_BYTES));
}

function contents(path: string): Record<string, string> {
  const names = readdirSync(path).filter((name) => name.startsWith('database'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'latin1')]));
}

async function jobsIn(path: string): Promise<string[]> {
  const folder = new DataFolder(path);
  await folder.start();
  try {
    const jobs = await folder.storage.listJobs({ owner: 'a', limit: 1000 });
    for (const { jobId } of jobs) await folder.storage.readSource(jobId);
    const { problems } = await folder.ledgerStore.audit();
    t.same(jobs.length === JOBS ? problems : [], [], 'the ledger is consistent if all jobs are saved');
    return jobs.map(({ jobId }) => jobId).sort();
  } finally {
    await folder.stop();
  }
}

const damages: [title: string, harm: (path: string) => void, maxJobsLost: number][] = [
  [
    'a flipped byte in a source',
    (path) =>
      change(path, (bytes) => {
        const at = bytes.indexOf(textsOf(path, 'sources', 'job007')) + 20;
        bytes[at] = (bytes[at] as number) ^ 1;
      }),
    0,
  ],
  ['a wiped page of text keys', (path) => wipePage(path, pagesOf(path, 'text_keys')[0] as number), 0],
  ['a wiped page of jobs', (path) => wipePage(path, pagesOf(path, 'jobs').at(-1) as number), 20],
  ['a wiped root of jobs', (path) => wipePage(path, pagesOf(path, 'jobs')[0] as number), JOBS],
  ['a wiped page of sources', (path) => wipePage(path, pagesOf(path, 'sources').at(-2) as number), 0],
  ['a wiped page of an index', (path) => wipePage(path, pagesOf(path, 'jobs_of_owner').at(-1) as number), 0],
  ['a wiped page of accounts', (path) => wipePage(path, pagesOf(path, 'ledger_accounts')[0] as number), 0],
  [
    // The last page of the jobs: an inner one of the tree, with many leaves.
    'a truncated file',
    (path) => truncateSync(databaseIn(path), ((pagesOf(path, 'jobs').at(-1) as number) - 1) * PAGE_BYTES),
    30,
  ],
];

for (const [title, harm, maxJobsLost] of sample(damages, 3)) {
  t.test(`${title}: recovery saves intact rows and reports lost ones`, async (t) => {
    const path = await usedFolder(t);
    t.match(await recover(path), { faults: [], lost: [], originalsFolder: null }, 'there is no damage yet');
    harm(path);
    const before = contents(path);

    const plan = await recover(path);
    t.ok(plan.faults.length + plan.lost.length > 0);
    t.match(plan, { originalsFolder: null, audit: null });
    t.same(contents(path), before, 'nothing is changed without apply');

    const report = await recover(path, { apply: true });
    t.same(report.lost, plan.lost);
    t.same(contents(report.originalsFolder as string), before);
    t.ok(report.audit);
    const jobs = await jobsIn(path);
    t.ok(jobs.length >= JOBS - maxJobsLost, `${jobs.length} of ${JOBS} jobs are saved`);
    for (const { table, key, reason } of report.lost)
      if (table === 'jobs' && !reason.startsWith('its texts')) t.notOk(jobs.includes(key), `${key} is lost`);
    t.match(await recover(path), { faults: [], lost: [] }, 'there is no damage left');
    t.notOk(existsSync(join(path, 'recovery.part')));
  });
}

const restorable: [what: string, harm: (bytes: Buffer) => void][] = [
  ['the count of pages', (bytes) => flip(bytes, 28)],
  ['the version of the schema', (bytes) => flip(bytes, 62)],
  ['a constraint of the schema', (bytes) => flip(bytes, bytes.indexOf('CHECK (reserve_credits >= 0)') + 7)],
  [
    'several bytes of the schema',
    (bytes) => {
      const at = bytes.indexOf('CHECK (reserve_credits >= 0)');
      bytes.fill('x', at + 7, at + 14);
    },
  ],
];

for (const [what, harm] of sample(restorable, 1)) {
  t.test(`recovery restores ${what} without loss`, async (t) => {
    const path = await usedFolder(t);
    change(path, harm);
    await t.rejects(jobsIn(path), { code: 'storage_damaged' });
    const { faults, lost } = await recover(path, { apply: true });
    t.ok(faults.length > 0);
    t.same(lost, []);
    t.equal((await jobsIn(path)).length, JOBS);
  });
}

const hopeless: [what: string, harm: (bytes: Buffer) => void][] = [
  ['the file format', (bytes) => flip(bytes, 3)],
  ['the text encoding', (bytes) => bytes.writeUInt32BE(3, 56)],
  // Before the type: the sizes of the five columns, the last of which has two bytes, and the size of all of these.
  ['a row of the schema', (bytes) => flip(bytes, bytes.indexOf('tabledeliveriesdeliveries') - 7)],
];

for (const [what, harm] of sample(hopeless, 1)) {
  t.test(`recovery changes nothing if damage of ${what} hides the tables`, async (t) => {
    const path = await usedFolder(t);
    change(path, harm);
    const before = contents(path);
    await t.rejects(jobsIn(path), { code: 'storage_damaged' });
    const refusal = { code: 'storage_damaged', message: /Nothing was changed\. Restore a backup/ };
    await t.rejects(recover(path, { apply: true }), refusal);
    t.same(contents(path), before);
  });
}

t.test('commits behind damage in the log are lost and reported', async (t) => {
  const from = new DataFolder(await usedFolder(t));
  await from.start();
  t.teardown(() => from.stop());
  const insert = (jobId: string) =>
    from.storage.transaction((tx) => from.storage.insertJob(tx, jobRecord(jobId, { owner: 'a' }), 'x'));
  const log = join(from.path, 'database.sqlite-wal');
  await insert('kept');
  const whole = statSync(log).size;
  for (const jobId of ['lost1', 'lost2', 'lost3']) await insert(jobId);
  const path = join(from.path, '../copy');
  mkdirSync(path);
  writeFileSync(databaseIn(path), readFileSync(databaseIn(from.path)));
  const bytes = readFileSync(log);
  flip(bytes, whole + 1000);
  writeFileSync(join(path, 'database.sqlite-wal'), bytes);
  await t.rejects(jobsIn(path), {
    code: 'storage_damaged',
    message: /its write-ahead log is damaged in page \d+/,
  });
  const { faults, ledgerEntries } = await recover(path, { apply: true });
  t.match(faults, [/the write-ahead log is damaged in page \d+; later commits are lost/]);
  t.equal(ledgerEntries.found, null, 'those behind the damage are not counted');
  const found = await jobsIn(path);
  t.equal(found.length, JOBS + 1);
  t.ok(found.includes('kept'));
});

const MAIN = SQLITE_SCHEMA.migrations.texts[0] as string;
const others: [what: string, texts: string[]][] = [
  ['a newer number', [MAIN, 'CREATE TABLE more (more_id TEXT PRIMARY KEY) STRICT']],
  ['another column', [MAIN.replace('note TEXT,', 'note TEXT,\n  remark TEXT,')]],
  ['one byte that differs', [MAIN.replace('BETWEEN 1 AND 4', 'BETWEEN 1 AND 5')]],
];

for (const [what, texts] of sample(others, 1)) {
  t.test(`the data of another version is not recovered: a schema with ${what}`, async (t) => {
    const path = testFolder(t);
    const made = await makeDatabase(databaseIn(path), new Schema(texts));
    made.run("INSERT INTO ledger_accounts (owner, period, checksum) VALUES ('a', '', 1)");
    made.close();
    const before = contents(path);
    const refusal = { code: 'conflict', message: /another version of Scenepress .*Nothing was changed/ };
    await t.rejects(new DataFolder(path).start(), refusal);
    for (const apply of [false, true]) await t.rejects(recover(path, { apply }), refusal);
    t.same(contents(path), before);
    change(path, (bytes) => flip(bytes, 28));
    await t.rejects(recover(path, { apply: true }), refusal, 'also when its header is damaged');
  });
}

t.test(
  'entries that cannot be saved are counted, although the audit of the others finds no problem',
  async (t) => {
    const path = join(testFolder(t), 'data');
    const folder = new DataFolder(path);
    await folder.start();
    await new StoredLedger({ store: folder.ledgerStore }).grantPaid('a', 1000);
    await folder.stop();
    const database = new DatabaseSync(databaseIn(path));
    database.exec('DROP TRIGGER ledger_entries_stay_as_they_are; UPDATE ledger_entries SET checksum = 1');
    database.exec('UPDATE grants SET checksum = 1');
    database.close();
    const ledgerEntries = { found: 2, saved: 0 };
    t.match(await recover(path), { ledgerEntries });
    t.match(await recover(path, { apply: true }), { ledgerEntries, audit: { problems: [] } });
  },
);

t.test('a job whose set of files was lost is known to have had one, and others keep theirs', async (t) => {
  const path = await usedFolder(t);
  const used = new DataFolder(path);
  await used.start();
  const use = (jobId: string, name: string) => {
    const set = { setId: `set of ${name}`, owner: 'a', entries: [{ name, fileId: `f ${name}` }] };
    return used.storage.transaction((tx) => used.storage.files.use(tx, jobId, set));
  };
  for (const [jobId, name] of [
    ['job001', 'damaged'],
    ['job002', 'lost-row'],
    ['job003', 'whole'],
  ] as const)
    await use(jobId, name);
  await used.stop();
  const database = new DatabaseSync(databaseIn(path));
  database.exec("UPDATE file_sets SET entries = '[]' WHERE set_id = 'set of damaged'");
  database.exec("UPDATE job_files SET set_id = 'set of whole' WHERE job_id = 'job002'");
  database.close();
  await recover(path, { apply: true });
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  const { files } = folder.storage;
  await t.rejects(files.usedBy('job001'), {
    code: 'not_found',
    message: /Which files the job uses was lost/,
  });
  await t.rejects(files.usedBy('job002'), { code: 'not_found' });
  t.match(await files.usedBy('job003'), { entries: [{ name: 'whole', fileId: 'f whole' }] });
  t.equal(await files.usedBy('job004'), undefined);
  await folder.storage.transaction(async (tx) => {
    t.ok(await files.isUsed(tx, 'f whole'), 'the index of sets was made again');
  });
});

t.test('a scene whose current draft was lost has the one before', async (t) => {
  const path = await usedFolder(t);
  const used = new RenderService({ folder: path });
  await used.startWithoutWorkers();
  const { sceneId } = await used.scenes.create({ owner: 'ada', name: 'Intro', code: 'first' });
  await used.scenes.save(sceneId, { revision: 1, code: 'second' });
  await used.stop();
  const database = new DatabaseSync(databaseIn(path));
  database.exec('UPDATE scene_drafts SET size_bytes = 999 WHERE revision = 2');
  database.close();
  const { lost } = await recover(path, { apply: true });
  t.match(lost, [{ table: 'scene_drafts', key: `${sceneId}, 2` }]);
  const service = new RenderService({ folder: path });
  t.teardown(() => service.stop());
  await service.startWithoutWorkers();
  t.match(await service.scenes.get(sceneId), { name: 'Intro', revision: 2, code: 'first' });
  t.match(await service.scenes.save(sceneId, { revision: 2, code: 'third' }), { revision: 3 });
});

t.test('ledger entries that cannot be counted are reported as such', async (t) => {
  const path = await usedFolder(t);
  const saved = 2 + 2 * JOBS;
  t.match(await recover(path), { ledgerEntries: { found: saved, saved } });
  wipePage(path, pagesOf(path, 'ledger_entries')[0] as number);
  const { ledgerEntries } = await recover(path, { apply: true });
  t.equal(ledgerEntries.found, null);
});

t.test('lost ledger entries show in the audit', async (t) => {
  const path = await usedFolder(t);
  wipePage(path, pagesOf(path, 'ledger_entries').at(-1) as number);
  const { audit, lost } = await recover(path, { apply: true });
  t.ok(lost.some(({ table }) => table === 'ledger_entries'));
  t.ok((audit?.problems.length ?? 0) > 0);
});

for (const table of sample(['jobs', 'text_keys', 'sources', 'ledger_entries', 'grants'], 2)) {
  t.test(`all rows of an unreadable page of ${table} are named or between named ones`, async (t) => {
    const path = await usedFolder(t);
    const before = keysIn(path, table);
    wipePage(path, pagesOf(path, table).at(-1) as number);
    const { lost } = await recover(path, { apply: true });
    const after = keysIn(path, table);
    const ofTable = lost.filter((row) => row.table === table);
    const missing = before.filter((key) => !after.includes(key));
    t.ok(ofTable.length > 0);
    if (table === 'text_keys') t.match(ofTable, [{ key: /^between/ }]);
    else
      for (const key of missing)
        t.ok(
          ofTable.some((row) => row.key === key),
          key,
        );
  });
}

t.test('an interrupted recovery stops the start and can be repeated', async (t) => {
  const path = await usedFolder(t);
  wipePage(path, pagesOf(path, 'sources').at(-1) as number);
  const { originalsFolder } = await recover(path, { apply: true });
  // As between two renames: the former database has been moved, and the new one does not exist yet.
  renameSync(databaseIn(path), join(path, 'half-made'));
  writeFileSync(join(path, 'recovering'), `${(originalsFolder as string).split('/').at(-1)}\n`);
  await t.rejects(jobsIn(path), { code: 'storage_damaged', message: /recovery.*interrupted.*again/ });
  t.match(await recover(path, { apply: true, now: new Date(0) }), { originalsFolder: /damaged-1970/ });
  t.equal((await jobsIn(path)).length, JOBS);
});

t.test('an aborted recovery changes nothing, and can be repeated', async (t) => {
  const path = await usedFolder(t);
  wipePage(path, pagesOf(path, 'sources').at(-1) as number);
  const before = readFileSync(databaseIn(path));
  const files = readdirSync(path);
  const { checks, result } = await abortAtEachCheck(
    (signal) => recover(path, { apply: true, signal }),
    (count) => {
      t.same(readdirSync(path), files, `at check ${count}`);
      t.ok(readFileSync(databaseIn(path)).equals(before));
    },
    isDeep ? 1 : 20,
  );
  t.ok(checks > 2);
  t.match(result, { originalsFolder: /damaged-/ });
  t.equal((await jobsIn(path)).length, JOBS);
});

t.test('other events happen while many rows are read, so that one of them can abort it', async (t) => {
  const path = await usedFolder(t);
  const source = Connection.open(databaseIn(path));
  const target = await makeDatabase(join(path, 'new'), SQLITE_SCHEMA);
  t.teardown(() => source.close());
  t.teardown(() => target.close());
  for (let id = 1000; id < 1600; id++)
    source.run('INSERT INTO text_keys (text_key_id, content) VALUES (?, zeroblob(32))', [id]);
  const giveUp = new AbortController();
  setImmediate(() => giveUp.abort());
  const salvaging = salvage(source, target, { now: new Date(), random: systemRandom, signal: giveUp.signal });
  await t.rejects(salvaging, { name: 'AbortError' });
});

t.test('a folder in use or without data is rejected', async (t) => {
  const path = await usedFolder(t);
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  await t.rejects(recover(path), { code: 'storage_locked' });
  await t.rejects(recover(join(path, 'nowhere')), { code: 'not_found' });
});
