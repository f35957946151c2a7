import t from 'tap';
import { systemClock } from '../../lib/clock.ts';
import { SortableIds, timeOfId } from '../../lib/ids.ts';
import { systemRandom } from '../../lib/random.ts';

const FORM = /^[0-9a-f]{48}$/;
const NOW = Date.UTC(2026, 0, 1);

function idsAt(times: number[]): string[] {
  let at = 0;
  const ids = new SortableIds({ ...systemClock, now: () => times[at] as number }, systemRandom);
  return times.map((_, i) => {
    at = i;
    return ids.next();
  });
}

t.test('ids sort in the order in which they are made, also within a millisecond', async (t) => {
  const ids = idsAt([...Array<number>(70_000).fill(NOW), NOW + 1, NOW + 500, NOW + 500]);
  t.strictSame(ids.toSorted(), ids);
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => FORM.test(id)));
  t.equal(timeOfId(ids[0] as string), NOW);
  t.equal(timeOfId(ids[65_535] as string), NOW);
  t.equal(timeOfId(ids[65_536] as string), NOW + 1, 'a millisecond that is full borrows of the next');
  t.equal(timeOfId(ids.at(-1) as string), NOW + 500);
});

t.test('a clock that tells parts of milliseconds is as good as one that does not', async (t) => {
  const ids = idsAt(Array.from({ length: 50 }, (_, i) => NOW + i / 20));
  t.strictSame(ids.toSorted(), ids);
  t.equal(timeOfId(ids.at(-1) as string), NOW + 2);
});

t.test('ids go on sorting while the clock is behind', async (t) => {
  const ids = idsAt([NOW, NOW - 60_000, NOW - 1, NOW, NOW + 1]);
  t.strictSame(ids.toSorted(), ids);
  t.equal(timeOfId(ids.at(-1) as string), NOW + 1);
});

t.test('two makers at the same moment make different ids', async (t) => {
  const all = Array.from({ length: 300 }, () => idsAt([NOW])[0]);
  t.equal(new Set(all).size, all.length);
});
