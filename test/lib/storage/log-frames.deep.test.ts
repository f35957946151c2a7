import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { damagedFrame, type LogBytes } from '../../../lib/databases/sqlite/log-frames.ts';
import { WriteAheadLog } from '../../../lib/databases/sqlite/write-ahead-log.ts';
import { isDeep } from '../../fixtures/depth.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const COMMITS = 60;
const FRAME_BYTES = 24 + 4096;
const HEADER_BYTES = 32;
const SECTOR_BYTES = 512;

interface Log {
  /** The file after the last commit. */
  log: Buffer;
  /** The length of its used part after each commit. */
  lengths: number[];
  /** The file before the first commit. */
  old: Buffer;
}

/** A log with a commit of one to three pages for each row; `isReused`: it overwrites one of twice as many commits. */
function makeLog(t: Test, { commits = COMMITS, isReused = false } = {}): Log {
  const path = join(testFolder(t), 'database.sqlite');
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE texts (text)');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const lengths: number[] = [];
  const insert = (count: number) => {
    for (let number = 0; number < count; number++) {
      database
        .prepare('INSERT INTO texts VALUES (?)')
        .run(`${number} `.repeat(((number * number) % 7) * 500 + 10));
      lengths.push(HEADER_BYTES + FRAME_BYTES * readFileSync(`${path}-shm`).readUInt32LE(16));
    }
  };
  if (isReused) insert(2 * commits);
  database.exec('PRAGMA wal_checkpoint(RESTART)');
  const old = readFileSync(`${path}-wal`);
  lengths.length = 0;
  insert(commits);
  return { log: readFileSync(`${path}-wal`), lengths, old };
}

/** The file when it was overwritten up to a byte. */
function overwritten({ log, old }: Log, length: number): Buffer {
  return Buffer.concat([log.subarray(0, length), old.subarray(length)]);
}

/** In a buffer of its own, as pieces of a file are. */
function logOf(bytes: Buffer): LogBytes {
  return {
    sizeBytes: bytes.length,
    read: async (position, sizeBytes) => Buffer.from(bytes.subarray(position, position + sizeBytes)),
  };
}

function damageOf(bytes: Buffer): Promise<number | undefined> {
  return damagedFrame(logOf(bytes));
}

function flip(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
  return flipped;
}

for (const isReused of [false, true]) {
  const name = isReused ? 'a log that overwrites another' : 'a new log';

  t.test(`${name} has no damage, wherever it ends`, async (t) => {
    const made = makeLog(t, { isReused });
    t.equal(made.old.length > made.log.length / 2, isReused);
    t.equal(await damageOf(Buffer.alloc(0)), undefined);
    for (let length = 0; length <= (made.lengths.at(-1) as number); length += 1021)
      if ((await damageOf(overwritten(made, length))) !== undefined) t.fail(`damage in ${length} bytes`);
  });

  t.test(`a flipped bit before the last commit of ${name} is located (SEED=${SEED})`, async (t) => {
    const { log, lengths } = makeLog(t, { isReused });
    const random = seededRandom(SEED);
    const lastBegins = lengths.at(-2) as number;
    const bits = Array.from({ length: isDeep ? 400 : 10 }, () => Math.floor(random() * lastBegins * 8));
    // All bits of the log header and of some frame headers.
    const heads = [0, HEADER_BYTES, HEADER_BYTES + FRAME_BYTES, lastBegins - FRAME_BYTES];
    for (const head of heads)
      for (let bit = 0; bit < 24 * 8; bit += isDeep ? 1 : 23) bits.push(head * 8 + bit);
    for (const bit of bits) {
      const flipped = flip(log, bit);
      const frame = Math.max(0, 1 + Math.floor(((bit >> 3) - HEADER_BYTES) / FRAME_BYTES));
      const damage = await damageOf(flipped);
      // Damage in a header that crosses a sector boundary looks like a torn write.
      if (damage === undefined && frame === (lastBegins - HEADER_BYTES) / FRAME_BYTES) continue;
      if (damage !== frame) t.equal(damage, frame, `bit ${bit}`);
    }
    t.pass(`${bits.length} bits`);
  });

  t.test(`a last commit of ${name} torn by a power cut is not damage (SEED=${SEED})`, async (t) => {
    const made = makeLog(t, { isReused });
    const random = seededRandom(SEED);
    for (let attempt = 0; attempt < (isDeep ? 3_000 : 60); attempt++) {
      const commit = Math.floor(random() * COMMITS);
      // SQLite flushes the header before the first frame.
      const [from, to] = [made.lengths[commit - 1] ?? HEADER_BYTES, made.lengths[commit] as number];
      const torn = overwritten(made, to);
      const before = Buffer.concat([made.old, Buffer.alloc(Math.max(0, to - made.old.length))]);
      const piece = SECTOR_BYTES * 2 ** Math.floor(random() * 6);
      for (let at = from - (from % SECTOR_BYTES); at < to; at += piece)
        if (random() < 0.5)
          before.copy(torn, Math.max(from, at), Math.max(from, at), Math.min(to, at + piece));
      const damage = await damageOf(torn);
      if (damage !== undefined) t.fail(`attempt ${attempt}, commit ${commit}`, { damage });
    }
    t.pass();
  });
}

t.test(
  'a flipped bit in the last commit but one is located, also if that ends in a header across sectors',
  async (t) => {
    const { log, lengths } = makeLog(t, { commits: isDeep ? 400 : 100 });
    let tried = 0;
    for (const [commit, end] of lengths.entries()) {
      const begin = lengths[commit - 1] ?? HEADER_BYTES;
      const lastFrame = end - FRAME_BYTES;
      if (lastFrame <= begin || (lastFrame % SECTOR_BYTES) + 16 <= SECTOR_BYTES || !lengths[commit + 1])
        continue;
      const flipped = flip(log.subarray(0, lengths[commit + 1]), (begin + 17) * 8);
      t.equal(await damageOf(flipped), 1 + (begin - HEADER_BYTES) / FRAME_BYTES);
      tried += 1;
    }
    t.ok(tried > 0);
  },
);

// Reading it takes seconds.
if (isDeep) {
  t.test('damage of a log of more than 2 GiB is found', async (t) => {
    const { log, lengths } = makeLog(t);
    const path = join(testFolder(t), 'large');
    writeFileSync(`${path}-wal`, flip(log, ((lengths[9] as number) + 100) * 8));
    truncateSync(`${path}-wal`, 2 ** 31 + FRAME_BYTES);
    await t.rejects(new WriteAheadLog(path).rewrite(), {
      code: 'storage_damaged',
      message: /its write-ahead log is damaged in page \d+; the commits after it/,
    });
  });
}

t.test('a log is rewritten piece by piece', async (t) => {
  const { log } = makeLog(t);
  const path = join(testFolder(t), 'long');
  const bytes = Buffer.concat([log, Buffer.alloc(3 * 1024 * 1024 + 5, 'x')]);
  writeFileSync(`${path}-wal`, bytes);
  await new WriteAheadLog(path).rewrite();
  t.ok(readFileSync(`${path}-wal`).equals(bytes));
});
