import t from 'tap';
import { LowdbDatabase } from '../../../lib/storage/lowdb/database.ts';
import { PowerCut, SimulatedDisk, type SyncCall, seededRandom } from '../../fixtures/simulated-disk.ts';

const LIVES = 4;
const COMMITS_A_LIFE = 40;

/** How many commits later a job is over, and how many later a passing row is removed. */
const OVER_AFTER = 5;
const GONE_AFTER = 12;

interface Job {
  number: number;
  over: boolean;
}

function openDatabase(folder: string, disk: SimulatedDisk): LowdbDatabase {
  const options = { disk, snapshotAfterBytes: 4000, recentJobs: 3, onFatal: () => {} };
  const database = new LowdbDatabase(folder, options);
  database.archive('cold', { finished: () => true });
  database.archive('passing', { finished: () => true });
  database.archive<Job>('jobs', {
    finished: ({ over }) => over,
    keepsRecent: true,
    indexes: {
      byState: ({ over, number }) => ({ bucket: [over ? 'over' : 'open'], order: placeOf(number) }),
    },
  });
  return database;
}

function placeOf(number: number): string {
  return String(number).padStart(6, '0');
}

/**
 * Lives of a database, each ended by a power cut at a random call to the disk. Every commit counts itself and writes
 * some rows: one that stays in memory, one that leaves it with the next snapshot, one that leaves it when a later
 * commit says that it is over, and one that a later commit removes. Returns what went wrong; undefined when nothing did.
 */
async function live(
  folder: string,
  seed: number,
  forgets?: (call: SyncCall) => boolean,
): Promise<string | undefined> {
  const random = seededRandom(seed);
  const disk = new SimulatedDisk(random);
  if (forgets) disk.forgets = forgets;
  let acknowledged = 0;
  let commit = 0;
  /** Commits that were told to have failed while the power was on. */
  const refused = new Set<number>();
  for (let life = 0; life <= LIVES; life++) {
    const database = openDatabase(folder, disk);
    disk.fullness = 0;
    try {
      await database.start();
    } catch (error) {
      return `life ${life} could not begin: ${(error as Error).message}`;
    }
    const found = await inspect(database, refused).catch((error: Error) => error.message);
    if (typeof found === 'string') return `life ${life}: ${found}`;
    if (found < acknowledged) return `life ${life} has ${found} commits, ${acknowledged} were acknowledged`;
    acknowledged = found;
    if (life === LIVES) {
      await database.stop();
      return undefined;
    }

    disk.callsLeft = Math.floor(random() * 150);
    if (random() < 0.3) disk.renamesLeft = 1 + Math.floor(random() * 4);
    disk.fullness = random() < 0.5 ? 0.1 : 0;
    const commits = Array.from({ length: COMMITS_A_LIFE }, async () => {
      await untilSomeTurn(random);
      const id = commit++;
      const write = database.transaction(async (tx) => {
        const number = (tx.get<{ count: number }>('counter', 'it')?.count ?? 0) + 1;
        tx.put('counter', 'it', { count: number });
        tx.put('hot', String(number), { number, commit: id, padding: 'h'.repeat(random() * 600) });
        tx.put('cold', String(number), `${number}${'c'.repeat(random() * 600)}`);
        tx.put('jobs', placeOf(number), { number, over: false } satisfies Job);
        const older = placeOf(number - OVER_AFTER);
        const job = await tx.find<Job>('jobs', older);
        if (job) tx.put('jobs', older, { ...job, over: true });
        tx.put('passing', String(number), { number });
        tx.remove('passing', String(number - GONE_AFTER));
        return number;
      });
      const count = await write.catch((error: Error) => {
        if (!powerIsOff(error)) refused.add(id);
        throw error;
      });
      acknowledged = Math.max(acknowledged, count);
    });
    const settled = Promise.allSettled(commits);
    if (random() < 0.2) await database.purge().catch(() => {});
    await settled;
    disk.callsLeft = 0;
    await database.stop().catch(() => {});
    disk.cutPower();
  }
  return undefined;
}

