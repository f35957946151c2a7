import t from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import type { PgClient } from '../../../../lib/databases/postgres/driver.ts';
import { assertOwnSessions } from '../../../../lib/databases/postgres/sessions.ts';

/** A connection whose statements run in a session. */
function connectionTo(session: Map<string, string>): PgClient {
  const query = async ({ text, values }: { text: string; values: [name: string, value: string] }) => {
    const [name, value] = values;
    if (text.startsWith('SELECT set_config')) session.set(name, value);
    return { rows: [{ value: session.get(name) ?? null }] };
  };
  return { query } as unknown as PgClient;
}

function connectionsTo(session: Map<string, string>) {
  return { alone: <T>(work: (client: PgClient) => Promise<T>) => work(connectionTo(session)) };
}

t.test('connections with sessions of their own are accepted', async (t) => {
  await assertOwnSessions(connectionsTo(new Map()), connectionTo(new Map()), systemRandom);
  t.pass();
});

t.test('the session of another process, which used the same pooler, is not the own one', async (t) => {
  const session = new Map([['scenepress.session', 'of another process']]);
  await assertOwnSessions(connectionsTo(session), connectionTo(new Map()), systemRandom);
  t.pass();
});

t.test('connections that share a session, as behind a pooler in transaction mode, are refused', async (t) => {
  const session = new Map<string, string>();
  await t.rejects(assertOwnSessions(connectionsTo(session), connectionTo(session), systemRandom), {
    code: 'conflict',
    message: /Set it to session mode/,
  });
});
