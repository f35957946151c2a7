import t from 'tap';
import { type FrameSelection, partOf, picturesOf } from '../../../lib/model/selection.ts';
import { selectionOf } from '../../../lib/model/selection-rules.ts';

t.test('what was not chosen is absent', async (t) => {
  t.equal(selectionOf('enqueue', {}), undefined);
  t.equal(selectionOf('enqueue', { fromPlay: null, toPlay: null, poster: null, stills: [] }), undefined);
  const all: FrameSelection = { fromPlay: 2, toPlay: 2, poster: 0.5, stills: ['last', { play: 3 }] };
  t.strictSame(selectionOf('enqueue', all), all);
});

t.test('frames and plays that no video has are errors', async (t) => {
  for (const [given, message] of [
    [{ fromPlay: -1 }, /fromPlay must be greater than or equal to 0, not -1/],
    [{ fromPlay: 1.5 }, /fromPlay must be an integer/],
    [{ fromPlay: 3, toPlay: 2 }, 'toPlay is 2, before fromPlay, 3'],
    [{ poster: 'first' }, /poster/],
    [{ stills: [{ play: '1' }] }, /stills\[0\]/],
    [{ stills: Array(9).fill('last') }, /stills must contain less than or equal to 8 items/],
  ] as [object, string | RegExp][])
    t.throws(
      () => selectionOf('enqueue', given),
      { code: 'invalid_request', message },
      JSON.stringify(given),
    );
});

t.test('all plays from the first one are the whole scene', async (t) => {
  t.equal(partOf(undefined), null);
  t.equal(partOf({ fromPlay: 0, poster: 'last' }), null);
  t.strictSame(partOf({ fromPlay: 3 }), { first: 3, last: null });
  t.strictSame(partOf({ toPlay: 0 }), { first: 0, last: 0 });
});

t.test('stills are numbered, and the poster is the thumbnail', async (t) => {
  t.strictSame(picturesOf(), { places: [], names: [] });
  t.strictSame(picturesOf({ poster: { play: 1 }, stills: [2.5, 'last'] }), {
    places: [
      { at: 'seconds', value: 2.5 },
      { at: 'last', value: 0 },
      { at: 'play', value: 1 },
    ],
    names: ['still-1.png', 'still-2.png', 'thumbnail.jpg'],
  });
});
