import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { audit, DataFolder, StoredLedger } from '../../../lib/index.ts';
import { RecordEncoder } from '../../../lib/storage/lowdb/journal-record.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';

/** A data folder as format 1 had it: all rows in one snapshot, but for sources in a file of their own. */
function writeFormat1(
  path: string,
  rows: [table: string, id: string, row: unknown][],
  later: typeof rows,
): void {
  const mark = { sequence: 7, checksum: 'a'.repeat(32) };
  const lines = [{ format: 1, ...mark }, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('');
  const foot = { rows: rows.length, checksum: createHash('sha256').update(lines).digest('hex') };
  writeFileSync(join(path, 'database.jsonl'), `${lines}${JSON.stringify(foot)}\n`);
  const operations = later.map(([table, id, row]) => ({ table, id, row, json: JSON.stringify(row) }));
  writeFileSync(join(path, 'journal-0000000000000008'), new RecordEncoder().encode(mark, operations).bytes);
}

t.test('a folder of format 1 is read, and is one of today from then on', async (t) => {
  const path = t.testdir({ 'rows-0000000000000007': '"# one"\n' });
  const over = jobRecord('1', { phase: 'completed', creditsCost: 3 });
  const parts = [{ grantId: 'g', source: 'paid', period: null, amountCredits: 5 }];
  const rest = { owner: 'a', chargedCredits: 0, jobId: '1', parts, note: null, atMs: 0 };
  writeFormat1(
    path,
    [
      ['jobs', '1', over],
      ['sources', '1', { pack: 'rows-0000000000000007', at: 0, bytes: 7 }],
      ['artifactRemovals', '1', { atMs: 5 }],
      [
        'ledgerAccounts',
        'a',
        { owner: 'a', grants: [{ ...parts[0], remainingCredits: 2 }], lastPeriod: '2026-11' },
      ],
      ['reserves', '1', { jobId: '1', owner: 'a', state: 'settled', parts, chargedCredits: 3 }],
      ['ledgerEntries', 'e1', { ...rest, entryId: 'e1', kind: 'grant', amountCredits: 5, jobId: null }],
      ['ledgerEntries', 'e2', { ...rest, entryId: 'e2', kind: 'reserve', amountCredits: -5 }],
      [
        'ledgerEntries',
        'e3',
        { ...rest, entryId: 'e3', kind: 'settle', amountCredits: 2, chargedCredits: 3 },
      ],
    ],
    [
      ['jobs', '2', jobRecord('2', { reserveCredits: 0 })],
      ['sources', '2', { value: '# two' }],
    ],
  );
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  for (let start = 0; start < 2; start++) {
    t.same(await folder.storage.getJob('1'), over);
    t.equal(await folder.storage.readSource('1'), '# one');
    t.equal(await folder.storage.readSource('2'), '# two');
    t.same(await audit(folder.ledgerStore), { accounts: 1, entries: 3, jobs: 1, problems: [] });
    const statement = await new StoredLedger({ store: folder.ledgerStore }).statement('a');
    t.same(
      statement.map(({ entryId }) => entryId),
      ['e3', 'e2', 'e1'],
    );
    t.match(readFileSync(join(path, 'database.jsonl'), 'utf8'), /^\{"format":2,/);
    t.notMatch(readdirSync(path).join(' '), /(^| )rows-/);
    await folder.stop();
    await folder.start();
  }
});
