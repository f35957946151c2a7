import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { noMounts } from '../../test/fixtures/mounts.ts';
import type { MonthOptions } from './month/program.ts';

const PROGRAM = join(import.meta.dirname, 'month/program.ts');
/** As the first process of its namespace, the shell waits for processes whose parents were killed. */
const FIRST_PROCESS = ['sh', '-c', '"$@"; exit $?', 'sh'];

/**
 * What happens to a machine within a month, one event after another, while a service on it renders: updates, cleaners,
 * full disks, kills, restarts. All of it happens in mount and process namespaces of its own.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      short: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      packed: { type: 'string' },
      user: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const refused = noMounts();
  if (refused) {
    console.error(`The month ${refused.trim()}. Run it as root.`);
    process.exitCode = 1;
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-month-'));
  await chmod(folder, 0o711); // Renders run as other users, which must be able to enter.
  const { packed, ...others } = values;
  const options: MonthOptions = { ...others, folder, packed: packed === undefined ? null : resolve(packed) };
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const program = [process.execPath, PROGRAM, JSON.stringify(options)];
  const child = spawn('unshare', [...namespaces, ...FIRST_PROCESS, ...program], { stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGKILL')); // Ends all processes of the namespace.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
  await rm(folder, { recursive: true, force: true });
}
