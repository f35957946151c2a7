import { ScenepressError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Connections } from './connections.ts';
import type { PgClient } from './driver.ts';

const NAME = 'scenepress.session';

/**
 * Error: `conflict` when a pooler gives the session of one connection to another, as in its transaction mode: there,
 * settings, locks, prepared statements and `LISTEN` get lost. A best effort: a busy pooler may use another session.
 */
export async function assertOwnSessions(
  connections: Pick<Connections, 'alone'>,
  client: PgClient,
  random: Random,
): Promise<void> {
  const value = random.bytes(16).toString('hex');
  await client.query({ text: 'SELECT set_config($1, $2, false)', values: [NAME, value] });
  const seen = await connections.alone(async (other) => {
    const { rows } = await other.query({ text: 'SELECT current_setting($1, true) AS value', values: [NAME] });
    return (rows[0] as { value: string | null }).value;
  });
  if (seen !== value) return;
  throw new ScenepressError(
    'conflict',
    'The connections to Postgres share sessions: a pooler in transaction mode is between. ' +
      'Set it to session mode, or connect to Postgres itself.',
  );
}
