import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { Command } from 'commander';
import { UserError } from '../user-error.ts';
import { addExamples } from './describe.ts';
import { print } from './output.ts';
import { serviceFiles } from './service-unit.ts';
import { writeFiles } from './write-files.ts';

interface Flags {
  print?: boolean;
  force?: boolean;
  user: string;
  dataDir: string;
}

/** `scenepress install-service` */
export function installServiceCommand(): Command {
  const command = new Command('install-service')
    .description('Write a hardened systemd unit that serves with this program, and say how to start it')
    .option('--print', 'print the files instead of writing them')
    .option('--force', 'replace files that were changed since')
    .option('--user <name>', 'user that the service runs as; made when there is none', 'scenepress')
    .option('--data-dir <folder>', 'data folder of the service', '/var/lib/scenepress')
    .action((flags: Flags) => install(flags));
  return addExamples(
    command,
    ['scenepress install-service --print', 'to see what it would write'],
    'sudo scenepress install-service',
  );
}

async function install({ print: only, force, user, dataDir }: Flags): Promise<void> {
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user)) {
    throw new UserError(`"${user}" is no name for a user of the system.`, { exitCode: 2 });
  }
  const folder = resolve(dataDir);
  if (/[\s%"'\\]/.test(folder)) {
    throw new UserError('The path of the data folder holds characters that a unit can’t.', { exitCode: 2 });
  }
  const files = serviceFiles({ user, dataDir: folder, program: programWords() });
  if (only) {
    for (const { path, text } of files) print(`# ${path}\n${text}`);
    return;
  }
  for (const { path, text } of files) {
    const there = await readFile(path, 'utf8').catch(() => text);
    if (there !== text && !force) {
      throw new UserError(
        `${path} is there and differs. Replace it with --force; your own settings belong into drop-ins.`,
      );
    }
  }
  await writeFiles(files);
  print(`Written:\n${files.map(({ path }) => `  ${path}`).join('\n')}\n`);
  print(nextSteps(user, folder));
}

/** The command line of this very program: one file when it is packed, else Node and the program's main file. */
function programWords(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

function nextSteps(user: string, dataDir: string): string {
  return `Make the user and start the service, now and with the machine:
  systemd-sysusers && systemctl daemon-reload && systemctl enable --now scenepress

See whether it is ready, and the key that the first start prints:
  systemctl status scenepress
  journalctl -u scenepress -o cat

Options are variables in /etc/scenepress/environment, as SCENEPRESS_HOST=0.0.0.0 (systemctl restart scenepress).
Administrate as the service's user:
  sudo -u ${user} scenepress account list --data-dir ${dataDir}`;
}
