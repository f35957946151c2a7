import fc from 'fast-check';
import t from 'tap';
import { isoTime } from '../../../lib/time/clock.ts';

const LAST_MS = 8_640_000_000_000_000;

t.test('isoTime agrees with toISOString', async (t) => {
  const near = fc.tuple(fc.integer({ min: -800, max: 800 }), fc.integer({ min: -2, max: 2 }));
  const moment = fc.oneof(
    fc.integer({ min: -LAST_MS, max: LAST_MS }),
    // The last and first milliseconds of consecutive days.
    near.map(([day, ms]) => day * 86_400_000 + ms),
  );
  fc.assert(fc.property(moment, (ms) => isoTime(ms) === new Date(ms).toISOString()));
  t.equal(isoTime(0), '1970-01-01T00:00:00.000Z');
});

t.test('an invalid time throws, also after a valid one', async (t) => {
  isoTime(0);
  for (const ms of [Number.NaN, LAST_MS + 1]) t.throws(() => isoTime(ms), RangeError);
  t.equal(isoTime(1), '1970-01-01T00:00:00.001Z');
});
