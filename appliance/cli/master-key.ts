import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { UserError } from '../user-error.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean; newKeyFile?: string } & Record<string, unknown>;

const BEFORE =
  'Backups made before now open only with the present master key, also after this: ' +
  '`scenepress restore --master-key-file` takes it.';

/** `scenepress master-key …` */
export function masterKeyCommand(): Command {
  const masterKey = new Command('master-key').description('The key that webhook secrets are encrypted with');
  addExamples(masterKey, 'scenepress master-key rotate');
  masterKey.addCommand(
    administrative(
      'rotate',
      'Encrypt all webhook secrets with a new master key, also while the service runs; the secrets stay the same',
      ['scenepress master-key rotate', 'then save the new master.key where you keep it'],
      [
        'scenepress master-key rotate --new-key-file new.key',
        'where the key comes from outside the data folder',
      ],
    )
      .option(
        '--new-key-file <file>',
        'file with the new key: 64 hexadecimal digits, as of openssl rand -hex 32',
      )
      .action(async (flags: Flags) => {
        const { newKeyFile: file } = flags;
        const newKey = file === undefined ? undefined : await readKey(file);
        if (!flags.json) print(BEFORE);
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
    return 'Start the service with it from now on. Keep the one before: older backups need it.';
  }
  return (
    'It is in master.key, in the data folder: save it where you keep it. The one before is there as ' +
    `${formerKeyFile}; remove that file when no backup needs it any more.`
  );
}

async function readKey(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new UserError(`The new key can't be read: ${(cause as Error).message}.`, { exitCode: 2, cause });
  }
}
