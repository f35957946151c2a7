import {
  type Accounts,
  type AuditReport,
  type Balance,
  isoTime,
  ScenepressError,
  StoredLedger,
  type UnmeteredLedger,
} from '../../lib/index.ts';
import type { AdministrationParts } from './administration.ts';
import { amount, check, idempotencyKey } from './administration-requests.ts';
import type { StatementLine } from './administration-views.ts';

const STATEMENT_LINES = 1000;

/** Credits of accounts, and the books. Requests and answers are plain data. */
export class CreditAdministration {
  readonly #accounts: Accounts;
  readonly #ledger: StoredLedger | UnmeteredLedger;

  constructor({ accounts, ledger }: Pick<AdministrationParts, 'accounts' | 'ledger'>) {
    this.#accounts = accounts;
    this.#ledger = ledger;
  }

  /** Adds credits; only once for the same `idempotencyKey`. */
  async grant(request: {
    account: string;
    paid: number;
    idempotencyKey?: string | undefined;
  }): Promise<Balance> {
    if (!(this.#ledger instanceof StoredLedger)) {
      throw new ScenepressError('invalid_request', 'Renders are free here: the credits mode is "unmetered".');
    }
    const paid = check(amount, request.paid);
    const key = check(idempotencyKey, request.idempotencyKey);
    const { accountId } = await this.#accounts.find(request.account);
    return this.#ledger.grantPaid(accountId, paid, key === undefined ? {} : { idempotencyKey: key });
  }

  async balance(request: { account: string }): Promise<Balance> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    return this.#ledger.balance(accountId);
  }

  /** The account's history, newest first. */
  async statement(request: { account: string }): Promise<StatementLine[]> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    if (!(this.#ledger instanceof StoredLedger)) return [];
    const entries = await this.#ledger.statement(accountId, { limit: STATEMENT_LINES });
    return entries.map(({ kind, amountCredits, jobId, note, atMs }) => ({
      at: isoTime(atMs),
      kind,
      amountCredits,
      jobId,
      note,
    }));
  }

  /** Recomputes every balance. Errors: `invalid_request` in unmetered mode, which has no books. */
  async audit(): Promise<AuditReport> {
    if (this.#ledger instanceof StoredLedger) return this.#ledger.audit();
    throw new ScenepressError('invalid_request', 'Renders are free here: the credits mode is "unmetered".');
  }
}
