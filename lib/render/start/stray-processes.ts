import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../../time/clock.ts';

/** How long killed processes may take to end; those in disk I/O take longest. */
const PATIENCE_MS = 1_000;

interface RunningProcess {
  pid: number;
  parent: number;
  session: number;
}

/** Kills a process and all its descendants. */
export function killTree(root: number, clock: Clock): void {
  killAll(clock, () => {
    const all = runningProcesses();
    const tree = new Set([root]);
    for (let size = 0; size < tree.size; ) {
      size = tree.size;
      for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
    }
    return all.map(({ pid }) => pid).filter((pid) => tree.has(pid));
  });
}

/**
 * Kills the remaining processes of a session whose leader has been reaped. The kernel reuses a pid only when no
 * session of that id exists, so when another process has the id, nothing is left to kill.
 */
export function killSession(leader: number, clock: Clock): void {
  killAll(clock, () => {
    const all = runningProcesses();
    if (all.some(({ pid }) => pid === leader)) return [];
    return all.filter(({ session }) => session === leader).map(({ pid }) => pid);
  });
}

/**
 * Stops all processes before killing any, to catch fork bombs. Repeats until none is left, because the kernel
 * continues stopped processes of orphaned process groups.
 */
function killAll(clock: Clock, find: () => number[]): void {
  const deadline = clock.uptimeMs() + PATIENCE_MS;
  for (let left = find(); left.length > 0 && clock.uptimeMs() < deadline; left = find()) {
    const stopped = new Set<number>();
    for (let fresh = left; fresh.length > 0; fresh = find().filter((pid) => !stopped.has(pid))) {
      for (const pid of fresh) {
        signal(pid, 'SIGSTOP');
        stopped.add(pid);
      }
    }
    for (const pid of stopped) signal(pid, 'SIGKILL');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function runningProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name)))
    .filter((process) => process !== undefined);
}

function processOf(pid: number): RunningProcess | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the process name in parentheses, which may contain any characters.
    const [state, parent, , session] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined; // A zombie.
    return { pid, parent: Number(parent), session: Number(session) };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}
