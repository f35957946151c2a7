import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { RecordCache } from '../../../lib/sql/record-cache.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  return getHeapStatistics().used_heap_size;
}

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

t.test(
  'the most recently used half of the records is kept, and all are smaller than the limit together',
  async (t) => {
    const places = 20;
    const { cache, get, reads } = cacheOf(places * 1024);
    const random = seededRandom(3);
    /** In the order of use. */
    let used: string[] = [];
    const faults: object[] = [];
    for (let i = 0; i < 20_000; i++) {
      const id = String(Math.floor(random() * 3 * places));
      const chance = random();
      if (chance < 0.05) {
        cache.drop(id);
        used = used.filter((other) => other !== id);
      } else if (chance < 0.051) {
        cache.clear();
        used = [];
      } else {
        const before = reads.length;
        await get(id);
        const isRead = reads.length > before;
        const age = used.length - used.indexOf(id);
        const mustRead = !used.includes(id) || age > places;
        if (isRead ? used.includes(id) && age <= places / 2 : mustRead) faults.push({ id, age, isRead });
        used = [...used.filter((other) => other !== id), id];
      }
    }
    t.same(faults, []);
  },
);

t.test('a record larger than half of the cache is not kept', async (t) => {
  const { get, reads } = cacheOf(10_000);
  for (const id of ['a', 'large', 'large', 'a']) await get(id, id === 'large' ? 'x'.repeat(5000) : '');
  t.same(reads, ['a', 'large', 'large']);
});

t.test('the longer texts are, the fewer records are kept', async (t) => {
  const { get, reads } = cacheOf(8 * 1024);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await get(id, 'x'.repeat(1024));
  t.same(reads.splice(0), ['a', 'b', 'c', 'd', 'e']);
  for (const id of ['e', 'd', 'c', 'a']) await get(id);
  t.same(reads, ['a']);
});

t.test('reading cached records again and again takes no memory', async (t) => {
  const ids = Array.from({ length: 10_000 }, (_, number) => String(number));
  const { get } = cacheOf(ids.length * 4096);
  const readAll = async (times: number) => {
    for (let time = 0; time < times; time++) for (const id of ids) await get(id);
  };
  await readAll(2);
  const growths: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = heapBytes();
    await readAll(20);
    growths.push(heapBytes() - before);
  }
  // The compiler and others allocate memory, too, but not in each round.
  t.ok(Math.min(...growths) < 2 ** 20, growths.join(', '));
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