/** The number of commits, when each is there whole and none is missing in between. */
async function inspect(database: LowdbDatabase, refused: Set<number>): Promise<number | string> {
  const count = database.get<{ count: number }>('counter', 'it')?.count ?? 0;
  const hotRows = [...database.all('hot')].length;
  if (hotRows !== count) return `${count} commits but ${hotRows} hot rows`;
  await using view = database.view('cold', 'jobs', 'passing');
  const expected = { cold: count, jobs: count, passing: Math.min(count, GONE_AFTER) };
  for (const [table, rows] of Object.entries(expected)) {
    const found = (await all(view.rows(table))).length;
    if (found !== rows) return `${count} commits but ${found} ${table} rows`;
  }
  for (const [state, first, last] of [
    ['open', Math.max(1, count - OVER_AFTER + 1), count],
    ['over', 1, count - OVER_AFTER],
  ] as const) {
    const listing = { index: 'byState', buckets: [[state]] };
    const listed = (await all(database.newestFirst<Job>('jobs', listing))).map(({ number }) => number);
    const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => last - i);
    if (listed.join() !== numbers.join()) return `${count} commits, but the jobs ${listed} are ${state}`;
  }
  for (let number = 1; number <= count; number++) {
    const hot = database.get<{ number: number; commit: number }>('hot', String(number));
    if (hot?.number !== number) return `row ${number} is missing`;
    if (refused.has(hot.commit)) return `row ${number} is there, though its commit was said to have failed`;
    const cold = await database.find<string>('cold', String(number)).catch((error: Error) => error.message);
    if (!cold?.startsWith(String(number))) return `cold row ${number} reads ${cold}`;
  }
  return count;
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

function powerIsOff(error: unknown): boolean {
  return error instanceof PowerCut || (error instanceof Error && powerIsOff(error.cause));
}

/** Commits come in bursts, not all at once. */
async function untilSomeTurn(random: () => number): Promise<void> {
  for (let turns = Math.floor(random() * 60); turns > 0; turns--) await Promise.resolve();
}

t.test('what was acknowledged is there after every power cut, whole and in order', async (t) => {
  const first = Number(process.env['SEED'] ?? 1);
  const count = process.env['SEED'] ? 1 : 200;
  for (let seed = first; seed < first + count; seed++) {
    const problem = await live(t.testdir(), seed);
    if (!problem) continue;
    t.fail(`seed ${seed} (SEED=${seed} runs it alone): ${problem}`);
    return;
  }
  t.pass(`${count} histories of ${LIVES} power cuts`);
});

const file = (prefix: string, change: 'write' | 'truncate') => (call: SyncCall) =>
  call.kind === 'file' && call.name.startsWith(prefix) && call.changes.at(-1) === change;
/** The name that is to be made durable is the last that changed. */
const folder = (prefix: string) => (call: SyncCall) =>
  call.kind === 'folder' &&
  call.names.at(-1)?.startsWith(prefix) === true &&
  !call.names.at(-1)?.endsWith('.new');

const flushes: [name: string, forgets: (call: SyncCall) => boolean][] = [
  ['of a record', file('journal-', 'write')],
  ['of a journal that was cut back', file('journal-', 'truncate')],
  ['of a snapshot', file('database.jsonl', 'write')],
  ['of packed rows', file('pack-', 'write')],
  ['of a new journal’s name', folder('journal-')],
  ['of the snapshot’s name', folder('database.jsonl')],
  ['of the name of packed rows', folder('pack-')],
];
for (const [name, forgets] of flushes) {
  t.test(`without the flush ${name} something is lost: this test sees it`, async (t) => {
    for (let seed = 1; seed <= 400; seed++) {
      const problem = await live(t.testdir(), seed, forgets);
      if (!problem) continue;
      t.pass(`seed ${seed}: ${problem}`);
      return;
    }
    t.fail('nothing was lost: either the flush is needless or the disk too kind');
  });
}
