import { createSecretKey } from 'node:crypto';
import t from 'tap';
import { systemRandom } from '../../../lib/random.ts';
import { KEY_BYTES } from '../../../lib/sealing.ts';
import { RowFormat } from '../../../lib/sql/row-format.ts';

interface Thing {
  id: string;
  name: string;
}

t.test('texts of a row without a field that was added later are read', async (t) => {
  const earlier = new RowFormat<Thing>('things', { id: 'plain', name: 'sealed' });
  const later = new RowFormat<Thing & { size: number | null }>('things', {
    id: 'plain',
    name: 'sealed',
    size: 'sealed',
  });
  const content = systemRandom.bytes(KEY_BYTES);
  const textKey = { id: 1, key: createSecretKey(content) };
  const row = earlier.cells({ id: '1', name: 'a' }, textKey, systemRandom);
  t.same(later.record({ ...row, text_key: content }), { id: '1', name: 'a', size: null });
});
