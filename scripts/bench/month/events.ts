import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  encodersBelow,
  jobsBelow,
  type Process,
  processesBelow,
  zygotesBelow,
} from '../../../test/fixtures/processes.ts';
import { fill } from '../../../test/fixtures/small-disk.ts';
import { type Ground, ROOT, run } from './ground.ts';
import type { Unit } from './unit.ts';

/** What an event can reach. */
export interface Month {
  ground: Ground;
  data: string;
  unit: Unit;
  /** The `scenepress` command. */
  command: string[];
  env: Record<string, string>;
  /** The file that shifts the clock of the service; null without a compiler. */
  clock: string | null;
  isPacked: boolean;
  isRoot: boolean;
}

/** What a customer may notice at worst. */
export type Outcome = 'held' | 'degraded' | 'lost';

/** One event. It begins while a job is rendered, and another is posted immediately. */
export interface MonthEvent {
  name: string;
  expected: Exclude<Outcome, 'lost'>;
  /** Part of a short month. */
  isShort?: boolean;
  /** Why it can't happen here. */
  skipped?: (month: Month) => string | false;
  /** Before the job is posted. */
  prepare?: (month: Month) => Promise<void>;
  begin: (month: Month) => Promise<unknown> | unknown;
  /** How long it lasts before `end`. */
  lastsMs?: number;
  end?: (month: Month) => Promise<unknown> | unknown;
  /** Time of the event that must not be billed: a job costs less than this. */
  mostBilledMs?: number;
}

const LASTS_MS = 3_000;
const STOPPED_MS = 10_000;
const HOUR_S = 3_600;
/** How long an HTTP server of Node keeps its date. */
const DATE_CACHED_MS = 1_100;
const CLOCK_EXACT_S = 10;
const LOG_MOVED_MS = 10_000;
/** Since this version, a namespace of processes has a limit of its own. */
const OWN_PID_MAX: [number, number] = [6, 14];
const PID_MAX = '/proc/sys/kernel/pid_max';
const LEAST_PID_MAX = '301';

const BY_REMOVING = 'cp -a "$0" "$0.old"; rm -r "$0"; cp -a "$0.old" "$0"; rm -r "$0.old"';
const BY_RENAMING = 'cp -a "$0" "$0.new"; mv "$0" "$0.old"; mv "$0.new" "$0"; rm -r "$0.old"';

/** Libraries of TeX and of the search for fonts. */
const LIBRARIES_BY_RENAMING =
  'find "$0" -type f "(" -name "libkpathsea.so.*" -o -name "libfontconfig.so.*" -o -name "libexpat.so.*" ")" -exec sh -ec \'for f; do cp -a "$f" "$f.new"; mv "$f.new" "$f"; done\' sh "{}" +';

const VENV = join(ROOT, '.venv');
const inCheckout = ({ isPacked }: Month) => isPacked && 'the single file has none';
const artifacts = ({ data }: Month) => join(data, 'artifacts');
const work = ({ data }: Month) => join(data, 'work');

export function eventsOfAMonth(): MonthEvent[] {
  return [
    ...updates(),
    ...cleaners(),
    ...storage(),
    ...kills(),
    ...logs(),
    ...shortages(),
    ...operations(),
    ...clocks(),
  ];
}

function updates(): MonthEvent[] {
  return [
    {
      name: 'ldconfig',
      expected: 'held',
      isShort: true,
      begin: () => run('rm /etc/ld.so.cache; ldconfig'),
    },
    {
      name: 'libraries replaced',
      expected: 'held',
      begin: () => run(LIBRARIES_BY_RENAMING, '/usr/lib'),
    },
    {
      name: 'time zones updated',
      expected: 'held',
      begin: () => {
        run(BY_RENAMING, '/usr/share/zoneinfo');
        run('cp -L "$0" "$0.new"; mv -T "$0.new" "$0"', '/etc/localtime');
      },
    },
    {
      name: 'fc-cache, with a new folder',
      expected: 'held',
      isShort: true,
      begin: () => run('rm -r "$0"; mkdir "$0"; fc-cache -f', '/var/cache/fontconfig'),
    },
    {
      name: '/etc/alternatives replaced',
      expected: 'held',
      begin: () => run(BY_REMOVING, '/etc/alternatives'),
    },
    { name: '/etc/fonts replaced', expected: 'held', begin: () => run(BY_REMOVING, '/etc/fonts') },
    { name: '/var/lib/texmf replaced', expected: 'held', begin: () => run(BY_REMOVING, '/var/lib/texmf') },
    {
      name: '.venv/share replaced',
      expected: 'held',
      isShort: true,
      skipped: inCheckout,
      begin: () => run(BY_REMOVING, join(VENV, 'share')),
    },
  ];
}

