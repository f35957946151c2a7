import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';

const INSTEAD: Record<'recover' | 'restore', string> = {
  recover:
    'Postgres repairs itself after a crash. If its data is damaged, restore a backup of it, to a point in time if you have ' +
    'a WAL archive; `scenepress credits audit` checks the books.',
  restore:
    'Restore it with the tools of Postgres, such as pg_restore, and the artifacts with those of their bucket or file system.',
};

/** For commands that work on data folders. */
export function refuseDatabase(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  command: keyof typeof INSTEAD,
): void {
  if (databaseUrl === undefined) return;
  throw new UserError(
    `The data is in a Postgres database, and \`${command}\` is for data folders. ${INSTEAD[command]}`,
    { exitCode: 2 },
  );
}
