import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const LIB = join(import.meta.dirname, '../../lib');
/** The folders that a folder may import besides itself and the files at the top of lib. Types may be imported from anywhere. */
const USES: Record<string, string[]> = {
  storage: [],
  'postgres-database': ['storage'],
  documents: ['accounts', 'jobs', 'settings'],
  signals: [],
  queue: [],
  ledger: [],
  sql: ['storage', 'postgres-database', 'queue', 'settings'],
  keys: ['jobs'],
  accounts: [],
  assets: [],
  render: ['data-folder'],
  web: ['jobs'],
};
const VALUE_IMPORT = /^import (?!type )(?:[^;]*? from )?'(\.[^']+)'/gms;
const ONLY_TYPES = /^import \{(?:\s*type \w+,?)+\s*\} from/;

function folderOf(path: string): string {
  const [folder = '', ...rest] = relative(LIB, path).split('/');
  return rest.length > 0 ? folder : '';
}

for (const [folder, uses] of Object.entries(USES)) {
  t.test(`lib/${folder} imports no folders above it`, async (t) => {
    const files = readdirSync(join(LIB, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const path = join(LIB, folder, file);
      for (const [text, target = ''] of readFileSync(path, 'utf8').matchAll(VALUE_IMPORT)) {
        if (ONLY_TYPES.test(text)) continue;
        const used = folderOf(join(dirname(path), target));
        t.ok(used === '' || used === folder || uses.includes(used), `${folder}/${file} imports ${target}`);
      }
    }
  });
}
