import assert from 'node:assert/strict';
import { StoredLedger } from '../ledger/stored-ledger.ts';
import { sqlStorage } from '../sql/sql-stores.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import { ledgerSuite } from './ledger.ts';
import { SERVICE_IN_DATABASE } from './service-in-database.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

const INSERT =
  'INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms, checksum) VALUES (?, ?, ?, ?, ?)';
const UPDATE = 'UPDATE sessions SET expires_at_ms = ? WHERE token_hash = ?';
const READ = 'SELECT expires_at_ms AS "expiresAtMs" FROM sessions WHERE token_hash = ?';
const IDS = 'SELECT token_hash AS "id" FROM sessions ORDER BY token_hash';

/** The table of sessions, with rows of these tests, in a database or a transaction. */
const idOf = (letter: string) => letter.repeat(64);
const rowOf = (letter: string, expiresAtMs = 0) => [idOf(letter), 'a', 1, expiresAtMs, 0];
const insert = (tx: SqlTransaction, letter: string) => tx.run(INSERT, ...rowOf(letter));

async function expiryOf(reader: Pick<SqlDatabase, 'get'>, letter: string): Promise<number | undefined> {
  return (await reader.get<{ expiresAtMs: number }>(READ, idOf(letter)))?.expiresAtMs;
}

async function lettersIn(reader: Pick<SqlDatabase, 'all'>): Promise<string> {
  return (await reader.all<{ id: string }>(IDS)).map(({ id }) => id[0]).join('');
}

/** Calls, and what has ended, in their order. */
function journal() {
  const entries: string[] = [];
  return { entries, note: (entry: string) => void entries.push(entry) };
}

/**
 * Behaviors of a {@link SqlDatabase}, and of all that a service keeps in it. `open` returns a new, started one, whose tables
 * are empty.
 *
 * ```ts
 * const open = async () => ({ subject: await MyDatabase.open(':memory:', SQL_SCHEMAS.sqlite), close: async () => {} });
 * for (const { title, run } of sqlDatabaseSuite(open)) test(title, run);
 * ```
 */
export function sqlDatabaseSuite(
  open: () => Promise<Opened<SqlDatabase>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const ledger = async () => {
    const { subject, close } = await open();
    const stores = sqlStorage(subject);
    await stores.start();
    return { subject: new StoredLedger({ store: stores.ledgerStore, freeCreditsPerMonth: 100 }), close };
  };
  const books = ledgerSuite(ledger, options).map(({ title, run }) => ({ title: `books: ${title}`, run }));
  const suite = { name: 'sqlDatabaseSuite', open, options, ...EMPTY };
  return [...behaviours(suite, { ...TABLE, ...SERVICE_IN_DATABASE }), ...books];
}

const EMPTY = {
  holds: 'a database with empty tables',
  flaw: async (database: SqlDatabase) => ((await lettersIn(database)) === '' ? undefined : 'sessions'),
};

