import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';

const GIB = 1024 ** 3;
/** The clients, each with a connection and an open artifact, that a service must be able to serve at once. */
const LEAST_CONNECTIONS = 8;

/** A limit of this process, of which it can use less than it needs. */
export interface Shortage {
  message: string;
  remedy: string;
}

type Needs = Pick<Config, 'workers' | 'roles' | 'databaseConnections'> & { databaseUrl?: string | undefined };

/** What a process needs of a limit: measured on an idle service of 1 and 4 workers, with room for renders. */
interface Rule {
  /** Its name in `/proc/self/limits`. */
  name: string;
  flag: string;
  systemd: string;
  needed: (counts: { workers: number; connections: number }) => number;
  /** What others have used of it. */
  used: () => number;
  shown: (amount: number) => string;
  subject: string;
}

const RULES: Rule[] = [
  {
    name: 'Max open files',
    flag: '-n',
    systemd: 'LimitNOFILE=',
    needed: ({ workers, connections }) => 48 + 16 * workers + 2 * LEAST_CONNECTIONS + connections,
    used: () => 0,
    shown: String,
    subject: 'open files',
  },
  {
    name: 'Max processes',
    flag: '-u',
    systemd: 'LimitNPROC=',
    needed: ({ workers }) => 16 + 24 * workers,
    used: tasksOfUser,
    shown: String,
    subject: 'processes and threads of its user',
  },
  {
    // Each thread of Node reserves address space, most of which it never uses.
    name: 'Max address space',
    flag: '-v',
    systemd: 'LimitAS=',
    needed: ({ workers }) => (20 + 9 * workers) * GIB,
    used: () => 0,
    shown: (bytes) => `${(bytes / GIB).toFixed(1)} GiB`,
    subject: 'address space',
  },
];

/** The limits that are too small for a service. `limitOf`: reads one by its name in `/proc/self/limits`. */
export function shortages(
  config: Needs,
  { limitOf = processLimit }: { limitOf?: (name: string) => number } = {},
): Shortage[] {
  const workers = config.roles.includes('worker') ? (config.workers ?? availableParallelism()) : 0;
  const connections = config.databaseUrl === undefined ? 0 : config.databaseConnections;
  return RULES.flatMap(({ name, flag, systemd, needed, used, shown, subject }) => {
    const limit = limitOf(name);
    if (!Number.isFinite(limit)) return [];
    const [least, taken] = [needed({ workers, connections }), used()];
    if (limit - taken >= least) return [];
    const inUse = taken > 0 ? `, of which ${shown(taken)} are in use` : '';
    const forWhat = flag === '-n' && connections > 0 ? ` and ${connections} connections to the database` : '';
    return {
      message:
        `The limit of ${subject} is too small: ${shown(limit)}${inUse}. ` +
        `With ${workers} worker${workers === 1 ? '' : 's'}${forWhat} the service needs ${shown(least)}.`,
      remedy: `Raise it (\`ulimit ${flag}\`, ${systemd} of systemd) to at least ${raised(flag, least + taken)}, or reduce --workers.`,
    };
  });
}

/** Refuses to start with limits under which a part would fail later, for a reason that names no limit. */
export function assertLimits(config: Needs): void {
  const [first] = shortages(config);
  if (first) throw new UserError(`${first.message} ${first.remedy}`);
}

/** A limit of this process; infinite without one. Node raises that of open files to the hard limit at its start. */
export function processLimit(name: string): number {
  const line = readFileSync('/proc/self/limits', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  const soft = line?.slice(name.length).trim().split(/\s+/)[0];
  return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** In the unit of `ulimit`. */
function raised(flag: string, amount: number): number {
  return flag === '-v' ? amount / 1024 : amount;
}

/** None for root, to whom the limit does not apply: its renders run as users without other processes. */
function tasksOfUser(): number {
  const uid = process.getuid?.();
  if (uid === 0) return 0;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .reduce((sum, pid) => sum + tasksOf(pid, uid), 0);
}

function tasksOf(pid: string, uid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) !== uid) return 0;
    return Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0; // It has ended.
  }
}
