import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenderLimits } from '../../model/limits.ts';
import type { Clock } from '../../time/clock.ts';
import { inTurn, type ThreadCounters, TRIED_TOGETHER } from '../counters/thread-counters.ts';
import { hiddenNames, type Launcher, materialMounts, seenInWork } from '../start/launcher.ts';
import { selfAttackCode, trialSceneCode } from './own-scenes.ts';
import { noSandbox, type SandboxRefused, selfAttackProblem, trialProblem } from './sandbox-refused.ts';
import { hasAllLayers, type SandboxStatus } from './sandbox-status.ts';

/**
 * Runs a small render of the service's own. Returns its error, null when it succeeded, undefined without a verdict.
 */
export type ErrorOf = (code: string, className: string) => Promise<string | undefined | null>;

/** Assumed maximum of a user's other processes; a higher limit was not set for the job. */
const MOST_OTHERS = 10_000;
const NOTHING_HIDDEN = { paths: [], hostName: '' };
const SYSTEM_FOLDERS = ['/', '/dev', '/etc', '/usr', '/var'];

/** Tests the sandboxes of a worker's zygotes: attacks must fail, and renders must succeed. */
export class SandboxTrial {
  readonly #launcher: Launcher;
  readonly #limits: RenderLimits;
  readonly #workers: number;
  readonly #threads: ThreadCounters;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #folders: string[];
  /** Whether text, TeX and 3D have been rendered in the reduced sandbox. */
  #tried = false;

  /** `folder`: the worker's folder, in the work folder. */
  constructor(
    settings: {
      launcher: Launcher;
      limits: RenderLimits;
      workers: number;
      threads: ThreadCounters;
      workFolder: string;
      clock: Clock;
    },
    folder: string,
  ) {
    this.#launcher = settings.launcher;
    this.#limits = settings.limits;
    this.#workers = settings.workers;
    this.#threads = settings.threads;
    this.#clock = settings.clock;
    this.#folder = folder;
    this.#folders = [settings.workFolder, folder];
  }

  /** Why a zygote must not render; undefined when its sandbox passes. Rejects when the test cannot run. */
  refusalOf(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    const tried = () => this.#refusalOf(sandbox, errorOf);
    return this.#countsWithOthers(sandbox) ? inTurn(this.#threads, this.#clock, tried) : tried();
  }

  /**
   * Without namespaces or separate user ids, the kernel counts the processes of all workers together: a worker that
   * tests the process limit takes processes from the others.
   */
  #countsWithOthers({ layers }: SandboxStatus): boolean {
    return this.#workers > 1 && this.#launcher.firstUid === undefined && !layers.includes('namespaces');
  }

  async #refusalOf(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    if (sandbox.level === 'none') return noSandbox(sandbox);
    const problem = await this.#attackSandbox(sandbox, errorOf);
    if (problem || hasAllLayers(sandbox) || this.#tried) return problem;
    const error = await errorOf(trialSceneCode(this.#launcher), 'Trial');
    this.#tried = error === null;
    return error === null ? undefined : trialProblem(error);
  }

  /** Runs the attack as an ordinary job, with secrets to find. */
  async #attackSandbox(sandbox: SandboxStatus, errorOf: ErrorOf): Promise<SandboxRefused | undefined> {
    const secrets = this.#folders.map((folder) => join(folder, 'secret'));
    const marks = this.#folders.map((folder) => join(folder, 'mark'));
    // World-readable, because the sandbox must hide them, not their mode.
    for (const secret of secrets) await writeFile(secret, 'secret', { mode: 0o644 });
    const inside = [...SYSTEM_FOLDERS, ...materialMounts(this.#launcher).map(({ to }) => to)];
    const others = sandbox.layers.includes('namespaces') ? 0 : MOST_OTHERS;
    const launcher = this.#launcher;
    const targets = {
      // Also by its path inside the sandbox.
      secrets: [...secrets, seenInWork(launcher, this.#folder, join(this.#folder, 'secret'))],
      marks,
      folders: inside,
      processes: this.#processesToTry(sandbox),
      others,
      ...(hasAllLayers(sandbox) ? hiddenNames(launcher, this.#folder) : NOTHING_HIDDEN),
    };
    const error = await errorOf(selfAttackCode(this.#launcher, targets), 'Attack');
    const left = marks.filter((mark) => existsSync(mark));
    for (const file of [...secrets, ...marks]) await rm(file, { force: true });
    const problem = selfAttackProblem(error, left);
    if (!problem) Atomics.store(this.#threads, TRIED_TOGETHER, 1);
    return problem;
  }

  /**
   * The process limit that the attack tries to exceed; 0: not tested, because it would disturb other workers'
   * renders.
   */
  #processesToTry(sandbox: SandboxStatus): number {
    const mayTry = !this.#countsWithOthers(sandbox) || Atomics.load(this.#threads, TRIED_TOGETHER) === 0;
    return mayTry ? this.#limits.processes : 0;
  }
}
