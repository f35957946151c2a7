import type { Writable } from 'node:stream';
import { EmitterBase } from '../../async/emitter.ts';
import { readLines, withoutControlCharacters } from '../../base/line-reader.ts';
import { LONGEST_LINE_BYTES, parseZygoteReport } from '../../model/renderer-protocol.ts';
import type { ForkCommand, JobEnded, ZygoteCommand, ZygoteReady } from '../../model/zygote-messages.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import type { JobCgroup } from '../sandbox/cgroup.ts';
import type { ZygoteCommandLine } from './launcher.ts';
import type { Processes, RendererProcess } from './processes.ts';

const START_TIMEOUT_MS = 60_000;
const PINGS_PER_SILENCE = 6;
const KILL_TIMEOUT_MS = 10_000;
const STDERR_LINES_KEPT = 20;

/** The zygote died, and its job with it. */
export class ZygoteDied extends Error {
  override readonly name = 'ZygoteDied';
}

export interface ZygoteOptions {
  onLog: (line: string) => void;
  /** A zygote that is silent for this long counts as hung. */
  silenceTimeoutMs: number;
  clock: Clock;
  processes: Processes;
  /** The control group of its jobs; removed with it. */
  cgroup?: JobCgroup | undefined;
}

/**
 * A warm Python process with Manim imported, from which every job is forked. One job at a time.
 *
 * It ends with the thread that started it: by the end of its standard input, and by the kernel's parent-death signal.
 * When it ends or hangs, its running job rejects with {@link ZygoteDied}, and it emits `death` once.
 */
export class Zygote extends EmitterBase<{ death: [reason: string] }> {
  readonly #child: RendererProcess;
  readonly #processes: Processes;
  readonly #onLog: (line: string) => void;
  readonly #clock: Clock;
  readonly #cgroup: JobCgroup | undefined;
  readonly #stderr: string[] = [];
  readonly #gone: Promise<void>;
  #markGone: () => void = () => {};
  #ready: { resolve: (ready: ZygoteReady) => void; reject: (error: Error) => void } | undefined;
  #running: { job: string; resolve: (end: JobEnded) => void; reject: (error: Error) => void } | undefined;
  /** Pings after which nothing was heard. Not a time: after a pause of the service, answers wait to be read. */
  #unansweredPings = 0;
  #heartbeat: Timer | undefined;
  #killTimer: Timer | undefined;
  #died: ZygoteDied | undefined;
  /** The sandbox layers of its jobs. */
  layers: string[] = [];

