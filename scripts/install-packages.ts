import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the packages of a folder with its own `package-lock.json` unless they are up to date. For tools that only
 * few need, so that `npm install` does not fetch them. `what` is named in the message.
 */
export function installPackages(folder: string, what: string): void {
  const lock = join(folder, 'package-lock.json');
  // Copy of the lock that the installed packages come from.
  const installedLock = join(folder, 'node_modules/.installed-lock.json');
  if (existsSync(installedLock) && readFileSync(installedLock).equals(readFileSync(lock))) return;
  console.log(`Installing ${what} …`);
  // --prefix: `npm run` sets the variables that select the folder of this project.
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  copyFileSync(lock, installedLock);
}
