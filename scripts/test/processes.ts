/** What processes wait for, when a test has timed out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One line for each process below another, and for the sessions of Postgres, whose titles say what they do: its id, its
 * parent's, state, the kernel's function in which it waits, and command.
 */
export function describeProcesses(pid: number): string {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describe(Number(name)));
  const below = new Set([pid]);
  for (let size = 0; size < below.size; ) {
    size = below.size;
    for (const { id, parent } of all) if (below.has(parent)) below.add(id);
  }
  const shown = all.filter(({ id, command }) => below.has(id) || /^postgres: \S+ \S+ \S+\(/.test(command));
  return shown
    .map(({ id, parent, state, waits, command }) => `${id} of ${parent} ${state} ${waits} ${command}\n`)
    .join('');
}

/** Room for two paths of a deep checkout. */
const LONGEST_COMMAND = 500;

interface Described {
  id: number;
  parent: number;
  state: string;
  waits: string;
  command: string;
}

/** Empty if it has ended. */
function describe(id: number): Described[] {
  const read = (name: string) => readFileSync(join('/proc', `${id}`, name), 'utf8');
  try {
    const [state = '', parent = ''] = read('stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    const command = read('cmdline').replaceAll('\0', ' ').trim().slice(0, LONGEST_COMMAND);
    return [{ id, parent: Number(parent), state, waits: read('wchan'), command }];
  } catch {
    return [];
  }
}