  private constructor(line: ZygoteCommandLine, options: ZygoteOptions) {
    super();
    const { onLog, clock, cgroup, processes } = options;
    this.#processes = processes;
    this.#clock = clock;
    this.#cgroup = cgroup;
    this.#onLog = onLog;
    try {
      this.#child = processes.spawn(line, cgroup?.entrance);
    } catch (error) {
      cgroup?.remove();
      throw error;
    } finally {
      cgroup?.closeEntrance();
    }
    this.#gone = new Promise((resolve) => {
      this.#markGone = resolve;
    });
    this.#child.on('error', (error) => this.#die(`it could not be started: ${error.message}`, error));
    // Without free file descriptors Node creates no pipes, and emits 'error'.
    if ((this.#child.stdin as Writable | undefined) === undefined) return;
    this.#child.stdin.on('error', () => {}); // EPIPE of a dead zygote; its end is handled below.
    // 'close' instead of 'exit': the process behind a launcher is only gone when its pipes are closed.
    this.#child.on('close', (code, signal) => {
      if (this.#child.pid !== undefined) processes.killSession(this.#child.pid, clock);
      this.#die(`it ended ${signal ? `by ${signal}` : `with exit code ${code}`}`);
    });
    readLines(this.#child.stdout, LONGEST_LINE_BYTES, (text) => this.#hear(text));
    readLines(this.#child.stderr, LONGEST_LINE_BYTES, (text) => this.#log(text));
  }

  get alive(): boolean {
    return this.#died === undefined;
  }

  /** Starts a zygote and waits until it is warm. */
  static async start(line: ZygoteCommandLine, options: ZygoteOptions): Promise<[Zygote, ZygoteReady]> {
    const zygote = new Zygote(line, options);
    const { clock, silenceTimeoutMs } = options;
    const timer = clock.after(START_TIMEOUT_MS, () => zygote.#kill('it was not ready in time'));
    try {
      const ready = await new Promise<ZygoteReady>((resolve, reject) => {
        zygote.#ready = { resolve, reject };
      });
      // It may have died right after its report, before anything listens for that.
      if (zygote.#died) throw zygote.#died;
      zygote.layers = ready.layers;
      zygote.#heartbeat = clock.every(silenceTimeoutMs / PINGS_PER_SILENCE, () => zygote.#beat());
      return [zygote, ready];
    } finally {
      timer.cancel();
    }
  }

  /**
   * Forks a job and waits until all its processes are dead or, of a finished one, have been killed. The next fork begins
   * when they are dead.
   */
  run(command: ForkCommand): Promise<JobEnded> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(new ZygoteDied('it had ended before'));
      this.#running = { job: command.job, resolve, reject };
      this.#cgroup?.weigh(command);
      this.#send(command);
    });
  }

  /** Ends the running job; kills the zygote when that takes too long. */
  killJob(): void {
    if (!this.#running || this.#killTimer) return;
    this.#send({ type: 'kill', job: this.#running.job });
    this.#killTimer = this.#clock.after(KILL_TIMEOUT_MS, () => this.#kill('it could not end a job'));
  }

  /** Kills it, because its jobs can't run: its owner starts another. */
  replace(reason: string): void {
    this.#kill(reason);
  }

  /** Ends the zygote and its job; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    const timer = this.#clock.after(KILL_TIMEOUT_MS, () => this.#kill('it did not stop when asked to'));
    await this.#gone;
    timer.cancel();
  }

  #send(command: ZygoteCommand): void {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  #hear(text: string): void {
    this.#unansweredPings = 0;
    const report = parseZygoteReport(text);
    if (report?.type === 'ready') this.#ready?.resolve(report);
    else if (report?.type === 'ended' && report.job === this.#running?.job) {
      this.#killTimer?.cancel();
      this.#killTimer = undefined;
      const running = this.#running;
      this.#running = undefined;
      const outOfMemory = this.#cgroup?.end() ?? false;
      running.resolve({ ...report, reason: report.reason ?? (outOfMemory ? 'memory' : null) });
    } else if (report?.type === 'error') this.#kill(report.message);
  }

  #beat(): void {
    if (this.#unansweredPings >= PINGS_PER_SILENCE) this.#kill('it stopped answering');
    else {
      this.#unansweredPings += 1;
      this.#send({ type: 'ping' });
    }
  }

  #log(text: string): void {
    const line = withoutControlCharacters(text);
    this.#stderr.push(line);
    if (this.#stderr.length > STDERR_LINES_KEPT) this.#stderr.shift();
    this.#onLog(line);
  }

  /** Kills the zygote and its descendants: as root, bubblewrap has dropped the privilege to kill them itself. */
  #kill(reason: string): void {
    this.#die(reason);
    if (this.#child.pid !== undefined) this.#processes.killTree(this.#child.pid, this.#clock);
  }

  /** The first reason counts. */
  #die(reason: string, cause?: Error): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) {
      this.#cgroup?.remove();
      this.#markGone();
    }
    if (this.#died) return;
    this.#heartbeat?.cancel();
    this.#killTimer?.cancel();
    const lastWords = this.#stderr.at(-1);
    const error = new ZygoteDied(`${reason}${lastWords ? ` (${lastWords})` : ''}`, { cause });
    this.#died = error;
    this.#ready?.reject(error);
    this.#running?.reject(error);
    this.#running = undefined;
    this.emit('death', error.message);
  }
}
