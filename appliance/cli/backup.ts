import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { DATA_FILES, type SealedSecrets } from '../../lib/internal.ts';
import { type BackupReport, type RestoredMasterKey, restore } from '../../lib/operations.ts';
import { configuredMasterKey } from '../place/master-key.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson, shownSize } from './output.ts';
import { refuseDatabase } from './refuse-database.ts';

/** Maximum number of API keys listed by prefix. */
const MOST_SHOWN = 10;

type Restored = BackupReport & { masterKey: RestoredMasterKey };
type Flags = { json?: boolean; withMasterKey?: boolean } & Record<string, unknown>;

/** `scenepress backup FOLDER` */
export function backupCommand(): Command {
  return administrative(
    'backup <folder>',
    'Copy all data into a new folder, also while the service runs, and verify the copy',
    'scenepress backup /backups/$(date +%F)',
    ['scenepress backup /backups/all --with-master-key', 'protect it like the service itself'],
  )
    .option('--with-master-key', 'include the key that encrypts webhook secrets')
    .action(async (folder: string, flags: Flags) => {
      const request = { folder: resolve(folder), withMasterKey: flags['withMasterKey'] === true };
      const report = await withAdministration(configOf(flags), (admin) => admin.data.backUp(request));
      if (flags['json'] === true) printJson(report);
      else show('Backed up', report);
      const { s3Bucket: bucket, artifactDir = bucket && `the bucket ${bucket}` } = configOf(flags);
      if (artifactDir !== undefined && flags['json'] !== true)
        print(`Artifacts are in ${artifactDir} and not in the backup: back them up by its own means.`);
      if (!request.withMasterKey && flags['json'] !== true) {
        print(
          'The backup does not include the master key. Keep a copy of master.key; without it webhook secrets are lost.',
        );
      }
    });
}

/** `scenepress restore BACKUP` */
export function restoreCommand(): Command {
  const command = addConfigFlags(new Command('restore'), 'restore')
    .description('Restore a backup into a new data folder, after verifying every file')
    .argument('<backup>', 'folder created by `scenepress backup`')
    .option(
      '--drop-deliveries',
      'mark webhook deliveries that are due as failed instead of sending them at the next start',
    )
    .option('--json', 'print JSON')
    .action(async (backup: string, flags: Flags) => {
      const dropDeliveries = flags['dropDeliveries'] === true;
      const config = configOf(flags);
      refuseDatabase(config, 'restore');
      // A key given by the flag is stored in the folder; one from other configuration is given at each start.
      const storeMasterKey = flags['masterKeyFile'] !== undefined;
      const { masterKey: _, ...withoutVariable } = config;
      const masterKey = await configuredMasterKey(storeMasterKey ? withoutVariable : config);
      await interruptible(async (signal) => {
        const options = { dropDeliveries, masterKey, storeMasterKey, signal };
        const report = await restore(resolve(backup), resolve(config.dataDir), options);
        if (flags['json'] === true) printJson(report);
        else showRestored(report);
      });
    });
  return addExamples(command, 'scenepress restore /backups/2026-11-21 --data-dir ./restored', [
    'scenepress restore /backups/2026-11-21 --data-dir ./restored --master-key-file saved.key',
    'for a backup without its master key: checks the key and stores it in the data folder',
  ]);
}

function showRestored(report: Restored): void {
  show('Restored', report);
  print(aboutMasterKey(report));
  if (report.dueDeliveries === 0) return;
  print(
    `${counted(report.dueDeliveries, 'webhook delivery').replace(/ys$/, 'ies')} will be sent when the server starts, even ` +
      'if sent already after the backup. --drop-deliveries marks them as failed instead.',
  );
}

/** Tells where the master key of a restored folder is, or what to do if it is missing. */
function aboutMasterKey(restored: Restored): string {
  const { folder, masterKey, sealedSecrets } = restored;
  switch (masterKey) {
    case 'none':
      return 'It contains no encrypted secrets: the first start creates a new master key.';
    case 'in the folder':
      return `Its master key is ${join(folder, DATA_FILES.masterKey)}.`;
    case 'given':
      return 'The configured master key decrypts all its secrets. Start the service with the same key.';
    case 'missing':
      return (
        `Its master key is missing. ${sealedShown(sealedSecrets)} encrypted with it, and the service doesn't start ` +
        `without it. Put it into ${join(folder, DATA_FILES.masterKey)} (chmod 600), or start the service with SCENEPRESS_MASTER_KEY or ` +
        'SCENEPRESS_MASTER_KEY_FILE. `restore --master-key-file` checks the key during the restore.'
      );
  }
}

function sealedShown({ keyPrefixes, jobs, accounts }: SealedSecrets): string {
  const shown = keyPrefixes.slice(0, MOST_SHOWN).join(', ');
  const more = keyPrefixes.length > MOST_SHOWN ? `, and ${keyPrefixes.length - MOST_SHOWN} more` : '';
  const keys = keyPrefixes.length > 0 ? `${counted(keyPrefixes.length, 'API key')} (${shown}${more})` : '';
  const others = [jobs > 0 ? counted(jobs, 'job') : '', accounts > 0 ? counted(accounts, 'account') : ''];
  const owners = [keys, ...others].filter((part) => part !== '').join(' and of ');
  return `The secrets of ${owners} are`;
}

function show(done: string, { folder, jobs, files, sizeBytes }: BackupReport): void {
  print(`${done} ${counted(jobs, 'job')} in ${counted(files, 'file')} (${shownSize(sizeBytes)}): ${folder}`);
}
