import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson } from './output.ts';

type Flags = { json?: boolean; newKeyFile?: string } & Record<string, unknown>;

/** `scenepress master-key …` */
export function masterKeyCommand(): Command {
  const masterKey = new Command('master-key').description('The key that encrypts webhook secrets');
  addExamples(masterKey, 'scenepress master-key rotate');
  masterKey.addCommand(
    administrative(
      'rotate',
      'Re-encrypt all webhook secrets with a new master key, also while the service runs; the secrets do not change',
      ['scenepress master-key rotate', 'then back up the new master.key'],
      ['scenepress master-key rotate --new-key-file new.key', 'if the key is kept outside the data folder'],
    )
      .option(
        '--new-key-file <file>',
        'file with the new key: 64 hexadecimal digits, e.g. from openssl rand -hex 32',
      )
      .action(async (flags: Flags) => {
        const { newKeyFile: file } = flags;
        const newKey = file === undefined ? undefined : await readKey(file);
        const rotated = await withAdministration(configOf(flags), (admin) =>
          admin.data.rotateMasterKey({ newKey }),
        );
        if (flags.json) return printJson(rotated);
        const jobs = rotated.jobs > 0 ? ` and ${counted(rotated.jobs, 'job')}` : '';
        print(
          `The webhook secrets of ${counted(rotated.keys, 'key')}${jobs} are encrypted with the new master key.`,
        );
        print(afterwards(rotated.formerKeyFile));
      }),
  );
  return masterKey;
}

function afterwards(formerKeyFile: string | null): string {
  if (formerKeyFile === null) {
    return 'Start the service with the new key from now on. Keep the old key: older backups need it.';
  }
  return (
    'The new key is master.key in the data folder: back it up. The old key is ' +
    `${formerKeyFile} in the same folder: keep it while older backups need it (\`scenepress restore --master-key-file\`).`
  );
}

async function readKey(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new UserError(`The new key can't be read: ${(cause as Error).message}.`, { exitCode: 2, cause });
  }
}
