import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, recover, StoredLedger } from '../../lib/index.ts';
import { jobRecord } from '../../lib/testing/job-record.ts';

const JOBS = 40;
const IN_JOURNAL = 4;

/** A closed folder with jobs that are over: some in packs, some in the snapshot, the last ones in the journal only. */
async function usedFolder(t: Test): Promise<string> {
  const path = join(t.testdir(), 'data');
  await use(new DataFolder(path, { snapshotAfterBytes: 6000, recentJobs: 5 }), 1, JOBS - IN_JOURNAL);
  await use(new DataFolder(path), JOBS - IN_JOURNAL + 1, JOBS);
  return path;
}

async function use(folder: DataFolder, first: number, last: number): Promise<void> {
  await folder.start();
  const { storage } = folder;
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  if (first === 1) await ledger.grantPaid('a', 1000);
  for (let number = first; number <= last; number++) {
    const jobId = `job${String(number).padStart(3, '0')}`;
    await storage.transaction(async (tx) => {
      await ledger.reserve({ jobId, owner: 'a', amountCredits: 5 }, tx);
      await ledger.settle({ jobId, owner: 'a', amountCredits: 3 }, tx);
      const job = jobRecord(jobId, { owner: 'a', phase: 'completed', reserveCredits: 5, creditsCost: 3 });
      await storage.insertJob(tx, job, `# ${jobId} ${'x'.repeat(300)}`);
    });
  }
  await folder.stop();
}

function nameIn(path: string, start: string): string {
  return readdirSync(path)
    .filter((name) => name.startsWith(start))
    .sort()
    .at(-1) as string;
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  writeFileSync(path, bytes);
}

function contents(path: string): Record<string, string> {
  const names = readdirSync(path).filter((name) => /^(database|journal|pack)/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'latin1')]));
}

async function jobsIn(path: string): Promise<string[]> {
  const folder = new DataFolder(path);
  await folder.start();
  try {
    const jobs = await folder.storage.listJobs({ owner: 'a', limit: 1000 });
    for (const { jobId } of jobs) await folder.storage.readSource(jobId);
    return jobs.map(({ jobId }) => jobId).sort();
  } finally {
    await folder.stop();
  }
}

const damages: [title: string, harm: (path: string) => void, mostJobsLost: number][] = [
  ['a flipped byte in the journal', (path) => flipByte(join(path, nameIn(path, 'journal-')), 300), 1],
  [
    'a flipped line end in the journal',
    (path) => {
      const journal = join(path, nameIn(path, 'journal-'));
      flipByte(journal, readFileSync(journal).indexOf(10));
    },
    0,
  ],
  [
    'a flipped byte in the journal’s last record',
    (path) => flipByte(join(path, nameIn(path, 'journal-')), -50),
    1,
  ],
  ['a missing journal', (path) => rmSync(join(path, nameIn(path, 'journal-'))), 20],
  ['a flipped byte in the snapshot’s head', (path) => flipByte(join(path, 'database.jsonl'), 30), 0],
  ['a flipped byte in the snapshot’s middle', (path) => flipByte(join(path, 'database.jsonl'), 1500), 1],
  ['a snapshot that is cut off', (path) => truncateSync(join(path, 'database.jsonl'), 3000), 10],
  ['a missing snapshot', (path) => rmSync(join(path, 'database.jsonl')), 10],
  ['a flipped byte in a pack', (path) => flipByte(join(path, nameIn(path, 'pack-')), 20), 40],
  ['a missing pack', (path) => rmSync(join(path, nameIn(path, 'pack-'))), 40],
];

for (const [title, harm, mostJobsLost] of damages) {
  t.test(`${title}: what is whole is saved, what is lost is named`, async (t) => {
    const path = await usedFolder(t);
    t.match(await recover(path), { losses: [] }, 'nothing is damaged yet');
    harm(path);
    const before = contents(path);
    await t.rejects(jobsIn(path), { code: 'storage_damaged', message: /scenepress recover/ });

    const plan = await recover(path);
    t.ok(plan.losses.length > 0);
    t.match(plan, { keptAside: null, audit: null });
    t.same(contents(path), before, 'nothing is changed before one is told to');

    const report = await recover(path, { apply: true });
    t.same(report.losses, plan.losses);
    t.same(contents(report.keptAside as string)['database.jsonl'], before['database.jsonl']);
    t.ok(report.audit);
    const jobs = await jobsIn(path);
    t.ok(jobs.length >= JOBS - mostJobsLost, `${jobs.length} of ${JOBS} jobs are saved`);
    for (const { table, id } of report.lost)
      if (table === 'jobs') t.notOk(jobs.includes(id), `${id} is lost`);
    if (jobs.length === JOBS) t.notMatch(report.lost, [{ table: 'jobs' }]);
    t.match(await recover(path), { losses: [] }, 'and nothing is damaged any more');
  });
}

t.test('what is missing shows in the audit', async (t) => {
  const path = await usedFolder(t);
  flipByte(join(path, nameIn(path, 'journal-')), 300);
  const { audit, lost, doubtful } = await recover(path, { apply: true });
  t.ok([...lost, ...doubtful].some(({ table }) => table === 'ledgerAccounts'));
  t.ok((audit?.problems.length ?? 0) > 0, 'a lost record leaves books that do not add up');
});

t.test('a torn last record is no loss', async (t) => {
  const path = await usedFolder(t);
  const journal = join(path, nameIn(path, 'journal-'));
  truncateSync(journal, readFileSync(journal).length - 20);
  t.match(await recover(path), { losses: [] });
});

t.test('a folder that is in use, or holds no data, is refused', async (t) => {
  const path = await usedFolder(t);
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  await t.rejects(recover(path), { code: 'storage_locked' });
  await t.rejects(recover(join(path, 'nowhere')), { code: 'not_found' });
});
