import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isScenepressError } from '../../lib/index.ts';
import { connectAdministration, type RemoteAdministration } from '../admin/admin-socket.ts';
import type { Config } from '../config/config.ts';
import { openInstallation } from '../installation.ts';
import { UserError } from '../user-error.ts';

const RETRY_MS = 100;
const GIVE_UP_MS = 5_000;

/**
 * Administrates: through the server that has the data folder (`served`), or without one in the folder itself. A folder
 * that is taken by someone who doesn't listen belongs to another command, which takes a moment, or to a server that
 * is just starting or stopping. Only `mayMakeFolder` makes one that isn't there.
 */
export async function withAdministration<T>(
  config: Config,
  work: (administration: RemoteAdministration, how: { served: boolean }) => Promise<T>,
  { mayMakeFolder = false }: { mayMakeFolder?: boolean } = {},
): Promise<T> {
  const folder = resolve(config.dataDir);
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await delay(RETRY_MS)) {
    const server = await connectAdministration(folder);
    if (server) return work(server, { served: true });
    await refuseAnothersFolder(folder);
    if (!mayMakeFolder) refuseMissingFolder(folder);
    try {
      const installation = await openInstallation(config);
      try {
        await installation.service.open();
        return await work(installation.administration, { served: false });
      } finally {
        await installation.service.stop();
        await installation.close();
      }
    } catch (error) {
      if (!isScenepressError(error, 'storage_locked') || Date.now() > giveUpAt) throw error;
    }
  }
}

/** Most likely it is elsewhere: a new one, with a master key and nothing else in it, would hide that. */
function refuseMissingFolder(folder: string): void {
  if (existsSync(folder)) return;
  throw new UserError(
    `There is no data folder ${folder}. Name the right one with --data-dir or SCENEPRESS_DATA_DIR; ` +
      '`scenepress serve` and `scenepress account create` make a new one.',
  );
}

/** Root would leave files behind that the service, which runs as another user, can't open any more. */
async function refuseAnothersFolder(folder: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const lock = await stat(join(folder, 'lock')).catch(() => undefined);
  if (!lock || lock.uid === 0) return;
  throw new UserError(
    `The data folder ${folder} belongs to user id ${lock.uid}, and no server runs on it. ` +
      `Run this as that user: sudo -u '#${lock.uid}' scenepress …`,
  );
}
