import t, { type Test } from 'tap';
import { Document } from '../../../../lib/data-folder/documents/document.ts';
import { DocumentFile } from '../../../../lib/data-folder/documents/document-file.ts';
import { Fields, text, time } from '../../../../lib/data-folder/documents/fields.ts';
import { listFormat } from '../../../../lib/data-folder/documents/format.ts';
import { Table } from '../../../../lib/data-folder/documents/table.ts';
import { realDisk } from '../../../../lib/files/disk.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

interface Row {
  id: string;
  createdAtMs: number;
}

const ROWS = 10_000;
const id = (number: number) => `row-${String(number).padStart(5, '0')}`;

/** A document that counts how many of its records are printed. */
function document(t: Test, folder: string) {
  const counts = { printed: 0 };
  const idText = text<string>('an id');
  const write = (value: string) => {
    counts.printed += 1;
    return value;
  };
  const fields = new Fields<Row>({ id: ['id', { ...idText, write }], createdAt: ['createdAtMs', time] });
  const format = listFormat<Row>('rows', { fields, id: 'id', unique: {} });
  const file = new DocumentFile({ disk: realDisk, folder, name: 'rows.json', format });
  const content = new Table<Row>({ noun: 'row', idOf: (row) => row.id, unique: {} });
  const document = new Document({ file, content, onFullDisk: async () => {} });
  t.teardown(() => document.stop());
  return { document, counts, content };
}

/** The largest number of records that are printed in one turn of the event loop. */
async function mostInATurn(counts: { printed: number }, work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  let before = counts.printed;
  let isDone = false;
  const looking = (async () => {
    while (!isDone) {
      await turn();
      most = Math.max(most, counts.printed - before);
      before = counts.printed;
    }
  })();
  await work();
  isDone = true;
  await looking;
  return most;
}

t.test('a change of 10,000 records prints few of them, also the first after a start', async (t) => {
  const folder = testFolder(t);
  const rows = Array.from({ length: ROWS }, (_, number) => ({ id: id(number), createdAtMs: number }));
  const made = document(t, folder);
  await made.document.start();
  const inATurn = await mostInATurn(made.counts, () => made.document.create(rows));
  t.ok(inATurn <= 400, `${inATurn} in a turn, while the file is created`);
  t.equal(made.counts.printed, ROWS);
  await made.document.stop();

  const { document: again, counts, content } = document(t, folder);
  const atStart = await mostInATurn(counts, () => again.start());
  t.equal(counts.printed, ROWS);
  t.ok(atStart <= 400, `${atStart} in a turn, while the file is read`);
  for (const number of [0, ROWS / 2, ROWS - 1]) {
    counts.printed = 0;
    const changed = { id: id(number), createdAtMs: number };
    await again.change((draft) => draft.put(changed));
    t.ok(counts.printed <= 200, `${counts.printed} for a change of the record ${number}`);
  }
  counts.printed = 0;
  await again.change((draft) => draft.put({ id: id(ROWS), createdAtMs: ROWS }));
  t.ok(counts.printed <= 200, `${counts.printed} for a new record`);
  await again.stop();

  const last = document(t, folder);
  await last.document.start();
  t.same(last.content.all(), content.all());
  t.equal(last.content.size, ROWS + 1);
});
