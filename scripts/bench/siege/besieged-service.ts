import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { processesBelow } from '../../../test/fixtures/processes.ts';

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, '../../../appliance/main.ts');
const PAGE_BYTES = 4096;

/** Resources held by an idle service; equal before and after a siege. */
export interface Holdings {
  descriptors: number;
  processes: number;
  workFiles: number;
}

/** `scenepress serve` in a separate process, with defaults except for the given flags. */
export class BesiegedService {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly url: string;
  hasEnded = false;

  private constructor(child: ChildProcess, dataDir: string, url: string) {
    this.#child = child;
    this.#dataDir = dataDir;
    this.url = url;
    child.once('exit', () => {
      this.hasEnded = true;
    });
  }

  /** Resolves when it is ready. */
  static async start(dataDir: string, logFile: string, flags: string[]): Promise<BesiegedService> {
    const args = [MAIN, 'serve', '--data-dir', dataDir, '--port', '0', ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    process.once('exit', () => child.kill()); // Also when the benchmark is interrupted.
    child.stderr.pipe(createWriteStream(logFile));
    const lines = createInterface({ input: child.stderr });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    child.once('exit', (code) => reject(new Error(`the service ended with exit code ${code}`)));
    lines.on('line', (line) => {
      const { msg, url } = parsed(line);
      if (msg === 'ready') resolve(String(url));
    });
    return new BesiegedService(child, dataDir, await promise);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Runs a command with `--json` beside the running service and returns its output. `input`: its standard input. */
  async admin<T>(args: string[], input = ''): Promise<T> {
    const all = [MAIN, ...args, '--data-dir', this.#dataDir, '--json'];
    const running = run(process.execPath, all, { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input);
    return JSON.parse((await running).stdout) as T;
  }

  /** Resident memory of the service's own process. */
  memoryBytes(): number {
    return Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  }

  holdings(): Holdings {
    return {
      descriptors: readdirSync(`/proc/${this.pid}/fd`).length,
      processes: processesBelow(this.pid).length,
      workFiles: readdirSync(join(this.#dataDir, 'work'), { recursive: true }).length,
    };
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
