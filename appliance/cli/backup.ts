import { resolve } from 'node:path';
import { Command } from 'commander';
import { type BackupReport, restore } from '../../lib/index.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson, shownSize } from './output.ts';
import { withAdministration } from './with-administration.ts';

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
      const report = await withAdministration(configOf(flags), (office) => office.backUp(request));
      show('Backed up', report, flags['json'] === true);
      if (!request.withMasterKey && flags['json'] !== true) {
        print('Not in it: the master key. Keep master.key elsewhere; without it webhook secrets are lost.');
      }
    });
}

/** `scenepress restore BACKUP` */
export function restoreCommand(): Command {
  const command = addConfigFlags(new Command('restore'), ['dataDir'])
    .description('Make a data folder of a backup, after checking every file of it')
    .argument('<backup>', 'folder that `scenepress backup` made')
    .option(
      '--drop-deliveries',
      'note what is due to webhooks in it as failed, instead of sending it at the next start',
    )
    .option('--json', 'print JSON')
    .action(async (backup: string, flags: Flags) => {
      const dropDeliveries = flags['dropDeliveries'] === true;
      const report = await restore(resolve(backup), resolve(configOf(flags).dataDir), { dropDeliveries });
      show('Restored', report, flags['json'] === true);
      if (report.dueDeliveries > 0 && flags['json'] !== true) {
        print(
          `${counted(report.dueDeliveries, 'webhook delivery').replace(/ys$/, 'ies')} will be sent when the server starts, ` +
            'though that may have happened since the backup. --drop-deliveries notes them as failed instead.',
        );
      }
    });
  return addExamples(command, 'scenepress restore /backups/2026-11-21 --data-dir ./restored');
}

function show(done: string, report: BackupReport, json: boolean): void {
  const { folder, jobs, files, sizeBytes } = report;
  if (json) printJson(report);
  else
    print(
      `${done} ${counted(jobs, 'job')} in ${counted(files, 'file')} (${shownSize(sizeBytes)}): ${folder}`,
    );
}
