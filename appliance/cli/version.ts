import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { addExamples } from './describe.ts';
import { printDetails, printJson } from './output.ts';

/** What this program is and runs on. */
export interface Versions {
  scenepress: string;
  node: string;
  /** As `linux x64`. */
  platform: string;
  openssl: string;
}

export function versions(): Versions {
  return {
    scenepress: VERSION,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    openssl: process.versions.openssl,
  };
}

/** `scenepress version` */
export function versionCommand(): Command {
  const command = new Command('version')
    .description('Show the version, and those of what it runs on')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const found = versions();
      if (json) printJson(found);
      else
        printDetails([
          ['Scenepress', found.scenepress],
          ['Node', found.node],
          ['OpenSSL', found.openssl],
          ['Platform', found.platform],
        ]);
    });
  return addExamples(command, 'scenepress version --json');
}
