import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { TEX_PACK, texPackIn } from '../end/collect.ts';
import { discardFolder } from '../end/remove-folder.ts';
import type { EndReason, Forks, Occupied } from '../run/forks.ts';
import type { RenderLimits } from '../run/limits.ts';
import { jobLimits } from '../run/limits.ts';
import type { Zygote } from '../start/zygote.ts';
import { NEW_SUFFIX, type TexLease } from './tex-cache.ts';

/** Time-out of the fork, which ends earlier unless the machine is very busy. */
const TIMEOUT_MS = 60_000;

/** What this uses of a zygote's forks. */
type FillForks = Pick<Forks, 'makeFolder' | 'run'>;

interface Options {
  forks: FillForks;
  limits: RenderLimits;
  clock: Clock;
  /** A folder of the worker. */
  folder: string;
  /** Distinguishes the files of workers. */
  index: number;
  onPack: (lease: TexLease, newPath: string) => void;
  onLog: (line: string) => void;
}

/**
 * Recompiles the formulas of a render while its worker is idle, for the owner's later renders, in a fork without
 * scene code. The next task ends it: those formulas are then set again, and may be kept later.
 */
export class TexFill {
  readonly #options: Options;
  #occupied: Occupied | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Puts the pack of a lease into the folder of a job that reads it. */
  static async give({ path }: TexLease, jobFolder: string): Promise<void> {
    const copy = join(jobFolder, TEX_PACK);
    try {
      // A copy, because on some sandbox levels a scene could change the file.
      await copyFile(path, copy);
      await chmod(copy, 0o444);
    } catch {
      // Missing before the first formula. An incomplete copy, on a full disk, has a wrong checksum.
    }
  }

  /** Begins to compile `documents`, which a scene claims to have compiled. */
  begin(zygote: Zygote, lease: TexLease, documents: string[]): void {
    const occupied: Occupied = { zygote, background: false, endReason: undefined };
    this.#occupied = occupied;
    this.#done = this.#run(occupied, lease, documents)
      .catch((error: Error) => this.#options.onLog(`Formulas were not kept: ${error.message}`))
      .finally(() => {
        this.#occupied = undefined;
      });
  }

  /** Ends it, also before it has a fork; resolves when its zygote is free. */
  async end(): Promise<void> {
    if (this.#occupied) TexFill.#stop(this.#occupied, 'shutdown');
    await this.#done;
  }

  static #stop(occupied: Occupied, reason: EndReason): void {
    occupied.endReason ??= reason;
    occupied.zygote.killJob();
  }

  async #run(occupied: Occupied, lease: TexLease, documents: string[]): Promise<void> {
    const { forks, limits, clock, folder, index, onPack, onLog } = this.#options;
    const timer = clock.after(TIMEOUT_MS, () => TexFill.#stop(occupied, 'timeout'));
    try {
      forks.makeFolder(folder);
      await TexFill.give(lease, folder);
      if (occupied.endReason) return;
      const job = { kind: 'tex', documents, limits: jobLimits(limits) } as const;
      const { end } = await forks.run(occupied, folder, job, () => {});
      const made = end.exitCode === 0 ? await texPackIn(folder) : undefined;
      if (made === undefined) return;
      const newPath = `${lease.path}.${process.pid}-${index}${NEW_SUFFIX}`;
      await copyFile(made, newPath);
      onPack(lease, newPath);
    } finally {
      timer.cancel();
      await discardFolder(folder, onLog);
    }
  }
}
