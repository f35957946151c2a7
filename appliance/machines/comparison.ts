import type { Disagreement, MachineOrders } from '../../lib/internal.ts';
import type { Logger } from '../support/log.ts';
import { clockWarning, isClockWrong } from './clock.ts';
import { optionOf } from './settings.ts';

const NOT_COMPARED =
  'The settings of this process have not been compared with those of other machines, because the database has not answered. ' +
  'It is asked every five seconds; the process then continues by itself.';
const REMEDY =
  'Correct the setting, or the default, of this process and restart it. To change it on all machines, restart the others ' +
  'with the new value: this process continues when no machine with the former one is left.';
/** Not shown to everyone, as the health of a service is. */
const INTERNAL = ['webhooksAllowNetworks'];

/** What this process knows from its last report about how it differs from the database and from other machines. */
export class Comparison {
  readonly #logger: Logger;
  /** Undefined before the first report. */
  #orders: MachineOrders | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Why this process must not work; undefined: it may. */
  get heldBack(): string | undefined {
    if (!this.#orders) return NOT_COMPARED;
    const { disagreements } = this.#orders;
    return disagreements.length === 0 ? undefined : heldBackText(disagreements);
  }

  /** Conditions that will become problems. */
  get warnings(): string[] {
    const aheadMs = this.#orders?.clockAheadMs ?? null;
    return isClockWrong(aheadMs) ? [clockWarning(aheadMs)] : [];
  }

  note(orders: MachineOrders): void {
    const [before, warnings] = [this.heldBack, this.warnings];
    const wasHeldBack = this.#orders !== undefined && before !== undefined;
    this.#orders = orders;
    if (this.heldBack !== undefined && this.heldBack !== before)
      this.#logger.error({ disagreements: orders.disagreements }, this.heldBack);
    if (wasHeldBack && this.heldBack === undefined)
      this.#logger.info({}, 'No other machine has other settings any more: this process continues.');
    if (this.warnings.length > 0 && warnings.length === 0)
      this.#logger.warn({ clockAheadMs: orders.clockAheadMs }, this.warnings[0] ?? '');
    if (this.warnings.length === 0 && warnings.length > 0)
      this.#logger.info({ clockAheadMs: orders.clockAheadMs }, 'The clock of this machine is right again.');
  }
}

function heldBackText(disagreements: Disagreement[]): string {
  const differences = disagreements.map(({ name, own, others }) =>
    INTERNAL.includes(name)
      ? `${optionOf(name)} differs (the log has the values)`
      : `${optionOf(name)} is ${own} here, but ${others} on the machines that work`,
  );
  return `This process accepts and renders nothing, because it disagrees with others: ${differences.join('; ')}. ${REMEDY}`;
}
