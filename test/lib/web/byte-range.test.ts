import t from 'tap';
import { byteRangeOf } from '../../../lib/web/byte-range.ts';

t.test('a single range is parsed', async (t) => {
  t.strictSame(byteRangeOf('bytes=0-0', 10), { start: 0, end: 0 });
  t.strictSame(byteRangeOf('bytes=2-5', 10), { start: 2, end: 5 });
  t.strictSame(byteRangeOf('bytes=2-', 10), { start: 2, end: 9 });
  t.strictSame(byteRangeOf('bytes=2-99', 10), { start: 2, end: 9 });
  t.strictSame(byteRangeOf('bytes=-3', 10), { start: 7, end: 9 });
  t.strictSame(byteRangeOf('bytes=-99', 10), { start: 0, end: 9 });
});

t.test('a range beyond the end is unsatisfiable', async (t) => {
  for (const header of ['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-']) {
    t.equal(byteRangeOf(header, 10), 'unsatisfiable', header);
  }
  t.equal(byteRangeOf('bytes=-1', 0), 'unsatisfiable');
});

t.test('an invalid header and several ranges mean the whole file', async (t) => {
  const headers = [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'bytes=a-b',
    'items=0-1',
    'bytes=0-1,3-4',
  ];
  for (const header of headers) t.equal(byteRangeOf(header, 10), undefined, header ?? 'none');
});
