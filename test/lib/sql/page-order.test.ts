import t from 'tap';
import { inOrder } from '../../../lib/sql/page-order.ts';

const page = (keys: string, bounds: { up: boolean; from?: string }) =>
  inOrder(
    { table: 'jobs' },
    ({ key }) => key,
    [...keys].map((key) => ({ key })),
    bounds,
  );

t.test('a page in key order is returned unchanged', async (t) => {
  t.same(page('', { up: true, from: 'a' }), []);
  t.same(page('bcd', { up: true, from: 'a' }), [{ key: 'b' }, { key: 'c' }, { key: 'd' }]);
  t.same(page('dcb', { up: false }), [{ key: 'd' }, { key: 'c' }, { key: 'b' }]);
});

t.test('a page that is out of order is an error, because reading would never end', async (t) => {
  const damaged = { code: 'storage_damaged', message: /The index of the table jobs is damaged/ };
  t.throws(() => page('bcd', { up: true, from: 'c' }), damaged);
  t.throws(() => page('bdc', { up: true }), damaged);
  t.throws(() => page('bb', { up: true }), damaged);
  t.throws(() => page('cba', { up: false, from: 'c' }), damaged);
});
