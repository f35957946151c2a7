import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { parseObject, readLines, withoutControlCharacters } from '../../../lib/base/line-reader.ts';

function linesOf(chunks: Buffer[], maxBytes: number): string[] {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) stream.emit('data', chunk);
  return lines;
}

t.test('lines are complete however the bytes are split', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(text), fc.array(fc.integer({ min: 0, max: 200 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((edge, i) => bytes.subarray(edges[i], edge));
      return JSON.stringify(linesOf(chunks, 10_000)) === JSON.stringify(lines);
    }),
  );
});

t.test('a line that is too long is dropped, the next one is read', async (t) => {
  const long = Buffer.alloc(101, 'x');
  t.same(linesOf([Buffer.from('a\n'), long, long, Buffer.from('\nb\n')], 100), ['a', 'b']);
  t.same(linesOf([Buffer.alloc(100, 'x'), Buffer.from('\n')], 100), ['x'.repeat(100)]);
});

t.test('an unfinished line is not a line', async (t) => {
  t.same(linesOf([Buffer.from('a\nb')], 100), ['a']);
});

t.test('control characters are removed, text is kept', async (t) => {
  t.equal(withoutControlCharacters('a\x1b[31m\x00\r\x85\u2028b\tc\nd ü 数'), 'a[31mb\tc\nd ü 数');
});

t.test('characters that disguise text are removed, those that scripts need are kept', async (t) => {
  t.equal(withoutControlCharacters('a \u202egnp.exe\u2066 b\u200b\ufeff\u00ad'), 'a gnp.exe b');
  const written = ['👩\u200d🔬', 'می\u200cخواهم', 'क्\u200dष', 'שלום\u200f!'];
  for (const text of written) t.equal(withoutControlCharacters(text), text);
});

t.test('parseObject returns objects only', async (t) => {
  t.same(parseObject('{"a":1}'), { a: 1 });
  for (const text of ['', 'null', '1', '"x"', '{', '{}x']) t.equal(parseObject(text), undefined, text);
});
