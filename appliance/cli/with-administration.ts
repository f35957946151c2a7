import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isScenepressError } from '../../lib/index.ts';
import { connectAdministration, type RemoteAdministration } from '../admin-socket.ts';
import type { Config } from '../config.ts';
import { openInstallation } from '../installation.ts';

const RETRY_MS = 100;
const GIVE_UP_MS = 5_000;

/**
 * Administrates: through the server that has the data folder (`served`), or without one in the folder itself. A folder
 * that is taken by someone who doesn't listen belongs to another command, which takes a moment, or to a server that
 * is just starting or stopping.
 */
export async function withAdministration<T>(
  config: Config,
  work: (administration: RemoteAdministration, how: { served: boolean }) => Promise<T>,
): Promise<T> {
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await delay(RETRY_MS)) {
    const server = await connectAdministration(resolve(config.dataDir));
    if (server) return work(server, { served: true });
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
