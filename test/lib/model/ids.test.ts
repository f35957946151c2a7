import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { SortableIds, timeOfId } from '../../../lib/model/ids.ts';
import { systemClock } from '../../../lib/time/clock.ts';

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

t.test('ids sort in order of creation, also within a millisecond', async (t) => {
  const ids = idsAt([...Array<number>(70_000).fill(NOW), NOW + 1, NOW + 500, NOW + 500]);
  t.strictSame(ids.toSorted(), ids);
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => FORM.test(id)));
  t.equal(timeOfId(ids[0] as string), NOW);
  t.equal(timeOfId(ids[65_535] as string), NOW);
  t.equal(
    timeOfId(ids[65_536] as string),
    NOW + 1,
    'after the last id of a millisecond, the next one is used',
  );
  t.equal(timeOfId(ids.at(-1) as string), NOW + 500);
});

t.test('fractions of a millisecond are ignored', async (t) => {
  const ids = idsAt(Array.from({ length: 50 }, (_, i) => NOW + i / 20));
  t.strictSame(ids.toSorted(), ids);
  t.equal(timeOfId(ids.at(-1) as string), NOW + 2);
});

t.test('ids stay sorted when the clock goes backwards', async (t) => {
  const ids = idsAt([NOW, NOW - 60_000, NOW - 1, NOW, NOW + 1]);
  t.strictSame(ids.toSorted(), ids);
  t.equal(timeOfId(ids.at(-1) as string), NOW + 1);
});

t.test('two generators create different ids at the same time', async (t) => {
  const all = Array.from({ length: 300 }, () => idsAt([NOW])[0]);
  t.equal(new Set(all).size, all.length);
});
