import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MIGRATIONS, RECORDS } from '../../scripts/schemas.ts';

const CHANGED =
  'databases with this number exist: put the change into a further migration (lib/inside.md, "Changes of the schema")';
const NEW = 'a record of each migration: write that of a new one with `node scripts/schemas.ts`';

t.test('the schemas of SQLite and Postgres are as recorded, number by number', async (t) => {
  t.same([...MIGRATIONS.keys()].sort(), readdirSync(RECORDS).sort(), NEW);
  for (const name of readdirSync(RECORDS))
    t.equal(MIGRATIONS.get(name), readFileSync(join(RECORDS, name), 'utf8'), `${name}: ${CHANGED}`);
});
