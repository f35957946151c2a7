import t from 'tap';
import { parseSignal } from '../../lib/cluster/parse-signal.ts';
import { piecesOf, SignalPieces } from '../../lib/postgres/signal-pieces.ts';

const changed = {
  jobId: '1',
  owner: 'a',
  phase: 'running',
  attempts: 1,
  durationMs: null,
  completedAtMs: null,
};
const progress = { stage: 'rendering', frames: 3, seconds: 0.1 };

t.test('signals are read as they were sent', async (t) => {
  for (const signal of [
    { kind: 'waiting' },
    { kind: 'due' },
    { kind: 'settings' },
    { kind: 'canceled', jobId: '1' },
    { kind: 'changed', from: 'p', jobs: [changed, { ...changed, failedBy: 'scene', durationMs: 5 }] },
    { kind: 'watched', from: 'p', jobIds: ['1', '2'] },
    { kind: 'progress', from: 'p', jobId: '1', progress },
    { kind: 'preview', from: 'p', jobId: '1', jpeg: 'AAAA' },
  ]) {
    t.same(parseSignal(JSON.stringify(signal)), signal);
  }
});

t.test('messages of other programs or versions are not signals', async (t) => {
  for (const signal of [
    null,
    5,
    [],
    {},
    { kind: 'toString' },
    { kind: 'canceled' },
    { kind: 'changed', from: 'p', jobs: 5 },
    { kind: 'changed', from: 'p', jobs: [null] },
    { kind: 'changed', from: 'p', jobs: [{ ...changed, owner: 7 }] },
    { kind: 'changed', from: 'p', jobs: [{ ...changed, durationMs: '5' }] },
    { kind: 'changed', jobs: [] },
    { kind: 'watched', from: 'p', jobIds: 1 },
    { kind: 'watched', from: 'p', jobIds: [1] },
    { kind: 'progress', from: 'p', jobId: '1', progress: null },
    { kind: 'progress', from: 'p', jobId: '1', progress: { ...progress, frames: '3' } },
    { kind: 'preview', from: 'p', jobId: '1', jpeg: 5 },
  ]) {
    t.equal(parseSignal(JSON.stringify(signal)), undefined, JSON.stringify(signal));
  }
  t.equal(parseSignal('{"kind":"due"'), undefined);
});

t.test('long signals are joined from their pieces, in any order', async (t) => {
  const signal = { kind: 'preview', from: 'p', jobId: 'ü\n', jpeg: 'A'.repeat(20_000) };
  const pieces = new SignalPieces();
  const [one = '', two = '', three = ''] = piecesOf(signal, 7);
  t.ok([one, two, three].every(({ length }) => length < 7_600));
  t.equal(pieces.add('p', three), undefined);
  t.equal(pieces.add('other', one), undefined, 'of another sender');
  t.equal(pieces.add('p', one), undefined);
  t.same(parseSignal(pieces.add('p', two) ?? ''), signal);
});

t.test('invalid pieces are ignored', async (t) => {
  const pieces = new SignalPieces();
  for (const message of ['#1 0/99999999999 a', '#1 0/65 a', '#1 2/2 a', '#1 0/0 a']) {
    t.equal(pieces.add('p', message), undefined, message);
  }
  t.equal(pieces.add('p', '#2 0/2 {"kind"'), undefined);
  t.equal(pieces.add('p', '#2 1/3 x'), undefined, 'another count replaces the pieces');
  t.equal(pieces.add('p', '#2 1/2 :"due"}'), undefined);
  t.equal(pieces.add('p', '#2 0/2 {"kind"'), '{"kind":"due"}');
});
