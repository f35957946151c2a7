import t from 'tap';
import { FINDING_KINDS, faultOf, findingOf } from '../../../lib/model/finding.ts';
import { parseFinding, parseFindings } from '../../../lib/model/finding-parser.ts';

const FAILURE = { error: 'NameError: x\nline 3: x', failedBy: 'scene' } as const;
const PLAIN = findingOf(FAILURE);

t.test('a finding is kept as it is', async (t) => {
  const finding = {
    ...{ kind: 'scene:name', severity: 'error', message: 'NameError: x', hint: 'Did you mean `y`?' },
    ...{ line: 3, column: 5, endLine: 3, endColumn: 6, sourceLine: 'x', candidates: ['y'], play: 0 },
    fix: { line: 1, column: 1, endColumn: 1, text: 'import y\n' },
    layout: { mobject: 'title', box: { left: -1, right: 1, bottom: -0.5, top: 0.5 }, seconds: 2.5 },
    tex: { source: '\\foo', logLine: 'Undefined control sequence', packages: ['bar'] },
    calls: [{ file: 'scene.py', line: 3, function: 'construct', source: 'x' }],
  };
  t.same(parseFinding(finding, FAILURE), finding);
});

t.test('without a finding, the failure is all that is known', async (t) => {
  for (const given of [undefined, null, 1, 'text', [], {}]) t.same(parseFinding(given, FAILURE), PLAIN);
  t.match(PLAIN, { kind: 'scene:error', message: 'NameError: x', line: null, hint: null, candidates: [] });
  t.match(findingOf({ error: 'too long', failedBy: 'limit:time' }), { kind: 'limit:time', hint: /shorter/ });
});

t.test('the kind belongs to what the scene failed by', async (t) => {
  for (const kind of FINDING_KINDS) {
    const failedBy = faultOf(kind);
    if (failedBy === undefined) {
      t.equal(parseFinding({ kind }, FAILURE).kind, 'scene:error', 'no render fails by its layout');
      continue;
    }
    t.equal(parseFinding({ kind }, { error: 'x', failedBy }).kind, kind);
    if (failedBy !== 'scene') t.equal(parseFinding({ kind }, FAILURE).kind, 'scene:error');
    else t.equal(parseFinding({ kind }, { error: 'x', failedBy: 'tex' }).kind, 'tex');
  }
  t.equal(parseFinding({ kind: 'layout:odd' }, FAILURE).kind, 'scene:error');
});

t.test('fields of other types and numbers out of range are not known', async (t) => {
  const odd = [0, -1, 1.5, 2 ** 60, Number.NaN, '3', {}, [], true];
  for (const value of odd) {
    const found = parseFinding({ line: value, column: value, endLine: value, endColumn: value }, FAILURE);
    t.match(found, { line: null, column: null, endLine: null, endColumn: null });
  }
  const texts = { message: 1, hint: [], sourceLine: {}, candidates: 'abc', tex: 'x', calls: { length: 3 } };
  t.same(parseFinding({ ...texts, play: -1, severity: 'warning' }, FAILURE), PLAIN);
  const places = {
    fix: { line: 1, column: 3, endColumn: 2, text: 'x' },
    layout: { box: { left: 1 }, seconds: -1 },
  };
  t.match(parseFinding(places, FAILURE), { fix: null, layout: { mobject: null, box: null, seconds: 0 } });
  t.same(parseFinding({ candidates: [1, '', 'y'], calls: [null, 1, 'x'] }, FAILURE).candidates, ['y']);
});

t.test('a fix without a line is in the line of the finding', async (t) => {
  const fix = { column: 3, endColumn: 4, text: 'x' };
  t.same(parseFinding({ line: 7, fix }, FAILURE).fix, { line: 7, ...fix });
  t.equal(parseFinding({ fix }, FAILURE).fix, null);
  t.equal(parseFinding({ line: 7, fix: { ...fix, text: '' } }, FAILURE).fix, null);
  t.match(parseFinding({ line: 7, fix: { ...fix, text: '    x\u001b\ny' } }, FAILURE), {
    fix: { text: '    x\ny' },
  });
});

t.test('texts are cut, in one line and without control characters', async (t) => {
  const long = `a\u001b[31m\nb\u202ec${'x'.repeat(10_000)}\ud800`;
  const items = Array.from({ length: 100 }, () => long);
  const found = parseFinding(
    {
      ...{ message: long, hint: long, sourceLine: long, candidates: items },
      tex: { source: long, logLine: long, packages: items },
      calls: items.map((text) => ({ file: text, line: 1, function: text, source: text })),
    },
    FAILURE,
  );
  const json = JSON.stringify(found);
  t.ok(json.length < 13_000, `${json.length} characters`);
  t.ok(json.isWellFormed());
  t.notMatch(json, /\\u001b|\\n|\u202e|\\ud800/);
  t.match(found, { message: /^a/, hint: /^a/, candidates: Array, calls: Array });
});

t.test('findings of a source that was read', (t) => {
  const found = parseFindings([
    { kind: 'scene:name', severity: 'error', message: 'no\nname', line: 3 },
    { kind: 'tex', severity: 'warning', message: 'odd' },
    { kind: 'nothing', severity: 'fatal', message: 'unknown' },
    { kind: 'scene:name', message: '' },
    'text',
    ...Array.from({ length: 40 }, () => ({ kind: 'limit:time', message: 'one of many' })),
  ]);
  t.match(found, [
    { kind: 'scene:name', severity: 'error', message: 'no name', line: 3, fix: null },
    { kind: 'tex', severity: 'warning', message: 'odd', line: null },
    { kind: 'scene:error', severity: 'error', message: 'unknown' },
  ]);
  t.ok(found.length <= 20);
  t.same(parseFindings('text'), []);
  t.end();
});
