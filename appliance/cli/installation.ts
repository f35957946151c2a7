import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { AssetStore } from '../../lib/index.ts';
import { DATA_FILES, silentLogger } from '../../lib/internal.ts';
import {
  type CopiedInstallation,
  continueInstallation,
  type SeparateOptions,
  separateInstallation,
} from '../../lib/operations.ts';
import type { Config } from '../config/config.ts';
import { artifactStoreOf } from '../place/artifact-store.ts';
import { openPlace, placeNameOf } from '../place/open-place.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { UserError } from '../support/user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printJson } from './output.ts';

interface Flags extends Record<string, unknown> {
  artifactsFrom?: string;
  dropDeliveries?: boolean;
  json?: boolean;
}

const S3_URL = /^s3:\/\/([^/]+)\/?(.*)$/;

/** `scenepress installation …` */
export function installationCommand(): Command {
  const installation = new Command('installation').description(
    'What a copy of the data is, such as a restored backup: no service starts with it before',
  );
  addExamples(
    installation,
    ['scenepress installation continue', 'the original is gone; the rest is in the environment'],
    ['scenepress installation separate --s3-prefix drill/', 'the original still runs'],
  );
  installation.addCommand(
    addExamples(
      addConfigFlags(new Command('continue'), 'installation')
        .description(
          'Let this copy of the data take the place of the original, which must not run any more, with its artifacts',
        )
        .option('--json', 'print JSON')
        .action(async ({ json, ...flags }: Flags) => {
          const config = configOf(flags);
          await withCopy(config, async (copy) => {
            const record = await continueInstallation(copy);
            if (json) printJson(record);
            else
              print(
                `${placeNameOf(config)} continues the installation ${record.installationId}. The original is refused from now on.`,
              );
          });
        }),
      'scenepress installation continue --database-url postgres://scenepress@db2/studio --s3-bucket renders',
    ),
  );
  installation.addCommand(
    addExamples(
      addConfigFlags(new Command('separate'), 'installation')
        .description(
          'Make this copy of the data an installation of its own, with a bucket, prefix or folder of its own for artifacts',
        )
        .option(
          '--artifacts-from <place>',
          'copy the artifacts from those of the original, a folder or s3://BUCKET/PREFIX; without it, their links answer 410',
        )
        .option('--drop-deliveries', 'mark webhook deliveries that are due as failed instead of sending them')
        .option('--json', 'print JSON')
        .action(async ({ artifactsFrom, dropDeliveries = false, json, ...flags }: Flags) => {
          const config = configOf(flags);
          await interruptible((signal) =>
            withCopy(config, async (copy) => {
              const separated = await separate(config, copy, { artifactsFrom, dropDeliveries, signal });
              if (json) printJson(separated);
              else show(config, separated, { hasCopied: artifactsFrom !== undefined });
            }),
          );
        }),
      'scenepress installation separate --database-url postgres://scenepress@db2/drill --s3-bucket drill',
      [
        'scenepress installation separate --s3-bucket drill --artifacts-from s3://renders/',
        'with its artifacts; the rest is in the environment',
      ],
    ),
  );
  return installation;
}

type Separated = Awaited<ReturnType<typeof separateInstallation>>;

async function separate(
  config: Config,
  copy: CopiedInstallation,
  {
    artifactsFrom,
    ...options
  }: Pick<SeparateOptions, 'dropDeliveries' | 'signal'> & { artifactsFrom: string | undefined },
): Promise<Separated> {
  const from = artifactsFrom === undefined ? undefined : await originalStore(config, artifactsFrom);
  await from?.start?.();
  try {
    return await separateInstallation(copy, { ...options, ...(from && { from }) });
  } finally {
    await from?.stop?.();
  }
}

/** Where the artifacts of the original are, reached with the credentials of the copy. */
async function originalStore(config: Config, place: string): Promise<AssetStore | undefined> {
  const { artifactDir: _, s3Bucket: __, s3Prefix: ___, ...others } = config;
  const [, s3Bucket, s3Prefix = ''] = S3_URL.exec(place) ?? [];
  if (s3Bucket !== undefined) return (await artifactStoreOf({ ...others, s3Bucket, s3Prefix }))?.assets;
  const artifactDir = resolve(place);
  if (!existsSync(artifactDir))
    throw new UserError(`There is no folder ${artifactDir} with artifacts.`, { exitCode: 2 });
  return (await artifactStoreOf({ ...others, artifactDir }))?.assets;
}

async function withCopy(config: Config, work: (copy: CopiedInstallation) => Promise<void>): Promise<void> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !existsSync(join(resolve(dataDir), DATA_FILES.database)))
    throw new UserError(`There is no data folder ${resolve(dataDir)}.`, { exitCode: 2 });
  const { place, assets } = await openPlace(config, {
    serves: false,
    mayCreate: false,
    logger: silentLogger,
  });
  try {
    if (!assets) throw withoutStore(config);
    await work({ storage: place.storage, assets });
  } finally {
    await assets?.stop?.();
    await place.stop();
  }
}

function withoutStore({ databaseUrl }: Config): UserError {
  const missing =
    'Say where the artifacts are: --s3-bucket (SCENEPRESS_S3_BUCKET) or --artifact-dir (SCENEPRESS_ARTIFACT_DIR).';
  return new UserError(
    databaseUrl === undefined
      ? `Artifacts in the data folder itself are copied with it, so this needs nothing. If they are elsewhere: ${missing}`
      : missing,
    { exitCode: 2 },
  );
}

function show(
  config: Config,
  { installationId, copied, missing, droppedDeliveries }: Separated,
  { hasCopied }: { hasCopied: boolean },
): void {
  print(`${placeNameOf(config)} is the installation ${installationId} from now on.`);
  if (hasCopied) print(`Copied ${counted(copied, 'artifact')}; ${missing} were missing or incomplete.`);
  else print('No artifacts were copied: links to those of the original answer 410 here.');
  if (droppedDeliveries > 0)
    print(
      `${counted(droppedDeliveries, 'webhook delivery').replace(/ys$/, 'ies')} will not be sent from here.`,
    );
}
