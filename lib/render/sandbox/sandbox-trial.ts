import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inTurn, type ThreadCounters, TRIED_TOGETHER } from '../pool/thread-counters.ts';
import type { RenderLimits } from '../run/limits.ts';
import { hiddenNames, type Launcher, seenInWork, studioMounts } from '../start/launcher.ts';
import {
  hasAllWalls,
  noSandbox,
  type SandboxRefused,
  type SandboxStatus,
  selfAttackCode,
  selfAttackProblem,
  trialProblem,
  trialSceneCode,
} from './sandbox.ts';

/** Runs a small render of our own: its error, null when it has none, undefined when it says nothing. */
export type ErrorOf = (code: string, className: string) => Promise<string | undefined | null>;

/** Processes that a user may have beside a job: a limit above that was not set for the job. */
const MOST_OTHERS = 10_000;
const NOTHING_HIDDEN = { paths: [], hostName: '' };
const SYSTEM_FOLDERS = ['/', '/dev', '/etc', '/usr', '/var'];

/** Tries the sandboxes of a worker's zygotes: that attacks fail, and that renders don't. */
export class SandboxTrial {
  readonly #launcher: Launcher;
  readonly #limits: RenderLimits;
  readonly #workers: number;
  readonly #threads: ThreadCounters;
  readonly #folder: string;
  readonly #folders: string[];
  /** The reduced sandbox has been seen to let text, TeX and 3D through. */
  #tried = false;

  /** `folder`: the worker's own, in the work folder. */
  constructor(
    settings: {
      launcher: Launcher;
      limits: RenderLimits;
      workers: number;
      threads: ThreadCounters;
      workFolder: string;
    },
    folder: string,
  ) {
    this.#launcher = settings.launcher;
    this.#limits = settings.limits;
    this.#workers = settings.workers;
    this.#threads = settings.threads;
    this.#folder = folder;
    this.#folders = [settings.workFolder, folder];
  }

  /** Why a zygote must not render; undefined when its sandbox holds. Rejects when it can't be tried. */
  refusalOf(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    const tried = () => this.#refusalOf(sandbox, errorOf);
    return this.#countsWithOthers(sandbox) ? inTurn(this.#threads, tried) : tried();
  }

  /**
   * Without namespaces and without user ids of their own, the kernel counts the processes of all workers together: a
   * worker that tries how many there may be takes them from the others.
   */
  #countsWithOthers({ layers }: SandboxStatus): boolean {
    return this.#workers > 1 && this.#launcher.firstUid === undefined && !layers.includes('namespaces');
  }

  async #refusalOf(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    if (sandbox.level === 'none') return noSandbox(sandbox);
    const problem = await this.#attackSandbox(sandbox, errorOf);
    if (problem || hasAllWalls(sandbox) || this.#tried) return problem;
    const error = await errorOf(trialSceneCode(this.#launcher), 'Trial');
    this.#tried = error === null;
    return error === null ? undefined : trialProblem(error);
  }

  /** An ordinary job, with something to find for it. */
  async #attackSandbox(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    const secrets = this.#folders.map((folder) => join(folder, 'secret'));
    const marks = this.#folders.map((folder) => join(folder, 'mark'));
    // For everyone to read: it is the sandbox that must hide them, not their mode.
    for (const secret of secrets) await writeFile(secret, 'secret', { mode: 0o644 });
    const inside = [...SYSTEM_FOLDERS, ...studioMounts(this.#launcher).map(({ to }) => to)];
    const others = sandbox.layers.includes('namespaces') ? 0 : MOST_OTHERS;
    const launcher = this.#launcher;
    const targets = {
      // By the path that renderers have for it, too.
      secrets: [...secrets, seenInWork(launcher, this.#folder, join(this.#folder, 'secret'))],
      marks,
      folders: inside,
      processes: this.#processesToTry(sandbox),
      others,
      ...(hasAllWalls(sandbox) ? hiddenNames(launcher, this.#folder) : NOTHING_HIDDEN),
    };
    const error = await errorOf(selfAttackCode(this.#launcher, targets), 'Attack');
    const left = marks.filter((mark) => existsSync(mark));
    for (const file of [...secrets, ...marks]) await rm(file, { force: true });
    const problem = selfAttackProblem(error, left);
    if (!problem) Atomics.store(this.#threads, TRIED_TOGETHER, 1);
    return problem;
  }

  /** How many processes the self-attack tries to go beyond; 0: none, because others render that they would be taken from. */
  #processesToTry(sandbox: SandboxStatus): number {
    const mayTry = !this.#countsWithOthers(sandbox) || Atomics.load(this.#threads, TRIED_TOGETHER) === 0;
    return mayTry ? this.#limits.processes : 0;
  }
}
