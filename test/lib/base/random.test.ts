import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';

t.test('random bytes of any number are never given twice', async (t) => {
  const given = [];
  for (const sizeBytes of [16, 16, 24, 8190, 8192, 8193, 1024 * 1024])
    given.push(systemRandom.bytes(sizeBytes));
  t.same(
    given.map(({ length }) => length),
    [16, 16, 24, 8190, 8192, 8193, 1024 * 1024],
  );
  const beginnings = given.map((bytes) => bytes.subarray(0, 16).toString('hex'));
  t.equal(new Set(beginnings).size, given.length);
});

t.test('they belong to the caller: later calls do not change them', async (t) => {
  const first = systemRandom.bytes(16);
  const before = first.toString('hex');
  for (let i = 0; i < 2000; i++) systemRandom.bytes(16);
  t.equal(first.toString('hex'), before);
});
