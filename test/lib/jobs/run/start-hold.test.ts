import t from 'tap';
import { StartHold } from '../../../../lib/jobs/run/start-hold.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

function newHold() {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  let ends = 0;
  const hold = new StartHold(clock).on('end', () => ends++);
  return { clock, hold, ends: () => ends };
}

t.test('holds last 1 to 30 s, each twice as long as the one before', async (t) => {
  const { clock, hold, ends } = newHold();
  t.equal(hold.active, false);
  for (const [count, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
    t.equal(hold.begin(), seconds * 1000);
    clock.advance(seconds * 1000 - 1);
    t.equal(hold.active, true);
    t.equal(ends(), count);
    clock.advance(1);
    t.equal(hold.active, false);
    t.equal(ends(), count + 1);
  }
  hold.reset();
  t.equal(hold.begin(), 1000);
});

t.test('a hold that begins during another changes nothing, and returns the length of the next', async (t) => {
  const { clock, hold, ends } = newHold();
  t.equal(hold.begin(), 1000);
  t.equal(hold.begin(), 2000);
  t.equal(hold.begin(), 2000);
  clock.advance(1000);
  t.equal(ends(), 1);
  t.equal(clock.nextInMs, undefined);
});

t.test('a hold that is ended starts nothing, and the next is longer', async (t) => {
  const { clock, hold, ends } = newHold();
  hold.end();
  hold.begin();
  hold.end();
  t.equal(hold.active, false);
  t.equal(clock.nextInMs, undefined, 'no timer is left');
  t.equal(hold.begin(), 2000);
  t.equal(ends(), 0);
});

t.test('a shortage lasts until a render makes progress or is carried out', async (t) => {
  const { hold } = newHold();
  t.equal(hold.isShortage, false);
  hold.begin();
  t.equal(hold.isShortage, false, 'a renderer that does not start is none');
  for (const end of [() => hold.noteProgress(), () => hold.reset()]) {
    hold.begin({ isShortage: true });
    hold.begin({ isShortage: false });
    hold.begin();
    hold.end();
    t.equal(hold.isShortage, true);
    end();
    t.equal(hold.isShortage, false);
  }
});
