import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type MachineKind, minimalDebian } from './machine.ts';

const PROJECT = join(import.meta.dirname, '../..');
const PROGRAM = join(PROJECT, 'build/scenepress');

/** Why machines can't be made here; false when they can. */
export function noMachines(): string | false {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'bare machines are made on Linux x64 only';
  if (process.getuid?.() !== 0) return 'only root can make bare machines';
  try {
    execFileSync('sh', ['-c', 'command -v mmdebstrap && command -v zstd && command -v ip'], {
      stdio: 'ignore',
    });
  } catch {
    return 'mmdebstrap, zstd or ip (iproute2) is not installed';
  }
  return false;
}

/**
 * Makes what machines need, then lets the test go on in a network namespace where there is nothing but loopback: this
 * very file is run there, and what follows the call isn't run here.
 */
export function enterOwnNetwork(systems: MachineKind['debian'][]): void {
  if (process.env['OWN_NETWORK']) return;
  for (const system of systems) minimalDebian(system);
  buildProgram();
  const { status } = spawnSync(
    'unshare',
    [
      ...['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
      ...[process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    ],
    { stdio: 'inherit', env: { ...process.env, OWN_NETWORK: 'yes' } },
  );
  process.exit(status ?? 1);
}

/** Packs what stands in the checkout, quickly rather than small; with `BINARY=as-is` what has been built before. */
function buildProgram(): void {
  if (process.env['BINARY'] === 'as-is' && existsSync(PROGRAM)) return;
  const build = [join(PROJECT, 'scripts/binary/build.ts'), '--compression', '3', '--accept-newer'];
  // tap loads itself into every Node that a test starts, and tsc doesn't survive that.
  execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...build], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
