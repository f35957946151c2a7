import fc from 'fast-check';
import t from 'tap';
import { BlockList, type StoredBlock } from '../../../lib/storage/lowdb/block-list.ts';

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
      const blocks = ids.sort().map((firstId): StoredBlock => [firstId, 0, 0, 0]);
      const expected = blocks.findLastIndex(([firstId]) => firstId <= sought);
      return new BlockList(blocks).lastNotAfter(sought) === expected;
    }),
    { numRuns: 2000 },
  );
  t.equal(BlockList.empty.lastNotAfter('a'), -1);
});

t.test('It gives back the blocks that it was made of', async (t) => {
  const stored = fc.tuple(id, fc.maxSafeNat(), fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1));
  fc.assert(
    fc.property(fc.array(stored, { maxLength: 30 }), (blocks) => {
      const list = new BlockList(blocks);
      t.equal(list.length, blocks.length);
      t.same(
        [...list].map(({ firstId, at, sizeBytes, checksum }) => [firstId, at, sizeBytes, checksum]),
        blocks,
      );
      t.same([list.at(-1), list.at(blocks.length), list.firstId(blocks.length)], Array(3).fill(undefined));
    }),
    { numRuns: 100 },
  );
});
