import t from 'tap';
import { workTimes } from '../../../lib/model/work-times.ts';

const SCENE = { scene: 100, tex: 50.4, copy: 0, update: 20, draw: 300, encode: 9.6 };

t.test('the time before the scene was its start, the time after it the collection', async (t) => {
  t.same(workTimes(SCENE, { totalMs: 600, collectMs: 90 }), {
    start: 30,
    scene: 100,
    tex: 50,
    copy: 0,
    update: 20,
    draw: 300,
    encode: 10,
    collect: 90,
  });
});

t.test('a scene cannot report more time than its render took', async (t) => {
  const times = workTimes({ ...SCENE, tex: 1e9 }, { totalMs: 600, collectMs: 90 });
  t.equal(times.tex, 600);
  t.equal(times.start, 0);
});
