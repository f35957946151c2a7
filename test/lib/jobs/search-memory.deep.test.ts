import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { JobIndex } from '../../../lib/jobs/search/job-index.ts';
import { jobRecord } from '../../fixtures/job-record.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
const MIB = 1024 ** 2;

function usedBytes(): number {
  for (let round = 0; round < 3; round += 1) gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes that an index of these codes takes, and what it says. */
function measured(count: number, codeOf: (job: number) => string) {
  const before = usedBytes();
  const index = new JobIndex();
  for (let job = 0; job < count; job += 1)
    index.add(jobRecord(`${job}`, { phase: 'completed' }), codeOf(job), 'older');
  const usedMib = (usedBytes() - before) / MIB;
  return { usedMib, saidMib: index.sizeBytes / MIB, size: index.size };
}

const words = (count: number, word: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => word(at)).join(' ');

t.test('an index takes no more memory than it says, and says not much more', async (t) => {
  measured(100, () => 'warm up');
  const codes: Record<string, (job: number) => string> = {
    'words of one job': (job) => words(200, (at) => `w${job}x${at}`),
    'words of two jobs': (job) => words(200, (at) => `w${job >> 1}x${at}`),
    'words of ten jobs': (job) => words(200, (at) => `w${Math.floor(job / 10)}x${at}`),
    'long words': (job) => words(100, (at) => `${'word'.repeat(7)}${job}x${at}`),
    'words that are not ASCII': (job) => words(100, (at) => `λέξη${'λόγος'.repeat(5)}${job}x${at}`),
  };
  for (const [name, codeOf] of Object.entries(codes)) {
    const { usedMib, saidMib } = measured(2_000, codeOf);
    t.comment(`${name}: ${usedMib.toFixed(1)} MiB, said ${saidMib.toFixed(1)}`);
    t.ok(usedMib < saidMib + 2 && saidMib < 2 * usedMib + 2, name);
  }
});

t.test('a long word does not keep the text that it stands in', async (t) => {
  const { usedMib, size } = measured(500, (job) => `extraordinarily${job} ${' '.repeat(100_000)}`);
  t.equal(size, 500);
  t.ok(usedMib < 5, `${usedMib.toFixed(1)} MiB`);
});
