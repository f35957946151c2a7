/**
 * Flips `FLIPS` bits (default 300) of a database, one at a time and in pages of every kind, and reads all that is in it.
 * Rows are what was written, or an error says which one is damaged; what a damaged index or inner page hides, a check of
 * the whole database finds. `SEED` makes the same choices again, but in another sample: a failure keeps the sample, and
 * `SAMPLE` and `FLIP` (page, byte and bit, as `7:120:3`) look at one flip in it again.
 */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { flipsIn, tryFlips } from '../fixtures/flipped-bits/flips.ts';
import type { Finding } from '../fixtures/flipped-bits/flips-program.ts';
import { makeSampleDatabase } from '../fixtures/flipped-bits/sample-database.ts';
import { seededRandom } from '../fixtures/simulated-disk.ts';

const FLIPS = Number(process.env['FLIPS'] ?? 300);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const { SAMPLE, FLIP } = process.env;
const KEPT = join(import.meta.dirname, '../../.setup');

async function isFound(sample: string, finding: Finding): Promise<boolean> {
  const { flip, found, wrong, unclear, elsewhere } = finding;
  const { page, byte, bit } = flip;
  const isRight = wrong.length + unclear.length + elsewhere.length === 0 && found !== 'nothing';
  if (isRight) return true;
  await mkdir(KEPT, { recursive: true });
  const kept = join(KEPT, 'flipped-bit.sqlite');
  if (sample !== kept) await copyFile(sample, kept);
  t.fail(`SAMPLE=${kept} FLIP=${page}:${byte}:${bit} looks at it again`, { finding });
  return false;
}

t.test(`${FLIPS} bits that flip give no wrong data (SEED=${SEED})`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flipped-bits-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const sample = SAMPLE ?? join(folder, 'sample.sqlite');
  if (!SAMPLE) await makeSampleDatabase(sample);
  const [page = 0, byte = 0, bit = 0] = FLIP?.split(':').map(Number) ?? [];
  const flips = FLIP ? [{ page, byte, bit, kind: 'page' }] : await flipsIn(sample, FLIPS, seededRandom(SEED));
  const findings = await tryFlips(sample, flips, folder);
  for (const finding of findings) if (!(await isFound(sample, finding))) return;
  t.equal(findings.length, flips.length);
  const by = (kind: Finding['found']) => findings.filter(({ found }) => found === kind).length;
  const hidden = findings.filter(({ missing, found }) => missing > 0 && found === 'check').length;
  t.comment(
    `found at the start ${by('start')}, by reading ${by('reading')}, only by a check ${by('check')} ` +
      `(rows were hidden in ${hidden}); harmless ${by('harmless')}`,
  );
  if (FLIP) return;
  t.ok(by('start') > 0 && by('reading') > 0 && by('check') > 0);
});
