import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { configuredMirrors } from '../../scripts/root/apt.ts';

/** The kind of a bare machine. */
export interface MachineKind {
  debian: 'bullseye' | 'trixie';
  user: 'root' | 'ordinary';
  /** Without them mounting is not permitted either, as in most containers. */
  userNamespaces: boolean;
}

/** How a command ended. */
export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

const BUILD = join(import.meta.dirname, '../../build');
const ORDINARY_UID = '1000';
const ALL_IDS = '0 0 65536';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * A minimal Debian with only the program in `/opt/scenepress`: no Python, TeX, fonts or Node. It has its own processes
 * and files and the network of this process. Its user owns `/srv/scenepress`.
 */
export class Machine {
  readonly #kind: MachineKind;
  readonly #programs: string;
  readonly #folder: string;
  #init: ChildProcess | undefined;
  #holder: ChildProcess | undefined;
  #pid = 0;

  /** `programs`: the folder that is mounted read-only as `/opt/scenepress`. */
  constructor(kind: MachineKind, programs: string) {
    this.#kind = kind;
    this.#programs = programs;
    mkdirSync(join(BUILD, 'machines'), { recursive: true });
    this.#folder = mkdtempSync(join(BUILD, 'machines/'));
  }

  async start(): Promise<void> {
    const { debian, userNamespaces } = this.#kind;
    const prepare = `mkdir -p /srv/scenepress && chown ${this.#uid} /srv/scenepress && echo up && exec sleep infinity`;
    const into = userNamespaces ? [] : ['nsenter', `--user=${await this.#limitedUsers()}`];
    const [command = '', ...args] = [
      ...[...into, 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts'],
      ...['sh', join(import.meta.dirname, 'enter-machine.sh'), minimalDebian(debian), this.#folder],
      ...[this.#programs, 'sh', '-c', prepare],
    ];
    const init = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH, USER_NAMESPACES: userNamespaces ? 'yes' : 'no' },
    });
    this.#init = init;
    await once(init.stdout, 'data');
    this.#pid = childOf(init.pid);
  }

  /** A user namespace that maps all ids. Limits set in it do not apply to the host. */
  async #limitedUsers(): Promise<string> {
    const holder = spawn('unshare', ['--user', 'sh', '-c', 'echo in && exec sleep infinity'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#holder = holder;
    await once(holder.stdout, 'data');
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${holder.pid}/${map}`, ALL_IDS);
    return `/proc/${holder.pid}/ns/user`;
  }

  async stop(): Promise<void> {
    this.#holder?.kill('SIGKILL');
    const init = this.#init;
    this.#init = undefined;
    if (init && init.exitCode === null) {
      init.kill('SIGKILL');
      await once(init, 'close');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts a program as the machine's user. */
  spawn(command: string[], { env = {}, ...options }: SpawnOptions = {}): ChildProcess {
    const { user, userNamespaces } = this.#kind;
    const namespaces = ['--mount', '--pid', '--ipc', '--uts', ...(userNamespaces ? [] : ['--user'])];
    const who = user === 'root' ? [] : ['--reuid', this.#uid, '--regid', this.#uid, '--clear-groups'];
    const rights = userNamespaces ? [] : ['--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
    const line = ['--target', String(this.#pid), ...namespaces, '--root', 'setpriv', ...who, ...rights];
    // NODE_OPTIONS loads tap, which is not on this machine.
    return spawn('nsenter', [...line, 'env', '-u', 'NODE_OPTIONS', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
      env: { PATH, HOME: '/srv/scenepress', ...env },
    });
  }

  /** Runs a program until it exits. */
  async run(command: string[], options?: SpawnOptions): Promise<Ended> {
    const child = this.spawn(command, options);
    const output = [child.stdout, child.stderr].map((stream) => text(stream as NonNullable<typeof stream>));
    const [[status], stdout = '', stderr = ''] = await Promise.all([
      once(child, 'close') as Promise<[number | null]>,
      ...output,
    ]);
    return { status, stdout, stderr };
  }

  get #uid(): string {
    return this.#kind.user === 'root' ? '0' : ORDINARY_UID;
  }
}

/** Sends SIGTERM to a program in a machine: its process here is only nsenter, which waits for it. */
export function endInMachine({ pid }: ChildProcess): void {
  process.kill(childOf(pid), 'SIGTERM');
}

/** Kills a program in a machine. */
export function killInMachine(child: ChildProcess): void {
  try {
    process.kill(childOf(child.pid), 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // It has not started yet, or has ended.
    child.stderr?.destroy();
  }
}

function childOf(pid: number | undefined): number {
  const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  assert(child > 0, 'it is running');
  return child;
}

/** The folder of a minimal Debian, created once. */
export function minimalDebian(codename: MachineKind['debian']): string {
  const folder = join(BUILD, 'cache', `debian-${codename}`);
  if (existsSync(folder)) return folder;
  const made = `${folder}.part`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(join(BUILD, 'cache'), { recursive: true });
  const arguments_ = [
    '--quiet',
    '--variant=minbase',
    '--architectures=amd64',
    codename,
    made,
    configuredMirrors().main,
  ];
  execFileSync('mmdebstrap', arguments_, { stdio: ['ignore', 'inherit', 'inherit'] });
  renameSync(made, folder);
  return folder;
}