function cleaners(): MonthEvent[] {
  return [
    {
      name: 'a cleaner removes work/pyvenv.cfg',
      expected: 'held',
      begin: (month) => rmSync(join(work(month), 'pyvenv.cfg'), { force: true }),
    },
    {
      name: 'a cleaner removes work/',
      expected: 'held',
      isShort: true,
      begin: (month) => rmSync(work(month), { recursive: true }),
    },
  ];
}

function storage(): MonthEvent[] {
  let free = () => {};
  return [
    {
      name: 'disk full',
      expected: 'degraded',
      isShort: true,
      begin: ({ ground }) => {
        ({ free } = fill(ground.disk));
      },
      lastsMs: LASTS_MS,
      end: () => free(),
    },
    {
      name: 'inodes used up',
      expected: 'degraded',
      isShort: true,
      begin: ({ ground }) =>
        run(
          'mkdir "$0"; cd "$0"; i=0; while true > $i; do i=$((i + 1)); done 2> /dev/null',
          join(ground.disk, 'inodes'),
        ),
      lastsMs: LASTS_MS,
      end: ({ ground }) => rmSync(join(ground.disk, 'inodes'), { recursive: true }),
    },
    {
      name: 'artifacts/ read-only',
      expected: 'held',
      isShort: true,
      begin: (month) => run('mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"', artifacts(month)),
      lastsMs: LASTS_MS,
      end: (month) => run('umount --lazy "$0"', artifacts(month)),
    },
    {
      name: 'a file in place of artifacts/',
      expected: 'held',
      begin: (month) => {
        renameSync(artifacts(month), `${artifacts(month)}.away`);
        writeFileSync(artifacts(month), '');
      },
      lastsMs: LASTS_MS,
      end: (month) => {
        rmSync(artifacts(month));
        renameSync(`${artifacts(month)}.away`, artifacts(month));
      },
    },
    {
      name: 'artifacts/ without rights',
      expected: 'held',
      skipped: ({ isRoot }) => isRoot && 'root needs no rights: use --user',
      begin: (month) => chmodSync(artifacts(month), 0),
      lastsMs: LASTS_MS,
      end: (month) => chmodSync(artifacts(month), 0o755),
    },
  ];
}

function kills(): MonthEvent[] {
  const killed = (
    name: string,
    expected: MonthEvent['expected'],
    of: (pid: number) => Process[],
  ): MonthEvent => ({
    name: `SIGKILL of ${name}`,
    expected,
    isShort: true,
    begin: ({ unit }) => signalTo(of(unit.pid), 'SIGKILL'),
  });
  return [
    {
      name: 'all processes stopped',
      expected: 'degraded',
      isShort: true,
      begin: ({ unit }) => signalTo(wholeService(unit), 'SIGSTOP'),
      lastsMs: STOPPED_MS,
      end: ({ unit }) => signalTo(wholeService(unit), 'SIGCONT'),
      mostBilledMs: STOPPED_MS,
    },
    killed('a zygote', 'held', zygotesBelow),
    killed('the watch of a job', 'held', (pid) => ofJob(pid, 'watch')),
    killed('the init of a job', 'held', (pid) => ofJob(pid, 'init')),
    killed('the process of a scene', 'degraded', (pid) => ofJob(pid, 'job')),
    killed('the encoders', 'held', encodersBelow),
    { name: 'SIGKILL of the service', expected: 'degraded', isShort: true, begin: ({ unit }) => unit.kill() },
  ];
}

function logs(): MonthEvent[] {
  const logFile = ({ ground }: Month) => join(ground.own, 'home', 'scenepress.log');
  const small = ({ ground }: Month) => join(ground.own, 'small');
  let free = () => {};
  let unblock = () => {};
  return [
    {
      name: 'log rotated',
      expected: 'held',
      prepare: (month) => month.unit.restart({ logFile: logFile(month) }),
      begin: async (month) => {
        renameSync(logFile(month), `${logFile(month)}.1`);
        await appears(logFile(month));
      },
      end: ({ unit }) => unit.restart('pipe'),
    },
    {
      name: 'disk of standard error full',
      expected: 'held',
      isShort: true,
      prepare: async (month) => {
        run('mkdir -p "$0"; mount -t tmpfs -o size=1m,mode=777 tmpfs "$0"', small(month));
        await month.unit.restart({ stderr: join(small(month), 'log') });
      },
      begin: (month) => {
        ({ free } = fill(small(month)));
      },
      lastsMs: LASTS_MS,
      end: () => free(),
    },
    {
      name: 'reader of standard error stopped',
      expected: 'degraded',
      prepare: ({ unit }) => unit.restart('pipe'),
      begin: ({ unit }) => {
        unblock = unit.blockLog();
      },
      lastsMs: LASTS_MS,
      end: () => unblock(),
    },
    {
      name: 'reader of standard error ended',
      expected: 'held',
      isShort: true,
      prepare: ({ unit }) => unit.restart('pipe'),
      begin: ({ unit }) => unit.closeLog(),
    },
  ];
}

