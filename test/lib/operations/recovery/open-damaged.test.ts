import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeDatabase } from '../../../../lib/databases/sqlite/make-database.ts';
import { Schema } from '../../../../lib/databases/sqlite/migrated-schema.ts';
import { openDamaged } from '../../../../lib/operations/recovery/open-damaged.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const NOTES = 'CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT';
const BY_TEXT = 'CREATE INDEX notes_by_text ON notes (text)';

/** A database of an older version. */
async function olderDatabase(t: Test, harm: (bytes: Buffer) => void): Promise<string> {
  const path = join(testFolder(t), 'database.sqlite');
  const old = await makeDatabase(path, new Schema([NOTES]));
  old.run("INSERT INTO notes (text) VALUES ('kept')");
  old.close();
  const bytes = readFileSync(path);
  harm(bytes);
  writeFileSync(path, bytes);
  return path;
}

t.test('a database of an older version is migrated', async (t) => {
  const path = await olderDatabase(t, () => {});
  const { source, faults } = await openDamaged(path, new Schema([NOTES, BY_TEXT]));
  t.teardown(() => source.close());
  t.same(faults, []);
  t.match(source.all('SELECT text FROM notes INDEXED BY notes_by_text', []), [{ text: 'kept' }]);
});

const damages: [what: string, harm: (bytes: Buffer) => void][] = [
  ['schema', (bytes) => bytes.write('TEXX', bytes.indexOf('TEXT NOT NULL'))],
  ['table', (bytes) => bytes.fill(0xaa, 4096)],
];

for (const [what, harm] of damages) {
  t.test(`one whose ${what} cannot be migrated is left to the version that made it`, async (t) => {
    const path = await olderDatabase(t, harm);
    const opening = openDamaged(path, new Schema([NOTES, BY_TEXT]));
    await t.rejects(opening, {
      code: 'conflict',
      message: /another version .*schema 1,.*Use the version that made it/,
    });
  });
}
