import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../lib/clock.ts';
import { Schema } from '../../../lib/storage/sqlite/schema.ts';
import { SqliteDatabase } from '../../../lib/storage/sqlite/sqlite-database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const NOTES = 'CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT';
const COLOR = "ALTER TABLE notes ADD COLUMN color TEXT DEFAULT 'red'";
const BY_TEXT = 'CREATE INDEX notes_by_text ON notes (text)';

async function open(path: string, migrations: string[]) {
  const database = new SqliteDatabase(path, new Schema(migrations), { clock: systemClock });
  await database.start();
  return database;
}

t.test('data of an older version of the schema is migrated', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  const old = await open(path, [NOTES]);
  await old.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('kept')"));
  await old.stop();
  const young = await open(path, [NOTES, COLOR, BY_TEXT]);
  t.match(await young.all('SELECT text, color FROM notes INDEXED BY notes_by_text'), [
    { text: 'kept', color: 'red' },
  ]);
  await young.stop();
  await t.rejects(open(path, [NOTES]), { code: 'storage_damaged', message: /schema 3; this one knows 1/ });
  await (await open(path, [NOTES, COLOR, BY_TEXT])).stop();
});

t.test('an older schema that was changed is not migrated', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  await (await open(path, [NOTES])).stop();
  const changed = NOTES.replace(' NOT NULL', '');
  await t.rejects(open(path, [changed, COLOR]), {
    code: 'storage_damaged',
    message: /its schema was changed/,
  });
});

t.test('a migration that fails changes nothing', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  await (await open(path, [NOTES])).stop();
  await t.rejects(open(path, [NOTES, COLOR, 'CREATE TABLE notes (x)']));
  const old = await open(path, [NOTES]);
  t.same(await old.all('SELECT * FROM notes'), []);
  await old.stop();
});
