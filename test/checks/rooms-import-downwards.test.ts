import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const LIB = join(import.meta.dirname, '../../lib');
/** The rooms that a room may import besides itself and the files at the top of lib. Types may be imported from anywhere. */
const USES: Record<string, string[]> = {
  storage: [],
  documents: ['accounts', 'jobs', 'settings'],
  signals: [],
  queue: [],
  ledger: [],
  sql: ['storage', 'queue'],
  keys: ['jobs'],
  accounts: [],
  assets: [],
  render: ['data-folder'],
};
const VALUE_IMPORT = /^import (?!type )(?:[^;]*? from )?'(\.[^']+)'/gms;
const ONLY_TYPES = /^import \{(?:\s*type \w+,?)+\s*\} from/;

function roomOf(path: string): string {
  const [room = '', ...rest] = relative(LIB, path).split('/');
  return rest.length > 0 ? room : '';
}

for (const [room, uses] of Object.entries(USES)) {
  t.test(`lib/${room} imports no rooms above it`, async (t) => {
    const files = readdirSync(join(LIB, room), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const path = join(LIB, room, file);
      for (const [text, target = ''] of readFileSync(path, 'utf8').matchAll(VALUE_IMPORT)) {
        if (ONLY_TYPES.test(text)) continue;
        const used = roomOf(join(dirname(path), target));
        t.ok(used === '' || used === room || uses.includes(used), `${room}/${file} imports ${target}`);
      }
    }
  });
}
