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
    .description('Write a hardened systemd unit for this program and print how to start it')
    .option('--print', 'print the files instead of writing them')
    .option('--force', 'overwrite files that differ')
    .option('--user <name>', 'user that the service runs as; created if missing', 'scenepress')
    .option('--data-dir <folder>', 'data folder of the service', '/var/lib/scenepress')
    .action((flags: Flags) => install(flags));
  return addExamples(
    command,
    ['scenepress install-service --print', 'preview the files'],
    'sudo scenepress install-service',
  );
}

async function install({ print: only, force, user, dataDir }: Flags): Promise<void> {
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user)) {
    throw new UserError(`"${user}" is not a valid name of a system user.`, { exitCode: 2 });
  }
  const folder = resolve(dataDir);
  if (/[\s%"'\\]/.test(folder)) {
    throw new UserError(
      'The path of the data folder contains characters that are not allowed in a unit file.',
      { exitCode: 2 },
    );
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
        `${path} exists and differs. Overwrite it with --force; put your own settings into drop-ins.`,
      );
    }
  }
  await writeFiles(files);
  print(`Written:\n${files.map(({ path }) => `  ${path}`).join('\n')}\n`);
  print(nextSteps(user, folder));
}

/** The command line of this program: the single executable, or Node and the main file. */
function programWords(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

function nextSteps(user: string, dataDir: string): string {
  return `Create the user and start the service, now and at every boot:
  systemd-sysusers && systemctl daemon-reload && systemctl enable --now scenepress

Check that it is ready, and find the key that the first start prints:
  systemctl status scenepress
  journalctl -u scenepress -o cat

Set options as variables in /etc/scenepress/environment, e.g. SCENEPRESS_HOST=0.0.0.0 (then
systemctl restart scenepress). Run administrative commands as the service's user:
  sudo -u ${user} scenepress account list --data-dir ${dataDir}`;
}
