import { registerHooks } from 'node:module';
import { Writable } from 'node:stream';
import t from 'tap';
import { postgres } from '../../../lib/postgres/index.ts';
import { type PgClient, type PgResult, sendTogether } from '../../../lib/postgres-database/driver.ts';

t.test('without its driver, a storage in Postgres says what to install', async (t) => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      return next(specifier === 'pg' ? 'a-package-that-is-not-installed' : specifier, context);
    },
  });
  t.teardown(() => hooks.deregister());
  const storage = postgres('postgres://localhost/none');
  await t.rejects(storage.start(), { code: 'storage_failed', message: /npm install pg/ });
});

t.test('statements that are called together are sent with one write', async (t) => {
  const sent: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _, done) => {
      sent.push(text);
      done();
    },
    writev: (chunks, done) => {
      sent.push(chunks.map(({ chunk }) => chunk).join(' '));
      done();
    },
  });
  const query = async (text: unknown) => {
    stream.write(text);
    return { command: '', rowCount: null, rows: [] } as PgResult;
  };
  const client = { query, connection: { stream } } as Partial<PgClient> as PgClient;
  await null; // The end of a tick comes after that of all microtasks.
  const first = sendTogether(client, 'a');
  const second = sendTogether(client, 'b').then(() => sendTogether(client, 'c'));
  t.same(sent, [], 'not before the end of the tick');
  await Promise.all([first, second]);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(sent, ['a b c']);
  await sendTogether(client, 'd');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(sent, ['a b c', 'd']);
  const bare = { query } as Partial<PgClient> as PgClient;
  await sendTogether(bare, 'e');
  t.same(sent, ['a b c', 'd', 'e'], 'a client without such a stream writes as it does');
});
