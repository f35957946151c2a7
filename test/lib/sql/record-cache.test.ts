import t from 'tap';
import { RecordCache } from '../../../lib/sql/record-cache.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';

interface Rec {
  text: string;
}

function cacheOf(mostBytes: number) {
  const reads: string[] = [];
  const cache = new RecordCache<Rec>({ mostBytes, textBytesOf: ({ text }) => text.length });
  const get = (id: string, text = '') =>
    cache.get(id, async () => {
      reads.push(id);
      return { text };
    });
  return { cache, get, reads };
}

t.test('a record is read once, until it is dropped', async (t) => {
  const { cache, get, reads } = cacheOf(10_000);
  t.same(await get('a', 'one'), { text: 'one' });
  t.same(await get('a', 'two'), { text: 'one' });
  cache.drop('a');
  t.same(await get('a', 'two'), { text: 'two' });
  cache.clear();
  t.same(await get('a', 'three'), { text: 'three' });
  t.same(reads, ['a', 'a', 'a']);
});

t.test('the least recently used record is evicted when the cache exceeds its size', async (t) => {
  const { get, reads } = cacheOf(3 * 1024 + 1000);
  for (const id of ['a', 'b', 'c', 'a']) await get(id);
  await get('d', 'x'.repeat(1000));
  t.same(reads, ['a', 'b', 'c', 'd']);
  for (const id of ['d', 'c', 'a', 'b']) await get(id);
  t.same(reads, ['a', 'b', 'c', 'd', 'b']);
  await get('large', 'x'.repeat(5000));
  await get('large');
  t.same(reads.slice(-2), ['large', 'large'], 'a record larger than the cache is not kept');
});

t.test('after many reads and drops, the most recently used records are kept', async (t) => {
  const places = 20;
  const { cache, get, reads } = cacheOf(places * 1024);
  const random = seededRandom(3);
  let kept: string[] = [];
  const expected: string[] = [];
  for (let i = 0; i < 20_000; i++) {
    const id = String(Math.floor(random() * 3 * places));
    const chance = random();
    const others = kept.filter((other) => other !== id);
    if (chance < 0.05) {
      cache.drop(id);
      kept = others;
    } else if (chance < 0.051) {
      cache.clear();
      kept = [];
    } else {
      await get(id);
      if (!kept.includes(id)) expected.push(id);
      kept = [...others, id].slice(-places);
    }
  }
  t.same(reads, expected);
});

t.test('a read that started before a change is not cached', async (t) => {
  const { cache, get } = cacheOf(10_000);
  const { promise: row, resolve } = Promise.withResolvers<Rec>();
  const reading = cache.get('a', () => row);
  cache.drop('a');
  resolve({ text: 'before' });
  t.same(await reading, { text: 'before' });
  t.same(await get('a', 'after'), { text: 'after' });
});

t.test('a missing record is not cached', async (t) => {
  const { cache, get } = cacheOf(10_000);
  t.equal(await cache.get('a', async () => undefined), undefined);
  t.same(await get('a', 'there'), { text: 'there' });
});
