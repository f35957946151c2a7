import t, { type Test } from 'tap';
import { LowdbDatabase } from '../../../lib/storage/lowdb/database.ts';
import type { LowdbTransaction } from '../../../lib/storage/lowdb/transaction.ts';

interface Row {
  text: string;
}

async function openDatabase(t: Test): Promise<LowdbDatabase> {
  const database = new LowdbDatabase(t.testdir());
  await database.start();
  t.teardown(() => database.stop());
  return database;
}

/** Does them all at once, behind a write that is under way, so that they reach the disk as one group. */
async function together(
  database: LowdbDatabase,
  ...works: ((tx: LowdbTransaction) => void)[]
): Promise<void> {
  const first = database.transaction(async (tx) => tx.put('others', 'first', {}));
  await Promise.all([first, ...works.map((work) => database.transaction(async (tx) => work(tx)))]);
}

const textsOf = (database: LowdbDatabase) => [...database.all<Row>('rows')].map(({ text }) => text);

t.test('rows are in the order of their coming, also those that were written again at once', async (t) => {
  const database = await openDatabase(t);
  await together(
    database,
    (tx) => tx.put('rows', '2', { text: 'older' }),
    (tx) => tx.put('rows', '1', { text: 'newer' }),
    (tx) => tx.put('rows', '2', { text: 'older, again' }),
  );
  t.strictSame(textsOf(database), ['older, again', 'newer']);
  await together(database, (tx) => {
    tx.put('others', 'x', {});
    tx.put('rows', 'y', { text: 'y' });
    tx.put('rows', 'x', { text: 'x' });
  });
  t.strictSame(textsOf(database), ['older, again', 'newer', 'y', 'x']);
  await database.stop();
  await database.start();
  t.strictSame(textsOf(database), ['older, again', 'newer', 'y', 'x'], 'after a restart');
});

t.test('of what a group of transactions does to a row, the last counts', async (t) => {
  const database = await openDatabase(t);
  await together(
    database,
    (tx) => tx.put('rows', '1', { text: 'put' }),
    (tx) => tx.remove('rows', '1'),
    (tx) => tx.remove('rows', '2'),
    (tx) => {
      t.equal(tx.get('rows', '1'), undefined, 'seen by the next');
      tx.put('rows', '2', { text: 'put first' });
      tx.put('rows', '2', { text: 'put last' });
    },
  );
  t.strictSame(textsOf(database), ['put last']);
  await database.stop();
  await database.start();
  t.strictSame(textsOf(database), ['put last'], 'after a restart');
});

t.test('a transaction that is over takes no more writes', async (t) => {
  const database = await openDatabase(t);
  let kept: LowdbTransaction | undefined;
  const committed = database.transaction(async (tx) => {
    kept = tx;
    tx.put('rows', '1', { text: 'in time' });
  });
  const late = database.transaction(async () => {
    t.throws(() => kept?.put('rows', '1', { text: 'too late' }), { code: 'ERR_ASSERTION' });
  });
  await Promise.all([committed, late]);
  t.strictSame(textsOf(database), ['in time']);
});
