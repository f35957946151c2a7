import type Joi from 'joi';
import type { SealedSecrets } from '../../../lib/internal.ts';
import type {
  BackupReport,
  continueInstallation,
  MigrationReport,
  RecoveryReport,
  RestoredMasterKey,
  separateInstallation,
} from '../../../lib/operations.ts';
import { audit } from './credits.ts';
import { count, list, number, object, oneOf, record, text } from './parts.ts';

type Installation = Awaited<ReturnType<typeof continueInstallation>>;
type Separated = Awaited<ReturnType<typeof separateInstallation>>;
type Rotated = { keys: number; jobs: number; formerKeyFile: string | null };

const ofBackup = {
  folder: text.description('Where the copy is.'),
  jobs: count,
  dueDeliveries: count.description('Webhooks that a service sends when it starts on this data.'),
  files: count,
  sizeBytes: count,
  sealedSecrets: object<SealedSecrets>({
    keyPrefixes: list(text).description('Prefixes of API keys.'),
    jobs: count.description('Number of jobs with a secret of their own.'),
    accounts: count.description('Number of accounts with two-factor sign-in.'),
  }).description('Secrets that cannot be decrypted without the master key.'),
};

export const backup: Joi.ObjectSchema = object<BackupReport>(ofBackup);

export const restored: Joi.ObjectSchema = object<BackupReport & { masterKey: RestoredMasterKey }>({
  ...ofBackup,
  masterKey: oneOf<RestoredMasterKey>({
    ...{ 'in the folder': true, given: true, missing: true, none: true },
  }).description('Where the master key is.'),
});

export const recovery: Joi.ObjectSchema = object<RecoveryReport>({
  folder: text,
  faults: list(text).description('Problems of the data; empty, as `lost`, if nothing is damaged.'),
  lost: list(
    object<RecoveryReport['lost'][number]>({
      table: text,
      key: text.description('Its key; of rows that cannot be read, the keys between which they are.'),
      reason: text,
    }),
  ).description('Known rows that cannot be saved; damaged pages may have held more.'),
  ledgerEntries: object<RecoveryReport['ledgerEntries']>({
    found: count.allow(null).description('Null when they cannot be counted.'),
    saved: count,
  }),
  originalsFolder: text
    .allow(null)
    .description('The folder with the original files; null when nothing was done.'),
  audit: audit.allow(null).description('The audit after the recovery; null when nothing was done.'),
});

export const migration: Joi.ObjectSchema = object<MigrationReport>({
  rows: record(number).description('Rows of each table.'),
  accounts: count,
  keys: count,
  artifacts: object<NonNullable<MigrationReport['artifacts']>>({ copied: count, missing: count })
    .allow(null)
    .description('Null when they stayed where they are.'),
  audit: audit.description('The audit of the books at the target.'),
});

export const rotatedMasterKey: Joi.ObjectSchema = object<Rotated>({
  keys: count.description('Keys whose webhook secrets were encrypted again.'),
  jobs: count.description('Jobs with a secret of their own.'),
  formerKeyFile: text
    .allow(null)
    .description('The file with the old key, in the data folder; null if the key is kept elsewhere.'),
});

const ofInstallation = {
  installationId: text,
  place: text.description('Where the data is.'),
  stamp: number.description('Grows every hour.'),
};

export const installation: Joi.ObjectSchema = object<Installation>(ofInstallation);

export const separated: Joi.ObjectSchema = object<Separated>({
  ...ofInstallation,
  copied: count.description('Artifacts that were copied.'),
  missing: count.description('Artifacts that were missing or incomplete.'),
  droppedDeliveries: count,
});
