import { resolve } from 'node:path';
import { Command } from 'commander';
import { type BackupReport, restore } from '../../lib/index.ts';
import { ADMINISTRATION_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean; withMasterKey?: boolean } & Record<string, unknown>;

/** `scenepress backup FOLDER` */
export function backupCommand(): Command {
  return addConfigFlags(new Command('backup'), ADMINISTRATION_FLAGS)
    .description('Copy everything into a new folder, also while the service runs, and check the copy')
    .argument('<folder>', 'folder to make')
    .option('--with-master-key', 'include the key that webhook secrets are encrypted with')
    .option('--json', 'print JSON')
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
  return addConfigFlags(new Command('restore'), ['dataDir'])
    .description('Make a data folder of a backup, after checking every file of it')
    .argument('<backup>', 'folder that `scenepress backup` made')
    .option('--json', 'print JSON')
    .action(async (backup: string, flags: Flags) => {
      const report = await restore(resolve(backup), resolve(configOf(flags).dataDir));
      show('Restored', report, flags['json'] === true);
    });
}

function show(done: string, report: BackupReport, json: boolean): void {
  const { folder, jobs, files, sizeBytes } = report;
  if (json) printJson(report);
  else
    print(`${done} ${jobs} jobs in ${files} files (${(sizeBytes / 1024 / 1024).toFixed(1)} MiB): ${folder}`);
}
