import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const RESTART_MS = 200;
const POLL_MS = 100;
const READY_MS = 120_000;
const ANSWER_MS = 5_000;
const LAST_LOG = 2_000;

/** Where the service logs: to a pipe that `cat` reads, or to a file. */
export type LogTo = 'pipe' | { stderr: string } | { logFile: string };

/** The service, started again whenever it ends, as systemd does with `Restart=always`. */
export class Unit {
  readonly #command: string[];
  readonly #env: Record<string, string>;
  readonly #folder: string;
  readonly url: string;
  #child: ChildProcess | undefined;
  #reader: ChildProcess | undefined;
  /** Keeps the reader from ending with the service. */
  #kept: number | undefined;
  #logTo: LogTo = 'pipe';
  #isStopping = false;
  #expected = 0;
  /** How often it ended although no event had ended it. */
  unexpectedEnds = 0;

  constructor(options: { command: string[]; env: Record<string, string>; folder: string; port: number }) {
    this.#command = [...options.command, '--port', String(options.port)];
    this.#env = options.env;
    this.#folder = options.folder;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What it logged to the pipe, in order. */
  get log(): string {
    return join(this.#folder, 'service.log');
  }

  /** Its warnings and errors in the log from an offset on, as far as it went to the pipe. */
  complaints(offset: number): string[] {
    const lines = readFileSync(this.log).subarray(offset).toString().split('\n');
    const said = lines.filter((line) => /^\{"level":[4-6]0/.test(line)).map(withoutHead);
    return [...new Set([...said, ...lines.filter((line) => line !== '' && !line.startsWith('{'))])];
  }

  start(): void {
    this.#isStopping = false;
    const [program = '', ...args] = this.#command;
    const all =
      typeof this.#logTo === 'object' && 'logFile' in this.#logTo ? ['--log-file', this.#logTo.logFile] : [];
    const stderr = this.#openStderr();
    const child = spawn(program, [...args, ...all], {
      stdio: ['ignore', 'ignore', stderr],
      env: this.#env,
      detached: true,
    });
    closeSync(stderr);
    this.#child = child;
    child.once('exit', async () => {
      if (this.#isStopping) return;
      if (this.#expected > 0) this.#expected -= 1;
      else this.unexpectedEnds += 1;
      await delay(RESTART_MS);
      if (!this.#isStopping) this.start();
    });
  }

  /** As `systemctl stop`. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async restart(logTo: LogTo = this.#logTo): Promise<void> {
    await this.stop();
    this.#logTo = logTo;
    this.start();
    await this.ready();
  }

  /** Kills its process; it is started again. */
  kill(): void {
    this.#expected += 1;
    this.#child?.kill('SIGKILL');
  }

  /** Resolves when it is ready. Error: if that takes two minutes. */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_MS;
    let last = 'no answer';
    while (performance.now() < deadline) {
      try {
        const response = await fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
        last = await response.text();
        if (response.ok) return;
      } catch {
        // It is not there.
      }
      await delay(POLL_MS);
    }
    throw new Error(`the service is not ready: ${last}\n${readFileSync(this.log, 'utf8').slice(-LAST_LOG)}`);
  }

  /** Stops the reader of the pipe and fills the pipe. The result empties it again. */
  blockLog(): () => void {
    const reader = this.#reader;
    reader?.kill('SIGSTOP');
    const pipe = openSync(this.#pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      for (;;) writeSync(pipe, '\n'.repeat(4096));
    } catch {
      // EAGAIN: less than 4096 bytes are free.
    } finally {
      closeSync(pipe);
    }
    return () => void reader?.kill('SIGCONT');
  }

  /** Ends the reader of the pipe. */
  async closeLog(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.kill('SIGKILL');
    if (reader) await once(reader, 'exit');
  }

  get #pipe(): string {
    return join(this.#folder, 'service.pipe');
  }

  #openStderr(): number {
    if (typeof this.#logTo === 'object' && 'stderr' in this.#logTo)
      return openSync(this.#logTo.stderr, 'a', 0o666);
    if (!this.#reader) this.#openPipe();
    return openSync(this.#pipe, constants.O_WRONLY);
  }

  #openPipe(): void {
    if (this.#kept !== undefined) closeSync(this.#kept);
    rmSync(this.#pipe, { force: true });
    execFileSync('mkfifo', [this.#pipe]);
    // Opening one end waits for the other.
    const both = openSync(this.#pipe, constants.O_RDWR);
    const [input, log] = [openSync(this.#pipe, constants.O_RDONLY), openSync(this.log, 'a')];
    this.#reader = spawn('cat', [], { stdio: [input, log, 'ignore'] });
    this.#kept = openSync(this.#pipe, constants.O_WRONLY);
    for (const end of [both, input, log]) closeSync(end);
  }
}

function withoutHead(line: string): string {
  return line.replace(/^\{"level":\d+,"time":"[^"]*",/, '{');
}
