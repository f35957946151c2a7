import { Command } from 'commander';
import { VERSION } from '../support/version.ts';
import { addExamples } from './describe.ts';
import { printDetails, printJson } from './output.ts';

/** Versions of this program and its runtime. */
export interface Versions {
  scenepress: string;
  node: string;
  /** E.g. `linux x64`. */
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
    .description('Show the version of Scenepress and of its runtime')
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
