import { readdirSync, readFileSync } from 'node:fs';

/** To end, killed processes need a moment, and what waits for a disk longer. */
const PATIENCE_MS = 1_000;

interface RunningProcess {
  pid: number;
  parent: number;
  session: number;
}

/** Kills a process and all below it. */
export function killTree(root: number): void {
  killAll(() => {
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
 * Kills what is left of a session whose leader has ended, and been waited for. Whoever has its id now is another, and
 * then nothing is left: the kernel gives an id to nobody else while there is a session of that name.
 */
export function killSession(leader: number): void {
  killAll(() => {
    const all = runningProcesses();
    if (all.some(({ pid }) => pid === leader)) return [];
    return all.filter(({ session }) => session === leader).map(({ pid }) => pid);
  });
}

/**
 * Stops them all before one is killed: otherwise those that fork without end are never all found. And again, until none
 * is left: the kernel lets a stopped process go on when its group has lost its parents.
 */
function killAll(find: () => number[]): void {
  const deadline = performance.now() + PATIENCE_MS;
  for (let left = find(); left.length > 0 && performance.now() < deadline; left = find()) {
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
    // The second field is a name in brackets that may hold anything.
    const [state, parent, , session] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined; // Dead, and not waited for.
    return { pid, parent: Number(parent), session: Number(session) };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}
