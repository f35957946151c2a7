import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Schema } from '../../../lib/databases/sqlite/migrated-schema.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { systemClock } from '../../../lib/time/clock.ts';
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
  await t.rejects(open(path, [NOTES]), {
    code: 'conflict',
    message: /made by another version of Scenepress \(schema 3, checksum \w{8}; this version has schema 1,/,
  });
  await (await open(path, [NOTES, COLOR, BY_TEXT])).stop();
});

t.test('another schema with the same number is that of another version', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  await (await open(path, [NOTES])).stop();
  const before = readFileSync(path);
  // Shorter, as long, and longer.
  for (const other of [
    NOTES.replace(' NOT NULL', ''),
    NOTES.replace('note_id', 'note_no'),
    NOTES.replace('text ', 'color TEXT, text '),
  ])
    for (const migrations of [[other], [other, COLOR]])
      await t.rejects(
        open(path, migrations),
        { code: 'conflict', message: /another version .*schema 1,/ },
        other,
      );
  t.ok(readFileSync(path).equals(before));
  await (await open(path, [NOTES])).stop();
});

t.test(
  'of number, checksum and tables one may be damaged, without being taken for another version',
  async (t) => {
    const path = join(testFolder(t), 'database.sqlite');
    await (await open(path, [NOTES])).stop();
    const before = readFileSync(path);
    const harmed = (how: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(before);
      how(bytes);
      writeFileSync(path, bytes);
    };
    const damaged = { code: 'storage_damaged', message: /its schema was changed/ };
    harmed((bytes) => bytes.writeUInt32BE(9, 60));
    await t.rejects(open(path, [NOTES, COLOR]), damaged, 'the number');
    harmed((bytes) => bytes.write('x', bytes.indexOf('note_id') + 6));
    await t.rejects(open(path, [NOTES, COLOR]), damaged, 'the tables');
    harmed((bytes) => bytes.writeUInt32BE(0, 68));
    await (await open(path, [NOTES])).stop();
    t.ok(
      readFileSync(path).subarray(68, 72).equals(before.subarray(68, 72)),
      'the checksum is written again',
    );
  },
);

t.test('a migration that fails changes nothing', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  await (await open(path, [NOTES])).stop();
  await t.rejects(open(path, [NOTES, COLOR, 'CREATE TABLE notes (x)']));
  const old = await open(path, [NOTES]);
  t.same(await old.all('SELECT * FROM notes'), []);
  await old.stop();
});
