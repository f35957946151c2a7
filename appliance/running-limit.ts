import { availableParallelism } from 'node:os';
import { type Accounts, type Clock, MACHINE_DEAD_AFTER_MS, type MachineStore } from '../lib/index.ts';
import { FIRST_ACCOUNT } from './first-account.ts';

/** How long a limit is used again. */
const FRESH_MS = 10_000;

/**
 * How many scenes of an account are rendered at the same time unless it is configured: if more than one account is
 * enabled, one less than there are workers on all machines, so that no account has all of them; else all. The account of
 * the first start counts once somebody has claimed it.
 */
export class RunningLimit {
  readonly #accounts: Accounts;
  readonly #machines: MachineStore | undefined;
  readonly #ownWorkers: number;
  readonly #clock: Clock;
  #known: { most: number; untilMs: number } | undefined;

  /** `workers`: of this process; default: one per core. */
  constructor({
    accounts,
    machines,
    workers,
    clock,
  }: {
    accounts: Accounts;
    machines: MachineStore | undefined;
    workers: number | undefined;
    clock: Clock;
  }) {
    this.#accounts = accounts;
    this.#machines = machines;
    this.#ownWorkers = workers ?? availableParallelism();
    this.#clock = clock;
  }

  /** At most ten seconds old; of a single account always up to date. */
  readonly most = async (): Promise<number> => {
    const nowMs = this.#clock.uptimeMs();
    if (this.#known && nowMs < this.#known.untilMs) return this.#known.most;
    if (!(await this.#hasSeveralAccounts())) return Number.POSITIVE_INFINITY;
    const most = Math.max(1, (await this.#workers()) - 1);
    this.#known = { most, untilMs: nowMs + FRESH_MS };
    return most;
  };

  async #hasSeveralAccounts(): Promise<boolean> {
    let enabled = 0;
    for await (const { disabledAtMs, email } of this.#accounts.all()) {
      if (disabledAtMs === undefined && email !== FIRST_ACCOUNT) enabled += 1;
      if (enabled > 1) return true;
    }
    return false;
  }

  /** Of this machine and of others that are alive. */
  async #workers(): Promise<number> {
    const machines = (await this.#machines?.list()) ?? [];
    const alive = machines.filter(({ unseenForMs }) => unseenForMs <= MACHINE_DEAD_AFTER_MS);
    const workers = alive.reduce((sum, machine) => sum + machine.workers, 0);
    // Before its first report, this one is not among them.
    return Math.max(workers, this.#ownWorkers);
  }
}