const TABLE: Record<string, (database: SqlDatabase) => Promise<void>> = {
  async 'commits what a transaction wrote, and keeps it across a restart'(database) {
    const result = await database.transaction(async (tx) => {
      assert.equal(await insert(tx, 'a'), 1);
      assert.equal(await tx.run(UPDATE, Number.MAX_SAFE_INTEGER, idOf('a')), 1);
      assert.equal(await tx.run(UPDATE, 7, idOf('b')), 0);
      return 'done';
    });
    assert.equal(result, 'done');
    await database.stop();
    await database.start();
    await database.start();
    assert.equal(await expiryOf(database, 'a'), Number.MAX_SAFE_INTEGER);
    assert.equal(await expiryOf(database, 'b'), undefined);
  },

  async 'stores texts, bytes and null without changes'(database) {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) => at * 8);
    const text = 'x = "数学 \u2028 \ud83d\ude00"\r\n';
    const id = await database.transaction(async (tx) => {
      await tx.run('INSERT INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)', '1', 1, null, text, null, null, 0);
      return tx.insert('text_keys', 'text_key_id', { content: bytes });
    });
    const act = 'SELECT actor, action FROM acts WHERE act_id = ?';
    assert.deepEqual({ ...(await database.get(act, '1')) }, { actor: null, action: text });
    const key = 'SELECT content FROM text_keys WHERE text_key_id = ?';
    const found = await database.get<{ content: Uint8Array }>(key, id);
    assert.deepEqual(Array.from(found?.content ?? []), Array.from(bytes));
  },

  async 'generates another key for each row'(database) {
    const ids = await database.transaction(async (tx) => {
      const key = () => tx.insert('text_keys', 'text_key_id', { content: new Uint8Array(32) });
      return Promise.all([key(), key(), key()]);
    });
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.every(Number.isSafeInteger), ids.join(', '));
  },

  async 'stores nothing of a transaction that throws, and rejects with its error'(database) {
    const error = new Error('no');
    const failing = database.transaction(async (tx) => {
      await insert(tx, 'a');
      throw error;
    });
    await assert.rejects(failing, error);
    assert.equal(await lettersIn(database), '');
  },

  async 'stores nothing of a transaction with a statement that fails, awaited or not'(database) {
    const failing = database.transaction(async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'a');
    });
    await assert.rejects(failing);
    const failingLater = database.transaction(async (tx) => {
      tx.write(INSERT, ...rowOf('a'));
      tx.write(INSERT, idOf('b'), null, 1, 1, 0);
    });
    await assert.rejects(failingLater);
    assert.equal(await lettersIn(database), '');
  },

  async 'shows what is not committed within the transaction only'(database) {
    await database.transaction(async (tx) => {
      await insert(tx, 'a');
      assert.equal(await lettersIn(tx), 'a');
      assert.equal(await lettersIn(database), '');
    });
    assert.equal(await lettersIn(database), 'a');
  },

  async 'runs statements in the order of their calls'(database) {
    const counts = await database.transaction(async (tx) => {
      const first = insert(tx, 'a');
      tx.write(INSERT, ...rowOf('b'));
      const both = lettersIn(tx);
      tx.write('DELETE FROM sessions');
      return Promise.all([first, both, lettersIn(tx)]);
    });
    assert.deepEqual(counts, [1, 'ab', '']);
  },

  async 'locks the rows that a transaction reads for a change'(database) {
    await database.transaction((tx) => insert(tx, 'a'));
    const increment = () =>
      database.transaction(async (tx) => {
        const row = await tx.getForUpdate<{ expiresAtMs: number }>(READ, idOf('a'));
        await tx.run(UPDATE, (row?.expiresAtMs ?? 0) + 1, idOf('a'));
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    const all = await database.transaction((tx) => tx.allForUpdate<{ expiresAtMs: number }>(READ, idOf('a')));
    assert.deepEqual(
      all.map(({ expiresAtMs }) => expiresAtMs),
      [20],
    );
  },

  async 'leaves out the rows that other transactions have locked'(database) {
    for (const letter of ['a', 'b']) await database.transaction((tx) => insert(tx, letter));
    const unlocked = (tx: SqlTransaction) => tx.allUnlocked<{ id: string }>(IDS);
    if (!database.isShared) return assert.equal((await database.transaction(unlocked)).length, 2);
    await database.transaction(async (tx) => {
      await tx.getForUpdate(READ, idOf('a'));
      const found = await database.transaction(unlocked);
      assert.deepEqual(
        found.map(({ id }) => id),
        [idOf('b')],
      );
    });
  },

  async 'runs a transaction again that inserts what another has just inserted'(database) {
    const letters = ['a', 'b', 'c', 'd'];
    const add = (letter: string) =>
      database.transaction(async (tx) => {
        if ((await expiryOf(tx, letter)) === undefined) await insert(tx, letter);
      });
    await Promise.all(letters.flatMap((letter) => [add(letter), add(letter), add(letter)]));
    assert.equal(await lettersIn(database), 'abcd');
  },

  async 'lets transactions with the same lock run one after the other'(database) {
    const { entries, note } = journal();
    const work = (name: string) =>
      database.transaction(async (tx) => {
        await tx.lock('a name');
        note(`${name} begins`);
        for (let reads = 0; reads < 10; reads += 1) await lettersIn(tx);
        note(`${name} ends`);
      });
    await Promise.all([work('one'), work('two'), work('three')]);
    for (let at = 0; at < entries.length; at += 2)
      assert.equal(entries[at + 1], entries[at]?.replace('begins', 'ends'), entries.join(', '));
    assert.equal(entries.length, 6);
  },

  async 'waits for all other transactions, and holds those that begin meanwhile'(database) {
    const { entries, note } = journal();
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const before = database.transaction(async (tx) => {
      await insert(tx, 'a');
      begun.resolve();
      await mayEnd.promise;
      note('the one before ends');
    });
    await begun.promise;
    const alone = database.transaction(async (tx) => {
      await tx.lockAll();
      note('alone');
      assert.equal(await lettersIn(tx), 'a');
    });
    mayEnd.resolve();
    await Promise.all([before, alone]);
    assert.deepEqual(entries, ['the one before ends', 'alone']);
  },

  async 'calls back after a commit, and not after a rollback'(database) {
    const { entries, note } = journal();
    await database.transaction(async (tx) => {
      await insert(tx, 'a');
      tx.afterCommit(() => note('committed'));
      note('worked');
    });
    note('resolved');
    const failing = database.transaction(async (tx) => {
      tx.afterCommit(() => note('never'));
      throw new Error('no');
    });
    await assert.rejects(failing, { message: 'no' });
    assert.deepEqual(entries, ['worked', 'committed', 'resolved']);
  },

  async 'knows its transactions by their handles'(database) {
    const ended = await database.transaction(async (tx) => {
      assert.equal(await lettersIn(database.inside(tx)), '');
      return tx;
    });
    assert.throws(() => database.inside({ store: {} }));
    await assert.rejects(async () => insert(database.inside(ended), 'a'));
    assert.equal(await lettersIn(database), '');
  },

  async 'runs a task of one name once at a time'(database) {
    const end = Promise.withResolvers<string>();
    const first = database.alone('a task', () => end.promise);
    const second = await database.alone('another task', async () => 'done');
    assert.equal(second, 'done');
    assert.equal(await database.alone('a task', async () => 'again'), undefined);
    end.resolve('first');
    assert.equal(await first, 'first');
    assert.equal(await database.alone('a task', async () => 'later'), 'later');
  },

  async 'leads a task while its lease is valid, if several processes share it'(database) {
    if (!database.isShared) return;
    assert.ok(database.lead, 'a shared database has `lead`');
    assert.equal(await database.lead('a task', 'me', 60_000), true);
    assert.equal(await database.lead('a task', 'you', 60_000), false);
    assert.equal(await database.lead('a task', 'me', 60_000), true);
    await database.lead('a task', 'me', 0);
    assert.equal(await database.lead('a task', 'you', 60_000), true);
  },

  async 'reads, checks and purges in the background'(database) {
    await database.transaction((tx) => insert(tx, 'a'));
    assert.equal((await database.queryInBackground(IDS)).length, 1);
    assert.deepEqual(await database.check(), []);
    await database.purge();
    await database.purgeDue?.();
    assert.equal(await lettersIn(database), 'a');
  },

  async 'waits at a stop for the transactions that run'(database) {
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const last = database.transaction(async (tx) => {
      await insert(tx, 'a');
      begun.resolve();
      await mayEnd.promise;
    });
    await begun.promise;
    const stopped = database.stop();
    mayEnd.resolve();
    await Promise.all([last, stopped]);
    await database.start();
    assert.equal(await lettersIn(database), 'a');
  },
};
