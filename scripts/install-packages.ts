import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs unless another process has done so while this one waited for the lock. `--prefix`: `npm run` sets the
 * variables that select the folder of this project.
 */
const INSTALL = `
cmp -s "$1" "$2" && exit
npm ci --prefix "$3" --ignore-scripts --no-audit --no-fund > /dev/null && cp "$1" "$2"
`;

/**
 * Installs the packages of a folder with its own `package-lock.json` unless they are up to date. For tools that only
 * few need, so that `npm install` does not fetch them. `what` is named in the message. Several test files may do this
 * at the same time.
 */
export function installPackages(folder: string, what: string): void {
  const lock = join(folder, 'package-lock.json');
  // Copy of the lock that the installed packages come from.
  const installedLock = join(folder, 'node_modules/.installed-lock.json');
  if (existsSync(installedLock) && readFileSync(installedLock).equals(readFileSync(lock))) return;
  console.log(`Installing ${what} …`);
  execFileSync('flock', [lock, 'sh', '-c', INSTALL, 'sh', lock, installedLock, folder], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