function shortages(): MonthEvent[] {
  let holders: number[] = [];
  let most = '';
  let limits = '';
  return [
    {
      name: 'no more processes',
      expected: 'held',
      isShort: true,
      skipped: () => !hasOwnPidMax() && `Linux ${release()} has one limit for the whole machine`,
      begin: async () => {
        most = readFileSync(PID_MAX, 'utf8');
        writeFileSync(PID_MAX, LEAST_PID_MAX);
        holders = await allProcesses();
      },
      lastsMs: LASTS_MS,
      end: () => {
        writeFileSync(PID_MAX, most);
        for (const pid of holders) process.kill(pid);
      },
    },
    {
      name: 'no more open files',
      expected: 'degraded',
      isShort: true,
      begin: ({ unit }) => {
        limits = prlimit(unit.pid);
        const open = new Set(readdirSync(`/proc/${unit.pid}/fd`));
        let free = 0;
        while (open.has(String(free))) free += 1;
        prlimit(unit.pid, `${free}:`);
      },
      lastsMs: LASTS_MS,
      end: ({ unit }) => prlimit(unit.pid, `${limits}:`),
    },
  ];
}

function operations(): MonthEvent[] {
  return [
    { name: 'restart', expected: 'degraded', isShort: true, begin: ({ unit }) => unit.restart() },
    {
      name: 'backup',
      expected: 'held',
      isShort: true,
      begin: async (month) => {
        const backup = join(month.ground.own, 'home', 'backup');
        await scenepress(month, 'backup', backup, '--data-dir', month.data);
        rmSync(backup, { recursive: true });
      },
    },
    {
      name: 'upgrade',
      expected: 'degraded',
      begin: async ({ unit, isPacked, command }) => {
        if (isPacked) run('cp -a "$0" "$0.new"; mv "$0.new" "$0"', command.at(-1) as string);
        else run(BY_REMOVING, join(ROOT, 'renderer', 'scene_renderer'));
        await unit.restart();
      },
    },
  ];
}

function clocks(): MonthEvent[] {
  const skipped = ({ clock }: Month) => clock === null && 'needs a C compiler';
  const shift = async ({ clock, unit }: Month, seconds: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // Not truncated meanwhile: the service has mapped it.
    const file = openSync(clock as string, 'r+');
    writeSync(file, bytes);
    closeSync(file);
    await delay(DATE_CACHED_MS);
    const { headers } = await fetch(`${unit.url}/health/live`);
    const shiftedS = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000;
    if (Math.abs(shiftedS - seconds) > CLOCK_EXACT_S) throw new Error('the clock was not set');
  };
  return [
    {
      name: 'clock an hour forward',
      expected: 'held',
      isShort: true,
      skipped,
      begin: (month) => shift(month, HOUR_S),
      mostBilledMs: HOUR_S * 1_000,
    },
    {
      name: 'clock an hour backward',
      expected: 'held',
      isShort: true,
      skipped,
      begin: (month) => shift(month, 0),
    },
  ];
}

/** Processes of the running scene of a service. */
function ofJob(pid: number, name: 'watch' | 'init' | 'job'): Process[] {
  const jobs = jobsBelow(pid);
  const watch = jobs.find((process) => process.name === 'watch');
  return jobs.filter((one) => one.name === name && (one.pid === watch?.pid || one.parent === watch?.pid));
}

function wholeService({ pid }: Unit): { pid: number }[] {
  return [{ pid }, ...processesBelow(pid)];
}

/** Errors: there is nothing to send it to. */
function signalTo(processes: { pid: number }[], signal: NodeJS.Signals): void {
  if (processes.length === 0) throw new Error('there is no such process');
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It has ended meanwhile.
    }
  }
}

async function appears(path: string): Promise<void> {
  const deadline = performance.now() + LOG_MOVED_MS;
  while (statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (performance.now() > deadline) throw new Error(`${path} was not opened again`);
    await delay(100);
  }
}

function hasOwnPidMax(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > OWN_PID_MAX[0] || (major === OWN_PID_MAX[0] && minor >= OWN_PID_MAX[1]);
}

/** Starts processes until no more can be started. */
async function allProcesses(): Promise<number[]> {
  const pids: number[] = [];
  for (;;) {
    const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
    if (child.pid === undefined) {
      await once(child, 'error');
      return pids;
    }
    pids.push(child.pid);
  }
}

/** Sets the soft limit of open files, if one is given, and returns what it was. */
function prlimit(pid: number, limit?: string): string {
  const set = limit === undefined ? '' : `=${limit}`;
  const args = [
    '--pid',
    String(pid),
    `--nofile${set}`,
    ...(set ? [] : ['--output=SOFT', '--noheadings', '--raw']),
  ];
  return execFileSync('prlimit', args, { encoding: 'utf8' }).trim();
}

async function scenepress({ command, env }: Month, ...args: string[]): Promise<void> {
  const [program = '', ...rest] = [...command, ...args];
  const child = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`scenepress ${args[0]} exited with ${code}`);
}
