import fc from 'fast-check';
import t from 'tap';
import { BlockSearch } from '../../../lib/storage/lowdb/block-search.ts';

/** Many share their first characters, and some aren't bytes. */
const id = fc
  .tuple(
    fc.constantFrom('', 'a', 'job_0', 'job_01'),
    fc.array(fc.constantFrom('\0', 'a', 'b', 'þ', 'ÿ', 'Ā', 'ā', '数'), { maxLength: 8 }),
  )
  .map(([start, rest]) => start + rest.join(''));

t.test('It finds the block that an id lies in', async (t) => {
  const ids = fc.uniqueArray(id, { maxLength: 30 });
  fc.assert(
    fc.property(ids, id, (ids, sought) => {
      const blocks = ids.sort().map((firstId) => ({ firstId, at: 0, sizeBytes: 0, checksum: 0 }));
      const expected = blocks.findLastIndex(({ firstId }) => firstId <= sought);
      return new BlockSearch(blocks).lastNotAfter(sought) === expected;
    }),
    { numRuns: 2000 },
  );
  t.equal(new BlockSearch([]).lastNotAfter('a'), -1);
});
