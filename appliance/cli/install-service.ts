import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { Command } from 'commander';
import { UserError } from '../support/user-error.ts';
import { addExamples } from './describe.ts';
import { print } from './output.ts';
import { environmentFile, SERVICE_ROLES, serviceFiles, serviceName } from './service-unit.ts';
import { writeFiles } from './write-files.ts';

interface Flags {
  print?: boolean;
  force?: boolean;
  user: string;
  dataDir?: string;
  role?: string;
}

/** `scenepress install-service` */
export function installServiceCommand(): Command {
  const command = new Command('install-service')
    .description('Write a hardened systemd unit for this program and print how to start it')
    .option('--print', 'print the files instead of writing them')
    .option('--force', 'overwrite files that differ')
    .option('--user <name>', 'user that the service runs as; created if missing', 'scenepress')
    .option(
      '--data-dir <folder>',
      'data folder of the service (default: /var/lib/scenepress, or /var/lib/scenepress-<role>)',
    )
    .option(
      '--role <role>',
      `one part of an installation with a database: ${Object.keys(SERVICE_ROLES).join(', ')}`,
    )
    .action((flags: Flags) => install(flags));
  return addExamples(
    command,
    ['scenepress install-service --print', 'preview the files'],
    'sudo scenepress install-service',
    [
      'sudo scenepress install-service --role worker',
      'with the database in /etc/scenepress/worker-environment',
    ],
  );
}

async function install({ print: only, force, user, role, ...flags }: Flags): Promise<void> {
  if (role !== undefined && !Object.hasOwn(SERVICE_ROLES, role))
    throw new UserError(`A role is one of ${Object.keys(SERVICE_ROLES).join(', ')}.`, { exitCode: 2 });
  const name = serviceName(role);
  const { dataDir = `/var/lib/${name}` } = flags;
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
  const files = serviceFiles({ user, dataDir: folder, program: programWords(), role });
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
  print(nextSteps({ user, dataDir: folder, name, role }));
}

/** The command line of this program: the single executable, or Node and the main file. */
function programWords(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

function nextSteps({
  user,
  dataDir,
  name,
  role,
}: {
  user: string;
  dataDir: string;
  name: string;
  role: string | undefined;
}): string {
  const start = `Create the user and start the service, now and at every boot:
  systemd-sysusers && systemctl daemon-reload && systemctl enable --now ${name}`;
  if (role !== undefined) {
    const secret = role === 'worker' ? 'without the master key' : 'with the master key';
    return `Set SCENEPRESS_DATABASE_URL and the other options that all machines need, ${secret}, in
${environmentFile(role)} (mode 600).
${start}`;
  }
  return `${start}

Check that it is ready, and find the key that the first start prints:
  systemctl status scenepress
  journalctl -u scenepress -o cat

Set options as variables in /etc/scenepress/environment, e.g. SCENEPRESS_HOST=0.0.0.0 (then
systemctl restart scenepress). Run administrative commands as the service's user:
  sudo -u ${user} scenepress account list --data-dir ${dataDir}`;
}
