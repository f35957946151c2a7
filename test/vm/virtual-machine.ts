import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { initramfs } from './initramfs.ts';
import type { Parts } from './packages.ts';

/** The places of a job in the tree of control groups: see `enter-group.sh`. */
export const PLACES = ['root', 'session', 'unit', 'user', 'container'] as const;
export type Place = (typeof PLACES)[number];

export interface JobOptions {
  place: Place;
  /** Text of a shell script. */
  job: string;
  /** Receives the output of the job while it runs. */
  print: (text: string) => void;
  /** Real time after which the machine is ended. */
  timeoutMs: number;
}

const CHECKOUT = join(import.meta.dirname, '../..');
const BUILD = join(CHECKOUT, 'build');
const MEMORY = '4G';
const DISK_BYTES = 20 * 1024 ** 3;
const SHARE_TIMEOUT_MS = 10_000;
/** The exit code of `timeout` after a timeout. */
const TIMED_OUT = 124;
/** How many of the kernel's last lines are shown when the machine fails. */
const LINES = 30;
/** Shares the host's root and, if separate, the checkout's file system, read-only. */
const SHARE = `
mount --bind / "$1"
mount -o remount,bind,ro "$1"
if ! [ "$(stat -c %m "$2")" = / ]; then
  mount --bind "$2" "$1$2"
  mount -o remount,bind,ro "$1$2"
fi
exec "$3" --socket-path="$4" -o source="$1",cache=always`;
/**
 * Time in the machine is counted in instructions: a nanosecond each. Emulated, they take some five times as long, but
 * time-outs in the machine don't see that. KVM is not used: it would run the machine in real time, and is often missing.
 */
const PROCESSOR = ['-accel', 'tcg,thread=single', '-icount', 'shift=0', '-smp', '1', '-cpu', 'max'];
const KERNEL_OPTIONS = 'console=ttyS0 quiet panic=-1 cgroup_no_v1=all';

/** Runs a job in a virtual machine of its own with control groups of version 2. Returns its exit status. */
export async function runInMachine(parts: Parts, options: JobOptions): Promise<number> {
  const { print, timeoutMs } = options;
  mkdirSync(BUILD, { recursive: true });
  const folder = mkdtempSync(join(BUILD, 'virtual-machine-'));
  const children: ChildProcess[] = [];
  const end = () => {
    for (const child of children) child.kill();
  };
  process.once('SIGTERM', end).once('SIGINT', end);
  try {
    makeDisk(join(folder, 'disk'));
    const share = startShare(parts, folder);
    children.push(share);
    await shared(share, join(folder, 'socket'));
    const machine = startMachine(parts, folder, options);
    children.push(machine);
    machine.stdout?.setEncoding('utf8').on('data', print);
    const [code, signal] = await once(machine, 'close');
    if (code === TIMED_OUT) throw new Error(`it took longer than ${timeoutMs / 1000} s`);
    const status = readFileSync(join(folder, 'status'), 'utf8').trim();
    if (status !== '') return Number(status);
    const messages = readFileSync(join(folder, 'console'), 'utf8').split('\n').slice(-LINES).join('\n');
    throw new Error(`the machine ended with ${signal ?? code}, not the job:\n${messages}`);
  } finally {
    process.off('SIGTERM', end).off('SIGINT', end);
    end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeDisk(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, DISK_BYTES);
  execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=1', path]);
}

function startShare({ virtiofsd }: Parts, folder: string): ChildProcess {
  mkdirSync(join(folder, 'share'));
  const values = [join(folder, 'share'), CHECKOUT, virtiofsd, join(folder, 'socket')];
  const namespace = ['--mount', '--propagation', 'private'];
  return spawn('unshare', [...namespace, 'sh', '-ec', SHARE, 'sh', ...values], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function startMachine(parts: Parts, folder: string, { place, job, timeoutMs }: JobOptions): ChildProcess {
  const path = (name: string) => join(folder, name);
  const options = {
    m: MEMORY,
    // virtiofsd writes to the memory of the machine.
    object: `memory-backend-memfd,id=memory,size=${MEMORY},share=on`,
    numa: 'node,memdev=memory',
    kernel: parts.kernel,
    initrd: initramfs(parts, folder, job),
    append: `${KERNEL_OPTIONS} CGROUP=${place} CHECKOUT="${CHECKOUT}"`,
    drive: `file=${path('disk')},format=raw,if=virtio,cache=unsafe,discard=unmap`,
    chardev: `socket,id=share,path=${path('socket')}`,
    device: 'vhost-user-fs-pci,chardev=share,tag=host',
    display: 'none',
  };
  const ports = [`file:${path('console')}`, 'stdio', `file:${path('status')}`];
  const args = [
    ...[...PROCESSOR, '-nodefaults', '-no-user-config', '-no-reboot'],
    ...Object.entries(options).flatMap(([name, value]) => [`-${name}`, value]),
    ...ports.flatMap((port) => ['-serial', port]),
  ];
  const limit = ['--kill-after=10', String(timeoutMs / 1000)];
  return spawn('timeout', [...limit, 'qemu-system-x86_64', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Resolves when virtiofsd accepts connections. */
async function shared(share: ChildProcess, socket: string): Promise<void> {
  let said = '';
  share.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  const until = performance.now() + SHARE_TIMEOUT_MS;
  while (!existsSync(socket)) {
    if (share.exitCode !== null || performance.now() > until)
      throw new Error(`virtiofsd didn't start: ${said}`);
    await delay(20);
  }
}
