import { spawn } from 'node:child_process';

/** Programs that open a file with that of the desktop. */
const PROGRAMS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens a file with the desktop's program, without waiting for it. */
export function openFile(path: string): void {
  const [command, ...args] = PROGRAMS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, path], { stdio: 'ignore', detached: true });
  child.on('error', () => process.stderr.write(`${path} can't be opened: there is no program ${command}.\n`));
  child.unref();
}
