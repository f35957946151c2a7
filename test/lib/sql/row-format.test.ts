import { createSecretKey } from 'node:crypto';
import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { KEY_BYTES } from '../../../lib/keys/sealing.ts';
import { RowFormat } from '../../../lib/sql/row-format.ts';

interface Thing {
  id: string;
  name: string;
}

t.test('texts of a row without a field that was added later are read', async (t) => {
  const earlier = new RowFormat<Thing>('things', { id: 'text', name: 'sealed' });
  const later = new RowFormat<Thing & { size: number | null }>('things', {
    id: 'text',
    name: 'sealed',
    size: 'sealed',
  });
  const content = systemRandom.bytes(KEY_BYTES);
  const textKey = { id: 1, key: createSecretKey(content) };
  const row = earlier.cells({ id: '1', name: 'a' }, textKey, systemRandom);
  t.same(later.record({ ...row, text_key: content }), { id: '1', name: 'a', size: null });
});

t.test(
  'rows from before a column was added keep their checksum, and later values are covered by it',
  async (t) => {
    interface Later extends Thing {
      tags: readonly string[];
      atMs: number | null;
      note: string | null;
    }
    const earlier = new RowFormat<Thing>('things', { id: 'text', name: 'text' });
    const fields = { id: 'text', name: 'text', tags: 'json', atMs: 'whole' } as const;
    const added = { tags: ['a', 'b'], atMs: null };
    const later = new RowFormat<Omit<Later, 'note'>>('things', fields, { added });
    const latest = new RowFormat<Later>(
      'things',
      { ...fields, note: 'text' },
      { added: { ...added, note: null } },
    );
    const thing = { id: '1', name: 'n' };
    const cellsOf = (row: unknown[]) => ({
      ...Object.fromEntries(['id', 'name', 'tags', 'at_ms'].map((name, index) => [name, row[index] ?? null])),
      checksum: row.at(-1),
    });
    const [id, name, checksum] = earlier.row(thing);
    t.same(later.record({ id, name, tags: null, at_ms: null, checksum }), { ...thing, ...added });
    t.same(later.row({ ...thing, ...added }), [id, name, null, null, checksum]);
    for (const values of [{ tags: ['a'] }, { atMs: 5 }, { tags: [], atMs: 5 }]) {
      const record = { ...thing, ...added, ...values };
      const cells = cellsOf(later.row(record));
      t.same(later.record(cells), record);
      t.same(latest.record({ ...cells, note: null }), { ...record, note: null });
      const damaged = { code: 'storage_damaged' };
      t.throws(() => later.record({ ...cells, tags: null, at_ms: null }), damaged);
      t.throws(() => later.record({ ...cells, tags: '["b"]' }), damaged);
      t.throws(() => later.record({ ...cells, at_ms: 6 }), damaged);
      t.throws(() => earlier.record(cells), damaged);
    }
  },
);

t.test('a value that does not fit its column is refused before it is written', async (t) => {
  const sizes = new RowFormat<{ id: string; size: number; madeAtMs: number; note?: string }>('sizes', {
    id: 'text',
    size: 'number',
    madeAtMs: 'whole',
    note: 'optionalText',
  });
  const right = { id: 'a', size: 1.5, madeAtMs: 7.9, note: 'b' };
  t.same(sizes.row(right).slice(0, -1), ['a', 1.5, 7, 'b']);
  t.same(sizes.row({ ...right, id: null as never }).slice(0, 1), [null]);
  for (const [field, value, message] of [
    ['id', 7, 'id is well-formed text'],
    ['id', {}, 'id is well-formed text'],
    ['id', 'a\ud800', 'id is well-formed text'],
    ['note', true, 'note is well-formed text'],
    ['size', '2', 'size is a finite number'],
    ['size', 2n, 'size is a finite number'],
    ['size', Number.NaN, 'size is a finite number'],
    ['madeAtMs', '2026', 'made_at_ms is a finite number'],
    ['madeAtMs', Number.POSITIVE_INFINITY, 'made_at_ms is a finite number'],
  ] as const)
    t.throws(() => sizes.row({ ...right, [field]: value }), { code: 'ERR_ASSERTION', message });
});
