import { resolve } from 'node:path';
import { Command } from 'commander';
import { rollBack } from '../../lib/index.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printJson } from './output.ts';

/** `scenepress rollback` */
export function rollbackCommand(): Command {
  const command = addConfigFlags(new Command('rollback'), ['dataDir'])
    .description('Say what going back to the data before the last upgrade loses, and do it when told to')
    .option('--yes', 'do it; the files as they are stay in a folder beside')
    .option('--json', 'print JSON')
    .action(async (flags: { yes?: boolean; json?: boolean } & Record<string, unknown>) => {
      const report = await rollBack(resolve(configOf(flags).dataDir), { apply: flags.yes === true });
      if (flags.json) return printJson(report);
      const { format, jobs, entries, keptAside } = report;
      print(
        `Written since the upgrade from format ${format}: ${counted(jobs.length, 'job')}, ${entries} in the books.`,
      );
      for (const jobId of jobs) print(`  ${jobId}`);
      if (keptAside) {
        print(`All that is undone. The files as they were are in ${keptAside}.`);
        print('Start the version of Scenepress that you had before; this one would upgrade the data again.');
      } else
        print(
          'Nothing was changed. `scenepress rollback --yes` undoes all that, and what it did to balances.',
        );
    });
  return addExamples(command, 'scenepress rollback --data-dir /srv/scenepress', [
    'scenepress rollback --data-dir /srv/scenepress --yes',
    'then start the version that you had before',
  ]);
}
