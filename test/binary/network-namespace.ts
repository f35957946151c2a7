import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type MachineKind, minimalDebian } from './machine.ts';

const PROJECT = join(import.meta.dirname, '../..');
const PROGRAM = join(PROJECT, 'build/scenepress');

/** The reason why machines cannot be created here; false if they can. */
export function machinesUnavailable(): string | false {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'bare machines need Linux on x64';
  if (process.getuid?.() !== 0) return 'only root can create bare machines';
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
 * Builds what machines need, then continues the test in a network namespace with only a loopback device: this process
 * runs the test file again in there and exits, so the code after the call runs only in the namespace.
 */
export function enterNetworkNamespace(systems: MachineKind['debian'][]): void {
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

/** Builds the executable with fast compression, unless `BINARY=as-is` says to take that which is there. Returns its path. */
export function buildProgram(): string {
  if (process.env['BINARY'] === 'as-is' && existsSync(PROGRAM)) return PROGRAM;
  const build = [join(PROJECT, 'scripts/binary/build.ts'), '--compression', '3', '--accept-newer'];
  // NODE_OPTIONS loads tap, which breaks tsc.
  execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...build], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return PROGRAM;
}
