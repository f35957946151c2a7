import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { type AssetStore, DataFolder } from '../../lib/index.ts';
import { DATA_FILES } from '../../lib/internal.ts';
import type { MigrationReport } from '../../lib/operations.ts';
import type { PostgresStorage } from '../../lib/postgres/index.ts';
import type { Config } from '../config/config.ts';
import { withoutPassword } from '../config/option-types.ts';
import { artifactStoreOf, UnknownArtifactStore } from '../place/artifact-store.ts';
import { connectionOf } from '../place/database-connection.ts';
import { DatabasePlace } from '../place/database-place.ts';
import { configuredMasterKey } from '../place/master-key.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { UserError } from '../support/user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printJson } from './output.ts';

type Flags = Move & { from: string; to: string; json?: boolean } & Record<string, unknown>;

interface Move {
  artifactsStay?: boolean;
  allowMissingArtifacts?: boolean;
}

/** `scenepress migrate` */
export function migrateCommand(): Command {
  const command = addConfigFlags(new Command('migrate'), 'migrate')
    .description(
      'Move an installation from a data folder to a database, or back; stop its servers and workers first',
    )
    .requiredOption('--from <place>', 'data folder, or URL of a database (postgres://…)')
    .requiredOption('--to <place>', 'URL of a database, or a data folder that does not exist yet')
    .option('--artifacts-stay', 'leave the artifacts where they are')
    .option('--allow-missing-artifacts', 'move the rest when artifacts are missing or incomplete')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      const { from, to, json, artifactsStay, allowMissingArtifacts, ...given } = flags;
      const move = { artifactsStay, allowMissingArtifacts } as Move;
      const isUp = !isUrl(from) && isUrl(to);
      if (!isUp && !(isUrl(from) && !isUrl(to))) {
        throw new UserError(
          'Give a data folder and a database: --from ./data --to postgres://…, or the other way round.',
          {
            exitCode: 2,
          },
        );
      }
      const config = configOf({ ...given, databaseUrl: isUp ? to : from });
      await interruptible(async (signal) => {
        const report = await (isUp
          ? moveUp(config, resolve(from), move, signal)
          : moveDown(config, resolve(to), move, signal));
        if (json) printJson(report);
        else show(report, { config, isUp, folder: resolve(isUp ? from : to) });
      });
    });
  return addExamples(
    command,
    'scenepress migrate --from ./data --to postgres://scenepress@db/studio --s3-bucket renders',
    [
      'scenepress migrate --from ./data --to postgres://scenepress@db/studio --artifacts-stay',
      'the machines reach them where they are',
    ],
    'scenepress migrate --from postgres://scenepress@db/studio --to ./data --s3-bucket renders',
  );
}

async function moveUp(
  config: Config,
  path: string,
  move: Move,
  signal: AbortSignal,
): Promise<MigrationReport> {
  if (!existsSync(join(path, DATA_FILES.database)))
    throw new UserError(`There is no data folder ${path}.`, { exitCode: 2 });
  const options = { ...(await artifactOptions(config, move)), target: targetOf(config), signal };
  const masterKey = await masterKeyOf(config, path);
  const folder = new DataFolder(path);
  await folder.start();
  try {
    const { migrateToPostgres } = await import('../../lib/operations.ts');
    return await withStorage(config, async (storage) => {
      await options.assets?.start?.();
      return migrateToPostgres(folder, storage, { ...options, masterKey });
    });
  } finally {
    await options.assets?.stop?.();
    await folder.stop();
  }
}

async function moveDown(
  config: Config,
  path: string,
  move: Move,
  signal: AbortSignal,
): Promise<MigrationReport> {
  const options = { ...(await artifactOptions(config, move)), target: path, signal };
  const masterKey = await configuredMasterKey(config);
  if (masterKey === undefined)
    throw new UserError('Set SCENEPRESS_MASTER_KEY or --master-key-file to the key that the machines have.', {
      exitCode: 2,
    });
  const { migrateToFolder } = await import('../../lib/operations.ts');
  await options.assets?.start?.();
  try {
    return await withStorage(config, (storage) => migrateToFolder(storage, path, { ...options, masterKey }), {
      movedTo: path,
    });
  } finally {
    await options.assets?.stop?.();
  }
}

/** Where artifacts are copied to, or from; without a store, they stay. */
async function artifactOptions(
  config: Config,
  { artifactsStay, allowMissingArtifacts = false }: Move,
): Promise<{ assets?: AssetStore; allowMissing: boolean }> {
  const allowMissing = allowMissingArtifacts;
  if (artifactsStay) return { allowMissing };
  const artifacts = await artifactStoreOf(config);
  if (artifacts) return { assets: artifacts.assets, allowMissing };
  throw new UserError(
    'Say where the artifacts of the installation with a database are: --s3-bucket, or --artifact-dir for a folder that ' +
      'all machines share. To leave them where they are: --artifacts-stay.',
    { exitCode: 2 },
  );
}

/** Errors say what to do about a database that can't be used. `movedTo`: it may have been moved there. */
async function withStorage<T>(
  config: Config,
  work: (storage: PostgresStorage) => Promise<T>,
  { movedTo }: { movedTo?: string } = {},
): Promise<T> {
  const { postgres } = await import('../../lib/postgres/index.ts');
  const { url, options } = await connectionOf(config);
  const storage = postgres(url, options);
  const place = new DatabasePlace(resolve('.'), {
    storage,
    assets: new UnknownArtifactStore(),
    ownsFolder: false,
    ...(movedTo !== undefined && { movedTo }),
  });
  await place.start();
  try {
    return await work(storage);
  } finally {
    await place.stop();
  }
}

/** The configured key, or else that of the folder. */
async function masterKeyOf(config: Config, folder: string): Promise<string> {
  const given = await configuredMasterKey(config);
  const key = given ?? (await readFile(join(folder, DATA_FILES.masterKey), 'utf8').catch(() => undefined));
  if (key !== undefined) return key.trim();
  throw new UserError(
    'Set SCENEPRESS_MASTER_KEY or --master-key-file to the key that the service was started with.',
    {
      exitCode: 2,
    },
  );
}

function isUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

function targetOf({ databaseUrl = '', databaseSchema }: Config): string {
  return `${withoutPassword(databaseUrl)} (schema ${databaseSchema})`;
}

function show(
  { rows, accounts, keys, artifacts }: MigrationReport,
  { config, isUp, folder }: { config: Config; isUp: boolean; folder: string },
): void {
  const jobs = counted(rows['jobs'] ?? 0, 'job');
  print(
    `Moved ${jobs}, ${counted(rows['ledger_entries'] ?? 0, 'ledger entry').replace(/ys$/, 'ies')}, ` +
      `${counted(accounts, 'account')} and ${counted(keys, 'key')} to ${isUp ? targetOf(config) : folder}.`,
  );
  if (artifacts)
    print(`Copied ${counted(artifacts.copied, 'artifact')}; ${artifacts.missing} were missing before.`);
  else print('Artifacts stay where they are.');
  print('The books are in order.');
  if (isUp && config.masterKey === undefined && config.masterKeyFile === undefined)
    print(
      `Give every machine the master key: SCENEPRESS_MASTER_KEY_FILE=${join(folder, DATA_FILES.masterKey)}, or a copy of it.`,
    );
  if (!isUp)
    print(
      `Start the service with the same master key, which is not in the folder: SCENEPRESS_MASTER_KEY_FILE, or a copy in ${join(folder, DATA_FILES.masterKey)} (chmod 600).`,
    );
  if (isUp) print(`${folder} is no longer used; keep it as a backup.`);
}
