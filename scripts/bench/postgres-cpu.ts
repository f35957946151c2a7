import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesBelow } from '../../test/fixtures/processes.ts';

const TICKS_PER_SECOND = 100;

/** CPU time of the processes of a Postgres server in milliseconds, also of those that have ended. `place`: its folder. */
export function cpuMsOf(place: string): number {
  const pid = Number(readFileSync(join(place, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  const ticks = [pid, ...processesBelow(pid).map((process) => process.pid)].map((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Its own time, and that of its children that have ended (`man proc_pid_stat`).
      const [utime = 0, stime = 0, cutime = 0, cstime = 0] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11)
        .map(Number);
      return utime + stime + cutime + cstime;
    } catch {
      return 0; // It ends now.
    }
  });
  return (1000 * ticks.reduce((sum, one) => sum + one, 0)) / TICKS_PER_SECOND;
}
