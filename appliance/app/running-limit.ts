import { availableParallelism } from 'node:os';
import type { Accounts, Clock } from '../../lib/index.ts';
import { MACHINE_DEAD_AFTER_MS, type Machine, type MachineStore } from '../../lib/internal.ts';
import { FIRST_ACCOUNT } from '../admin/first-account.ts';

/** How long a limit is used again. */
const FRESH_MS = 10_000;
/** The name, in a machine's report, of whether there are several accounts. */
const ACCOUNTS = 'enabledAccounts';

/**
 * How many scenes of an account are rendered at the same time unless it is configured: if more than one account is
 * enabled, one less than there are workers on all machines, so that no account has all of them; else all. The account of
 * the first start counts once somebody has claimed it. A process that need not be permitted to read accounts, as it does
 * not have the role `api`, takes it from the reports of those that do.
 */
export class RunningLimit {
  readonly #accounts: Pick<Accounts, 'all'> | undefined;
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
    /** Undefined: told by the machines. */
    accounts: Pick<Accounts, 'all'> | undefined;
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
    const alive = await this.#alive();
    const hasSeveral = this.#accounts ? await hasSeveralAccounts(this.#accounts) : areSeveralReported(alive);
    if (!hasSeveral) return Number.POSITIVE_INFINITY;
    const workers = alive.reduce((sum, machine) => sum + machine.workers, 0);
    // Before its first report, this one is not among them.
    const most = Math.max(1, Math.max(workers, this.#ownWorkers) - 1);
    this.#known = { most, untilMs: nowMs + FRESH_MS };
    return most;
  };

  /** This machine and others. */
  async #alive(): Promise<Machine[]> {
    const machines = (await this.#machines?.list()) ?? [];
    return machines.filter(({ unseenForMs }) => unseenForMs <= MACHINE_DEAD_AFTER_MS);
  }
}

/** What a machine with the role `api` reports for those that may not read accounts. */
export async function accountsReport(accounts: Pick<Accounts, 'all'>): Promise<Record<string, string>> {
  return { [ACCOUNTS]: (await hasSeveralAccounts(accounts)) ? 'several' : 'one' };
}

/** Without a report there may be several. */
function areSeveralReported(machines: Machine[]): boolean {
  const reports = machines.map(({ limits }) => limits[ACCOUNTS]).filter((report) => report !== undefined);
  return reports.length === 0 || reports.includes('several');
}

async function hasSeveralAccounts(accounts: Pick<Accounts, 'all'>): Promise<boolean> {
  let enabled = 0;
  for await (const { disabledAtMs, email } of accounts.all()) {
    if (disabledAtMs === undefined && email !== FIRST_ACCOUNT) enabled += 1;
    if (enabled > 1) return true;
  }
  return false;
}
