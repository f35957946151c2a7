import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TexInstallation } from '../../lib/internal.ts';
import type { Logger } from '../support/log.ts';

/** In a checkout. */
const PROGRAM = join(import.meta.dirname, '../../scripts/setup/more-tex-process.mjs');
const WHAT = 'TeX packages that few scenes need (XeTeX, LuaTeX, Chinese, Polish, science, most fonts)';

/** What the process is doing. */
type Phase = 'waiting' | 'downloading' | 'installing' | 'preparing';

type Message = { phase: Phase; detail: string } | { problem: string };

const DOING: Record<Phase, string> = {
  waiting: 'are to be installed',
  downloading: 'are being downloaded',
  installing: 'are being installed: formulas wait for that, except single letters, numbers and signs',
  preparing: 'have been installed, and are being prepared',
};
const STATES = {
  waiting: 'incomplete',
  downloading: 'incomplete',
  installing: 'changing',
  preparing: 'complete',
} as const;

/**
 * Installs the TeX packages that `npm start` has left for later, in a process of low priority, and tells renders what to
 * expect of TeX meanwhile. On a machine that has all of them, the process ends at once.
 */
export class MoreTex {
  readonly installation: TexInstallation = new TexInstallation();
  readonly #logger: Logger;
  readonly #program: string;
  #child: ChildProcess | undefined;
  #phase: Phase | undefined;
  #detail = '';
  #problem: string | undefined;

  constructor(logger: Logger, program: string = PROGRAM) {
    this.#logger = logger;
    this.#program = program;
  }

  start(): void {
    if (process.env['SCENEPRESS_EXTRA_TEX'] === 'off' || !existsSync(this.#program)) return;
    // A session of its own: Ctrl-C must not end dpkg.
    const child = fork(this.#program, { stdio: 'ignore', execArgv: [], detached: true });
    this.#child = child;
    child.on('message', (message: Message) => this.#hear(message));
    child.on('error', ({ message }) => this.#fail(message));
    child.on('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (code !== 0) this.#fail(this.#problem ?? `the set-up ended with ${signal ?? `status ${code}`}`);
      else if (this.#phase !== undefined) this.#logger.info({}, `The ${WHAT} are installed.`);
      this.#phase = undefined;
      this.installation.enter('complete');
    });
  }

  /** The process ends, unless dpkg works: it then ends when that is done. */
  stop(): void {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    if (this.#phase === 'installing')
      this.#logger.info({}, `The ${WHAT} are being installed, which goes on after the service has stopped.`);
    child.disconnect();
    child.unref();
  }

  warnings(): string[] {
    if (this.#problem !== undefined)
      return [`The ${WHAT} are not installed. Run \`node scripts/setup.mjs\`. The log has the reason.`];
    if (this.#phase === undefined) return [];
    const detail = this.#detail === '' ? '' : ` (${this.#detail})`;
    return [`The ${WHAT} ${DOING[this.#phase]}${detail}.`];
  }

  #hear(message: Message): void {
    if ('problem' in message) {
      this.#problem = message.problem;
      return;
    }
    const { phase, detail } = message;
    this.#detail = detail;
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.installation.enter(STATES[phase]);
    this.#logger.info({}, `The ${WHAT} ${DOING[phase]}.`);
  }

  #fail(problem: string): void {
    this.#problem = problem;
    this.#logger.warn({ reason: problem }, `The ${WHAT} could not be installed.`);
  }
}
