import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { type BackupReport, type RestoredMasterKey, restore, type SealedSecrets } from '../../lib/index.ts';
import { givenMasterKey } from '../installation.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson, shownSize } from './output.ts';
import { withAdministration } from './with-administration.ts';

/** API keys that are named one by one. */
const MOST_SHOWN = 10;

type Flags = { json?: boolean; withMasterKey?: boolean } & Record<string, unknown>;

/** `scenepress backup FOLDER` */
export function backupCommand(): Command {
  return administrative(
    'backup <folder>',
    'Copy everything into a new folder, also while the service runs, and check the copy',
    'scenepress backup /backups/$(date +%F)',
    ['scenepress backup /backups/all --with-master-key', 'keep it as safe as the service itself'],
  )
    .option('--with-master-key', 'include the key that webhook secrets are encrypted with')
    .action(async (folder: string, flags: Flags) => {
      const request = { folder: resolve(folder), withMasterKey: flags['withMasterKey'] === true };
      const report = await withAdministration(configOf(flags), (admin) => admin.data.backUp(request));
      show('Backed up', report, flags['json'] === true);
      if (!request.withMasterKey && flags['json'] !== true) {
        print('Not in it: the master key. Keep master.key elsewhere; without it webhook secrets are lost.');
      }
    });
}

/** `scenepress restore BACKUP` */
export function restoreCommand(): Command {
  const command = addConfigFlags(new Command('restore'), ['dataDir', 'masterKeyFile'])
    .description('Make a data folder of a backup, after checking every file of it')
    .argument('<backup>', 'folder that `scenepress backup` made')
    .option(
      '--drop-deliveries',
      'note what is due to webhooks in it as failed, instead of sending it at the next start',
    )
    .option('--json', 'print JSON')
    .action(async (backup: string, flags: Flags) => {
      const dropDeliveries = flags['dropDeliveries'] === true;
      const config = configOf(flags);
      // By its flag, the key is brought along; a configured one is given at each start, too.
      const storeMasterKey = flags['masterKeyFile'] !== undefined;
      const { masterKey: _, ...withoutVariable } = config;
      const masterKey = await givenMasterKey(storeMasterKey ? withoutVariable : config);
      const options = { dropDeliveries, masterKey, storeMasterKey };
      const report = await restore(resolve(backup), resolve(config.dataDir), options);
      show('Restored', report, flags['json'] === true);
      if (flags['json'] !== true) print(aboutMasterKey(report));
      if (report.dueDeliveries > 0 && flags['json'] !== true) {
        print(
          `${counted(report.dueDeliveries, 'webhook delivery').replace(/ys$/, 'ies')} will be sent when the server starts, ` +
            'though that may have happened since the backup. --drop-deliveries notes them as failed instead.',
        );
      }
    });
  return addExamples(command, 'scenepress restore /backups/2026-11-21 --data-dir ./restored', [
    'scenepress restore /backups/2026-11-21 --data-dir ./restored --master-key-file saved.key',
    'a backup without its master key: checks the key and puts it into the data folder',
  ]);
}

/** Where the master key of a restored folder is, or what to do when it isn't anywhere. */
function aboutMasterKey(restored: BackupReport & { masterKey: RestoredMasterKey }): string {
  const { folder, masterKey, sealedSecrets } = restored;
  switch (masterKey) {
    case 'none':
      return 'No webhook secret is encrypted in it: the first start makes a new master key.';
    case 'in the folder':
      return `Its master key is ${join(folder, 'master.key')}.`;
    case 'given':
      return 'The configured master key opens all webhook secrets in it. Start the service with the same key.';
    case 'missing':
      return (
        `Missing: its master key. ${sealedShown(sealedSecrets)} encrypted with it, and the service doesn't start without ` +
        `it. Put it into ${join(folder, 'master.key')} (chmod 600), or start the service with SCENEPRESS_MASTER_KEY or ` +
        'SCENEPRESS_MASTER_KEY_FILE. Next time, --master-key-file checks it at once.'
      );
  }
}

function sealedShown({ keyPrefixes, jobs }: SealedSecrets): string {
  const shown = keyPrefixes.slice(0, MOST_SHOWN).join(', ');
  const more = keyPrefixes.length > MOST_SHOWN ? `, and ${keyPrefixes.length - MOST_SHOWN} more` : '';
  const keys = keyPrefixes.length > 0 ? `${counted(keyPrefixes.length, 'API key')} (${shown}${more})` : '';
  const owners = [keys, jobs > 0 ? counted(jobs, 'job') : ''].filter((part) => part !== '').join(' and of ');
  return `The webhook secrets of ${owners} are`;
}

function show(done: string, report: BackupReport, json: boolean): void {
  const { folder, jobs, files, sizeBytes } = report;
  if (json) printJson(report);
  else
    print(
      `${done} ${counted(jobs, 'job')} in ${counted(files, 'file')} (${shownSize(sizeBytes)}): ${folder}`,
    );
}
