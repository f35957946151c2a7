import pg from 'pg';
import t from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { Confirmations } from '../../../../lib/databases/postgres/confirmations.ts';
import type { PgClient, PgQuery } from '../../../../lib/databases/postgres/driver.ts';
import { openPostgres, serverUrl } from '../../../fixtures/postgres/database.ts';

const LIMIT = { query_timeout: 5000 };
const { schema } = await openPostgres(t);
const [one, other] = await Promise.all([connected(), connected()]);

async function connected(): Promise<PgClient> {
  const client = new pg.Client({ connectionString: await serverUrl() });
  await client.connect();
  await client.query(`SET search_path TO ${schema}`);
  t.teardown(() => client.end());
  return client as unknown as PgClient;
}

/** Begins a transaction; returns its id. */
async function begin(): Promise<string> {
  await one.query('BEGIN');
  const { rows } = await one.query('SELECT pg_current_xact_id()::text AS id');
  return (rows[0] as { id: string }).id;
}

async function commit(confirmation: PgQuery): Promise<void> {
  await one.query(confirmation);
  await one.query('COMMIT');
}

t.test('the nonce of a transaction, not its id, shows that it was committed', async (t) => {
  const confirmations = new Confirmations(systemRandom);
  const [mine, theirs] = [confirmations.next(), confirmations.next()];
  const find = (id: string, confirmation = mine) => confirmations.find(other, id, confirmation, LIMIT);
  const id = await begin();
  t.equal(await find(id), undefined, 'in progress');
  await commit(confirmations.write(mine));
  t.equal(await find(id), 'committed');
  t.equal(await find(id, theirs), 'aborted', 'the id was given to another transaction');
  t.equal(await find(`${BigInt(id) + 1000n}`, theirs), 'aborted', 'the server has lost the id');
  const failed = await begin();
  await one.query('ROLLBACK');
  t.equal(await find(failed, theirs), 'aborted');
});

t.test('transactions that run one after the other use one row', async (t) => {
  const confirmations = new Confirmations(systemRandom);
  const rows = async () => Number((await other.query('SELECT FROM confirmations')).rowCount);
  const before = await rows();
  for (let i = 0; i < 3; i += 1) {
    const confirmation = confirmations.next();
    await begin();
    await commit(confirmations.write(confirmation));
    confirmations.release(confirmation);
  }
  t.equal(await rows(), before + 1);
  await other.query("UPDATE confirmations SET at = at - interval '2 days'");
  await confirmations.removeOld(other);
  t.equal(await rows(), 0);
});
