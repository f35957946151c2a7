import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DATA_FILES, isScenepressError } from '../../lib/internal.ts';
import { COMMAND_LINE } from '../admin/acts.ts';
import { connectAdministration, type RemoteAdministration } from '../admin/admin-socket.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';

const RETRY_MS = 100;
const GIVE_UP_MS = 5_000;

/** Whether a missing folder, and missing tables, are created; `examines`: nothing is recorded. */
interface Creation {
  mayCreate?: boolean;
  examines?: boolean;
}

/** Work of an administrator. `served`: through a server. */
export type Work<T> = (administration: RemoteAdministration, how: { served: boolean }) => Promise<T>;

/**
 * Runs administrative work through the server that owns the data folder (`served`), or directly on the folder or
 * database if there is none. A folder that is locked although no server listens is used by another command or by a server that is
 * starting or stopping: retries for some seconds. Creates a missing folder, and missing tables, only with `mayCreate`.
 */
export async function withAdministration<T>(
  config: Config,
  work: Work<T>,
  { mayCreate = false, examines = false }: Creation = {},
): Promise<T> {
  if (config.databaseUrl !== undefined) return withDatabase(config, work, { mayCreate, examines });
  const folder = resolve(config.dataDir);
  for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await delay(RETRY_MS)) {
    const server = await connectAdministration(folder);
    if (server) return work(server, { served: true });
    await refuseAnothersFolder(folder);
    if (!mayCreate) refuseMissingFolder(folder);
    try {
      return await withoutServer(config, work, { mayCreate, examines });
    } catch (error) {
      if (!isScenepressError(error, 'storage_locked') || Date.now() > giveUpAt) throw error;
    }
  }
}

/**
 * Through the server of the data folder if it uses the same database, which also knows the state of its process; else
 * directly, whether servers run elsewhere or not.
 */
async function withDatabase<T>(config: Config, work: Work<T>, creation: Creation): Promise<T> {
  const { placeNameOf } = await import('../place/open-place.ts');
  const server = await connectAdministration(resolve(config.dataDir)).catch(() => undefined);
  const place = await server?.data.showPlace().catch(() => undefined);
  if (server && place?.place === placeNameOf(config)) return work(server, { served: true });
  return withoutServer(config, work, creation);
}

async function withoutServer<T>(config: Config, work: Work<T>, creation: Creation): Promise<T> {
  // Loaded without a server only: the library takes longer to load than most calls of a server.
  const { openInstallation } = await import('../app/installation.ts');
  const installation = await openInstallation(config, undefined, creation);
  try {
    await installation.service.startWithoutWorkers();
    return await work(installation.administrationFor(COMMAND_LINE), { served: false });
  } finally {
    await installation.service.stop();
    await installation.close();
  }
}

/** A missing folder is most likely a wrong path; creating an empty one would hide that. */
function refuseMissingFolder(folder: string): void {
  if (existsSync(folder)) return;
  throw new UserError(
    `There is no data folder ${folder}. Set the correct one with --data-dir or SCENEPRESS_DATA_DIR; ` +
      '`scenepress serve` and `scenepress account create` create a new one.',
  );
}

/** Files created by root would not be readable by the service, which runs as another user. */
async function refuseAnothersFolder(folder: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const lock = await stat(join(folder, DATA_FILES.lock)).catch(() => undefined);
  if (!lock || lock.uid === 0) return;
  throw new UserError(
    `The data folder ${folder} belongs to user id ${lock.uid}, and no server is running on it. ` +
      `Run this as that user: sudo -u '#${lock.uid}' scenepress …`,
  );
}
