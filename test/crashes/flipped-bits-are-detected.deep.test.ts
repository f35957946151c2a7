/**
 * Flips `FLIPS` bits (default 80) of a database and its log, one at a time and in pages of every kind, and reads
 * everything. Each row must read as it was written, or fail with an error that names it. Rows that a damaged index or
 * interior page hides must be reported by an integrity check. Some databases are recovered: the report must name every
 * row that has changed.
 *
 * `SEED` repeats the random choices, but in a new sample. A failure therefore keeps the sample; `SAMPLE` and `FLIP` (file,
 * page, byte and bit, as `database:7:120:3`) repeat one flip in it.
 */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isDeep, isRelease, times } from '../fixtures/depth.ts';
import { flipsIn, flipsInLog, tryFlips } from '../fixtures/flipped-bits/flips.ts';
import type { Finding, Flip } from '../fixtures/flipped-bits/flips-program.ts';
import { filesWithLog, makeSampleDatabase } from '../fixtures/flipped-bits/sample-database.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const FLIPS = times('FLIPS', { quick: 8, deep: 16 });
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const { SAMPLE, FLIP } = process.env;
/** One in this many databases is recovered, too. */
const RECOVER_EACH = 6;
/** One in this many flips is in the log. */
const LOG_SHARE = 5;
const MAX_SHOWN = 3;
const KEPT = join(import.meta.dirname, '../../.setup');

async function scratchOf(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flipped-bits-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

function isCorrect({ found, wrong, unclear, elsewhere, unrecovered }: Finding): boolean {
  return wrong.length + unclear.length + elsewhere.length + unrecovered.length === 0 && found !== 'nothing';
}

/** Fails for each wrong finding. Returns how many flips were detected in each way. */
async function check(
  t: Test,
  sample: string,
  findings: Finding[],
): Promise<Partial<Record<Finding['found'], number>>> {
  const faults = findings.filter((finding) => !isCorrect(finding));
  for (const finding of faults.slice(0, MAX_SHOWN)) {
    const { in: file, page, byte, bit } = finding.flip;
    const kept = join(KEPT, `flipped-bit-in-${file}.sqlite`);
    await mkdir(KEPT, { recursive: true });
    if (sample !== kept) await copyFile(sample, kept);
    if (sample !== kept && file === 'log') await copyFile(`${sample}-wal`, `${kept}-wal`);
    t.fail(`SAMPLE=${kept} FLIP=${file}:${page}:${byte}:${bit} repeats it`, { finding });
  }
  if (faults.length > 0) t.comment(`${faults.length} of ${findings.length} findings are wrong`);
  const ways = Map.groupBy(findings, ({ found }) => found);
  const hidden = findings.filter(({ missing, found }) => missing > 0 && found === 'check').length;
  const recovered = findings.filter(({ flip }) => flip.recovers);
  const lost = recovered.reduce((sum, finding) => sum + finding.lost, 0);
  const counts = Object.fromEntries([...ways].map(([way, all]) => [way, all.length]));
  t.comment(
    `${JSON.stringify(counts)}; rows were hidden in ${hidden}; ${recovered.length} were recovered without ${lost} rows`,
  );
  return counts;
}

if (SAMPLE && FLIP) {
  t.test(`${FLIP} of ${SAMPLE}`, async (t) => {
    const [file, ...place] = FLIP.split(':');
    const [page = 0, byte = 0, bit = 0] = place.map(Number);
    const flip = { in: file as Flip['in'], page, byte, bit, kind: 'page', recovers: true };
    const findings = await tryFlips(SAMPLE, [flip], await scratchOf(t));
    await check(t, SAMPLE, findings);
    t.same(findings.length, 1);
    t.comment(JSON.stringify(findings, null, 2));
  });
} else {
  // Too few in a quick run.
  const inLog = isDeep ? Math.ceil(FLIPS / LOG_SHARE) : 0;

  t.test(`${FLIPS - inLog} flipped bits of a database never yield wrong data (SEED=${SEED})`, async (t) => {
    const scratch = await scratchOf(t);
    const sample = join(scratch, 'sample.sqlite');
    await makeSampleDatabase(sample);
    const choice = { count: FLIPS - inLog, recoverEach: RECOVER_EACH, random: seededRandom(SEED) };
    const flips = await flipsIn(sample, choice);
    const findings = await tryFlips(sample, flips, scratch);
    t.equal(findings.length, flips.length);
    const { reading = 0, check: checked = 0 } = await check(t, sample, findings);
    t.ok(isRelease ? reading > 0 && checked > 0 : reading + checked > 0);
  });

  if (isDeep) {
    t.test(`${inLog} flipped bits of a log undo at most the last commit (SEED=${SEED})`, async (t) => {
      const scratch = await scratchOf(t);
      const made = join(scratch, 'made.sqlite');
      await makeSampleDatabase(made);
      const files = await filesWithLog(made);
      const sample = join(scratch, 'sample.sqlite');
      await writeFile(sample, files.database);
      await writeFile(`${sample}-wal`, files.log as Buffer);
      const choice = { count: inLog, recoverEach: RECOVER_EACH, random: seededRandom(SEED) };
      const flips = await flipsInLog(sample, choice);
      const findings = await tryFlips(sample, flips, scratch);
      t.equal(findings.length, flips.length);
      const { start = 0 } = await check(t, sample, findings);
      t.ok(start > inLog / 2, `${start} stopped the start`);
    });
  }
}
