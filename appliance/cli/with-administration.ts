import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isScenepressError } from '../../lib/index.ts';
import { connectAdministration, type RemoteAdministration } from '../admin-socket.ts';
import { type InstallationConfig, openInstallation } from '../installation.ts';

const RETRY_MS = 100;
const GIVE_UP_MS = 5_000;

/**
 * Does something with accounts, keys or credits: in the data folder itself, or, while a server has it, through that
 * server. A folder that is taken by someone who doesn't listen belongs to another command, which takes a moment, or
 * to a server that is just starting or stopping.
 */
export async function withAdministration<T>(
  config: InstallationConfig,
  work: (administration: RemoteAdministration) => Promise<T>,
): Promise<T> {
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await delay(RETRY_MS)) {
    try {
      const installation = await openInstallation(config);
      try {
        return await work(installation.administration);
      } finally {
        await installation.close();
      }
    } catch (error) {
      if (!isScenepressError(error, 'storage_locked')) throw error;
      const server = await connectAdministration(resolve(config.dataDir));
      if (server) return work(server);
      if (Date.now() > giveUpAt) throw error;
    }
  }
}
