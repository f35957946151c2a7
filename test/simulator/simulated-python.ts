import { EventEmitter } from 'node:events';
import { basename, dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { readLines } from '../../lib/base/line-reader.ts';
import type { RendererJob } from '../../lib/model/renderer-messages.ts';
import type { JobEnded, ZygoteCommand, ZygoteReport } from '../../lib/model/zygote-messages.ts';
import type { ZygoteCommandLine } from '../../lib/render/start/launcher.ts';
import type { Processes, RendererProcess } from '../../lib/render/start/processes.ts';
import type { Clock, Timer } from '../../lib/time/clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { SimulatedFork, type Surroundings } from './simulated-fork.ts';
import { SimulatedSockets } from './simulated-sockets.ts';

const LONGEST_LINE_BYTES = 1024 * 1024;
const LAYERS = ['namespaces', 'landlock', 'seccomp'];
/** How long it takes to import Manim. */
const LONGEST_START_MS = 4_000;
/** How long the kernel takes to end a process that waits for a disk. */
export const LONGEST_DEATH_MS = 20_000;
const FIRST_PID = 1_000_000_000;
/** The scene of clients. */
export const CLIENT_CLASS = 'A';

/**
 * The Python side of a renderer under virtual time: processes that speak its protocol, and start, answer, hang and die
 * at random. What breaks the protocol's rules is in `violations`.
 */
export class SimulatedPython implements Processes {
  readonly #clock: Clock;
  readonly #seed: number;
  readonly #sockets = new SimulatedSockets();
  readonly #alive = new Map<number, SimulatedProcess>();
  /** How many processes were started, by worker and role: their random numbers do not depend on other workers. */
  readonly #starts = new Map<string, number>();
  readonly violations: string[] = [];
  readonly accept: Processes['accept'] = (options) => this.#sockets.accept(options);
  isFaulty = true;
  /** Whether scenes get namespaces of their own; without, videos are files. */
  readonly hasNamespaces: boolean;
  #pids = FIRST_PID;
  /** The largest number of concurrent renders. */
  mostRenders = 0;

  constructor({ clock, seed }: { clock: Clock; seed: number }) {
    this.#clock = clock;
    this.#seed = seed;
    this.hasNamespaces = seed % 4 !== 0;
  }

  spawn({ args, env }: ZygoteCommandLine): RendererProcess {
    const worker = basename(dirname(env['XDG_CACHE_HOME'] as string));
    const role = args.includes('encoder')
      ? 'encoder'
      : args.includes('--portrait')
        ? 'portrait'
        : 'landscape';
    const name = `${worker} ${role}`;
    const starts = (this.#starts.get(name) ?? 0) + 1;
    this.#starts.set(name, starts);
    const random = seededRandom(hashOf(`${this.#seed} ${name} ${starts}`));
    const fails = (share: number) => this.isFaulty && random() < share;
    if (fails(0.01)) throw Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' });
    const pid = this.#pids++;
    const child = new SimulatedProcess(pid, {
      around: { clock: this.#clock, sockets: this.#sockets, random, fails },
      layers: this.hasNamespaces ? LAYERS : LAYERS.slice(1),
      worker,
      onJob: () => this.#count(worker),
      violate: (what) => this.violations.push(`${name}: ${what}`),
    });
    this.#alive.set(pid, child);
    child.once('close', () => this.#alive.delete(pid));
    return child as unknown as RendererProcess;
  }

  killTree(pid: number): void {
    this.#alive.get(pid)?.kill();
  }

  killSession(): void {}

  /** What is left: processes, sockets and connections. */
  get count(): number {
    return this.#alive.size + this.#sockets.count;
  }

  #count(worker: string): void {
    const all = [...this.#alive.values()].filter(
      ({ fork }) => fork?.job?.kind === 'render' && isOfClient(fork.job),
    );
    this.mostRenders = Math.max(this.mostRenders, all.length);
    const here = all.filter((child) => child.worker === worker);
    if (here.length > 1) this.violations.push(`${worker} renders ${here.length} scenes at once`);
  }
}

interface ProcessOptions {
  around: Surroundings;
  layers: string[];
  worker: string;
  onJob: () => void;
  violate: (what: string) => void;
}

/** A zygote or an encoder. */
class SimulatedProcess extends EventEmitter {
  readonly pid: number;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly stdin: PassThrough = new PassThrough();
  readonly stdout: PassThrough = new PassThrough();
  readonly stderr: PassThrough = new PassThrough();
  readonly #options: ProcessOptions;
  #hangs = false;
  #isDying = false;
  fork: SimulatedFork | undefined;
  readonly worker: string;
  readonly #timers = new Set<Timer>();

  constructor(pid: number, options: ProcessOptions) {
    super();
    this.pid = pid;
    this.#options = options;
    this.worker = options.worker;
    const { fails } = options.around;
    readLines(this.stdin, LONGEST_LINE_BYTES, (line) => this.#hear(JSON.parse(line) as ZygoteCommand));
    this.stdin.once('end', () => this.#leave());
    this.stdin.on('error', () => {});
    if (fails(0.02)) this.#later(LONGEST_START_MS, () => this.#die(1, null));
    else if (!fails(0.02)) this.#later(LONGEST_START_MS, () => this.#ready());
    if (fails(0.1)) this.#later(600_000, () => this.#breakDown());
  }

  /** It ends after a moment; in rare cases the kernel takes seconds. */
  kill(): void {
    if (this.#isDying) return;
    this.#hangs = true;
    this.fork?.vanish();
    this.fork = undefined;
    for (const timer of this.#timers) timer.cancel();
    this.#later(this.#options.around.fails(0.02) ? LONGEST_DEATH_MS : 100, () => this.#die(null, 'SIGKILL'));
  }

  #breakDown(): void {
    const chance = this.#options.around.random();
    if (chance < 0.4) this.#die(null, 'SIGSEGV');
    else if (chance < 0.7) this.#hangs = true;
    else if (chance < 0.85) this.#say({ type: 'error', message: 'out of order' });
    else this.stdout.write('{"type":"ended","job":"0"}\nTraceback\n{"type":"ready"}\n');
  }

  #ready(): void {
    this.stderr.write('a warning\n');
    const { layers } = this.#options;
    this.#say({ type: 'ready', manim: '0.22', python: '3.13', layers, problems: {}, cgroup: false });
  }

  #hear(command: ZygoteCommand): void {
    if (this.#hangs || this.#isDying) return;
    const { fails } = this.#options.around;
    if (command.type === 'ping') this.#later(fails(0.02) ? 20_000 : 50, () => this.#say({ type: 'pong' }));
    else if (command.type === 'fork') this.#fork(command);
    else if (command.job === this.fork?.command.job && !fails(0.02)) this.fork.kill();
  }

  #fork(command: Extract<ZygoteCommand, { type: 'fork' }>): void {
    const { around, violate, onJob } = this.#options;
    if (this.fork) violate(`it was given ${command.job} during ${this.fork.command.job}`);
    const onEnd = (end: Omit<JobEnded, 'type' | 'job'>) => {
      this.fork = undefined;
      const report: ZygoteReport = { type: 'ended', job: command.job, ...end };
      if (around.fails(0.01)) this.#breakDown();
      else this.#say(report);
      if (around.fails(0.01)) this.#dieAtOnce();
      if (around.fails(0.02)) this.#later(5_000, () => this.#say(report)); // Twice, during the next job.
    };
    if (around.fails(0.01)) this.#die(1, null);
    else this.fork = new SimulatedFork(command, around, { onJob, onEnd });
  }

  /** The service closed its input. */
  #leave(): void {
    if (this.#hangs || this.#options.around.fails(0.02)) return;
    this.fork?.vanish();
    this.#later(300, () => this.#die(0, null));
  }

  #say(report: ZygoteReport): void {
    if (!this.#hangs && !this.#isDying) this.stdout.write(`${JSON.stringify(report)}\n`);
  }

  #die(exitCode: number | null, signal: NodeJS.Signals | null, { isAtOnce = false } = {}): void {
    if (this.#isDying) return;
    this.#isDying = true;
    this.fork?.vanish();
    this.fork = undefined;
    this.exitCode = exitCode;
    this.signalCode = signal;
    for (const timer of this.#timers) timer.cancel();
    this.stdout.end();
    this.stderr.end();
    const close = () => this.emit('close', exitCode, signal);
    // The pipes may be closed later than the process ends.
    if (isAtOnce) close();
    else this.#later(50, close);
  }

  /** Before the service does anything about what it said last. */
  #dieAtOnce(): void {
    setImmediate(() => this.#die(null, 'SIGKILL', { isAtOnce: true }));
  }

  #later(mostMs: number, work: () => void): void {
    const { clock, random } = this.#options.around;
    const timer = clock.after(random() * mostMs, () => {
      this.#timers.delete(timer);
      work();
    });
    this.#timers.add(timer);
  }
}

/** Not a scene of the service's own. */
function isOfClient(job: RendererJob): boolean {
  return job.kind === 'render' && job.className === CLIENT_CLASS;
}

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return hash;
}
