import { resolve } from 'node:path';
import { DataFolder, type Logger } from '../../lib/index.ts';
import { isScenepressError } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';
import {
  type ArtifactStore,
  artifactStoreOf,
  LazyAssetStore,
  UnknownArtifactStore,
} from './artifact-store.ts';
import type { DataPlace } from './data-place.ts';
import { connectionOf, isExposed } from './database-connection.ts';
import { DatabasePlace } from './database-place.ts';
import { NEEDS } from './needs.ts';

/** The opened place of an installation, and where its artifacts are if not there. */
export interface OpenedPlace extends Partial<ArtifactStore> {
  place: DataPlace;
}

/** Who opens a place. */
export interface Opener {
  /** A server or a worker, not a command. */
  serves: boolean;
  /** Creates the tables in a database that has none. */
  mayCreate: boolean;
}

/** Opens the configured database or data folder. Errors: `storage_locked` while another process owns the folder. */
export async function openPlace(
  config: Config,
  { serves, mayCreate, logger }: Opener & { logger: Logger },
): Promise<OpenedPlace> {
  const path = resolve(config.dataDir);
  if (serves) for (const { assert } of NEEDS) await assert(config);
  const configured = await artifactStoreOf(config);
  const artifacts =
    configured && !serves ? { ...configured, assets: new LazyAssetStore(configured.assets) } : configured;
  if (config.databaseUrl === undefined) {
    const folder = new DataFolder(path, { logger });
    await startFolder(folder);
    return { place: folder, ...artifacts };
  }
  if (serves && isExposed(config)) {
    logger.warn(
      { databaseHost: new URL(config.databaseUrl).hostname },
      'The connection to the database is not encrypted, or its certificate not verified: set SCENEPRESS_DATABASE_TLS=on, ' +
        'unless the network is private.',
    );
  }
  const { url, options } = await connectionOf(config);
  const { postgres } = await import('../../lib/postgres/index.ts');
  const storage = postgres(url, { ...options, mustExist: !mayCreate, logger });
  const assets = artifacts?.assets ?? new UnknownArtifactStore();
  const place = new DatabasePlace(path, { storage, assets, ownsFolder: serves });
  await place.start();
  return { place, ...artifacts };
}

async function startFolder(folder: DataFolder): Promise<void> {
  try {
    await folder.start();
  } catch (cause) {
    if (!isScenepressError(cause, 'storage_failed', 'conflict')) throw cause;
    throw new UserError(`${cause.message} The data folder is set by --data-dir or SCENEPRESS_DATA_DIR.`, {
      cause,
    });
  }
}

/** Names the place that a configuration means, to compare it with that of a server. */
export function placeNameOf({ databaseUrl, databaseSchema, dataDir }: Config): string {
  if (databaseUrl === undefined) return resolve(dataDir);
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname} ${databaseSchema}`;
}
