import fc from 'fast-check';
import t from 'tap';
import { MOST_OUTPUT, parseJobReport, SCENE_FAULTS } from '../../../lib/model/renderer-protocol.ts';

const parse = (value: unknown) => parseJobReport(JSON.stringify(value));

t.test('valid reports are parsed without extra properties', async (t) => {
  t.same(parse({ type: 'stage', stage: 'rendering' }), { type: 'stage', stage: 'rendering' });
  t.same(parse({ type: 'progress', frames: 3, seconds: 0.2, x: 1 }), {
    type: 'progress',
    frames: 3,
    seconds: 0.2,
  });
  t.same(parse({ type: 'done', frames: 3 }), { type: 'done' });
  t.same(parse({ type: 'encoded', frames: 3, seconds: 0.2, copiedFrames: 2, captions: true }), {
    type: 'encoded',
    frames: 3,
    seconds: 0.2,
    copiedFrames: 2,
  });
});

t.test('scene names must be identifiers, and their length and number are limited', async (t) => {
  const names = ['A', '_b2', 'a b', '\x1b[2J', 7, null, 'x'.repeat(300)];
  t.same(parse({ type: 'scenes', names }), { type: 'scenes', names: ['A', '_b2'] });
  t.same(parse({ type: 'scenes', names: 'A' }), { type: 'scenes', names: [] });
  t.equal(
    (parse({ type: 'scenes', names: Array(5000).fill('A') }) as { names: string[] }).names.length,
    1000,
  );
});

t.test('output is limited in length and free of control characters, except tabs and newlines', async (t) => {
  t.same(parse({ type: 'output', text: 'a\tb\r\n\x1b[2J\ud800' }), {
    type: 'output',
    text: 'a\tb\n[2J\ufffd',
  });
  t.same(parse({ type: 'output', text: 7 }), { type: 'output', text: '' });
  t.equal(
    (parse({ type: 'output', text: 'x'.repeat(100_000) }) as { text: string }).text.length,
    MOST_OUTPUT,
  );
});

t.test('times of work are numbers that are not negative', async (t) => {
  const none = { scene: 0, tex: 0, copy: 0, update: 0, draw: 0, encode: 0 };
  t.same(parse({ type: 'work', ms: { ...none, tex: 1.5, x: 1 } }), {
    type: 'work',
    ms: { ...none, tex: 1.5 },
  });
  t.same(parse({ type: 'work', ms: { scene: -1, tex: 'x', draw: null } }), { type: 'work', ms: none });
  for (const ms of [undefined, null, 7, []]) t.same(parse({ type: 'work', ms }), { type: 'work', ms: none });
});

t.test('plays are limited in number and length, and free of control characters', async (t) => {
  const play = { line: 3, shows: 'Create(Circle)', startSeconds: 0.5, seconds: 1 };
  t.same(parse({ type: 'plays', plays: [{ ...play, x: 1 }, null, 'x'] }), { type: 'plays', plays: [play] });
  t.same(parse({ type: 'plays', plays: [{ line: -1, shows: 7, startSeconds: 'x', seconds: null }] }), {
    type: 'plays',
    plays: [{ line: 0, shows: '', startSeconds: 0, seconds: 0 }],
  });
  t.match(parse({ type: 'plays', plays: [{ ...play, shows: `\x1b[2J\n\ud800${'x'.repeat(100)}` }] }), {
    plays: [{ shows: /^\[2J \ufffdx{54}$/ }],
  });
  t.match(parse({ type: 'plays', plays: [{ ...play, startSeconds: 1e308 }] }), {
    plays: [{ startSeconds: 1e6 }],
  });
  t.same(parse({ type: 'plays', plays: 'x' }), { type: 'plays', plays: [] });
  t.equal(
    (parse({ type: 'plays', plays: Array(5000).fill(play) }) as { plays: object[] }).plays.length,
    1000,
  );
});

t.test('invalid numbers become 0', async (t) => {
  for (const value of [-1, 1.5, 1e300, 'x', null, {}, [], true]) {
    t.match(parse({ type: 'progress', frames: value, seconds: -1 }), { frames: 0, seconds: 0 });
  }
});

t.test('an error is limited in length, free of control characters and never empty', async (t) => {
  t.match(parse({ type: 'failed', error: '\x1b[2Jline 3\x00', failedBy: 'tex' }), {
    type: 'failed',
    error: '[2Jline 3',
    failedBy: 'tex',
  });
  t.match(parse({ type: 'failed', error: 'x'.repeat(100_000) }), { error: 'x'.repeat(4096) });
  t.match(parse({ type: 'failed', error: '' }), { error: 'The scene failed without saying why.' });
  t.match(parse({ type: 'failed', error: 7 }), { error: 'The scene failed without saying why.' });
  t.match(parse({ type: 'failed', error: `a${'\t\n'.repeat(50)}  b\n\nc\nd` }), {
    error: 'a\t\n\n  b\n\nc\nd',
  });
  t.match(parse({ type: 'failed', error: 'a\ud800' }), { error: 'a\ufffd' });
});

t.test('a scene fails by itself, a formula or a limit, and by nothing else', async (t) => {
  const failedBy = (value: unknown) => parse({ type: 'failed', error: 'no', failedBy: value });
  t.ok(SCENE_FAULTS.length > 5);
  for (const fault of SCENE_FAULTS) t.match(failedBy(fault), { failedBy: fault });
  for (const other of ['service', 'cancel', 'credits', 'limit:', '__proto__', undefined, null, 7, ['tex']])
    t.match(failedBy(other), { failedBy: 'scene' });
});

t.test('anything else is rejected', async (t) => {
  for (const value of [
    null,
    1,
    [],
    {},
    { type: 'ended' },
    { type: 'stage', stage: 'x' },
    { type: 'preview' },
  ]) {
    t.equal(parse(value), undefined);
  }
});

t.test('no line makes the parser throw', async () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void parseJobReport(line)));
});
