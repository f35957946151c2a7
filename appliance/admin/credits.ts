import {
  type Accounts,
  type Balance,
  type RenderService,
  StoredLedger,
  type UnmeteredLedger,
} from '../../lib/index.ts';
import { type AuditReport, type Charges, isoTime, ScenepressError, systemClock } from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { amount, check, days, idempotencyKey, listLimit } from './administration-requests.ts';
import {
  type DaySpending,
  type HistoryLine,
  historyLine,
  type Prices,
  type StatementLine,
  statementLine,
} from './administration-views.ts';

const STATEMENT_LINES = 1000;
const DAY_MS = 86_400_000;

/** Credits of accounts, and the books. Requests and answers are plain data. */
export class CreditAdministration {
  readonly #accounts: Accounts;
  readonly #ledger: StoredLedger | UnmeteredLedger;

  readonly #prices: Prices | undefined;
  readonly #service: RenderService;

  constructor({
    accounts,
    ledger,
    prices,
    service,
  }: Pick<AdministrationParts, 'accounts' | 'ledger' | 'prices' | 'service'>) {
    this.#service = service;
    this.#prices = prices;
    this.#accounts = accounts;
    this.#ledger = ledger;
  }

  /** Adds credits; only once for the same `idempotencyKey`. */
  async grant(request: {
    account: string;
    paid: number;
    idempotencyKey?: string | undefined;
  }): Promise<Balance> {
    const { ledger, accountId, paid, options } = await this.#granted(request);
    return ledger.grantPaid(accountId, paid, options);
  }

  /** Takes back paid credits, such as those of a grant by mistake; only once for the same `idempotencyKey`. */
  async takeBack(request: {
    account: string;
    paid: number;
    idempotencyKey?: string | undefined;
  }): Promise<Balance> {
    const { ledger, accountId, paid, options } = await this.#granted(request);
    return ledger.takeBack(accountId, paid, options);
  }

  /** Errors: `invalid_request`, `not_found`. */
  async #granted(request: { account: string; paid: number; idempotencyKey?: string | undefined }) {
    if (!(this.#ledger instanceof StoredLedger)) {
      throw new ScenepressError('invalid_request', 'Renders are free here: the credits mode is "unmetered".');
    }
    const paid = check(amount, request.paid);
    const key = check(idempotencyKey, request.idempotencyKey);
    const { accountId } = await this.#accounts.find(request.account);
    const options = key === undefined ? {} : { idempotencyKey: key };
    return { ledger: this.#ledger, accountId, paid, options };
  }

  async balance(request: { account: string }): Promise<Balance> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    return this.#ledger.balance(accountId);
  }

  /** The account's history, newest first. `before`: the last entry of the previous page. */
  async statement(request: {
    account: string;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<StatementLine[]> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    if (!(this.#ledger instanceof StoredLedger)) return [];
    const limit = request.limit === undefined ? STATEMENT_LINES : check(listLimit, request.limit);
    const { before } = request;
    const entries = await this.#ledger.statement(accountId, {
      limit,
      ...(before !== undefined && { before }),
    });
    return entries.map(statementLine);
  }

  /** The account's history with one line a job, newest first. `before`: the last line of the previous page. */
  async history(request: {
    account: string;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<HistoryLine[]> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    if (!(this.#ledger instanceof StoredLedger)) return [];
    const limit = check(listLimit, request.limit);
    const { before } = request;
    const query = { limit, ...(before !== undefined && { before }), foldsJobs: true };
    const entries = await this.#ledger.statement(accountId, query);
    return Promise.all(
      entries.map(async (entry) => {
        const { jobId } = entry;
        // An entry may name a job whose request was never stored.
        const job = jobId === null ? null : await this.#service.get(jobId).catch(() => null);
        return historyLine(entry, job);
      }),
    );
  }

  /** The charges of the account on each of the last days (UTC), today included; oldest first. */
  async spending(request: { account: string; days?: number | undefined }): Promise<DaySpending[]> {
    const { accountId } = await this.#accounts.find(request.account, { deleted: true });
    const count = check(days, request.days);
    const todayMs = Math.floor(systemClock.now() / DAY_MS) * DAY_MS;
    const firstMs = todayMs - (count - 1) * DAY_MS;
    const spending: DaySpending[] = [];
    for (let fromMs = firstMs; fromMs <= todayMs; fromMs += DAY_MS) {
      const charges = await this.#chargesOf(accountId, { fromMs, untilMs: fromMs + DAY_MS });
      spending.push({ day: isoTime(fromMs).slice(0, 10), ...charges });
    }
    return spending;
  }

  async #chargesOf(accountId: string, period: { fromMs: number; untilMs: number }): Promise<Charges> {
    if (this.#ledger instanceof StoredLedger) return this.#ledger.charges(accountId, period);
    return { chargedCredits: 0, renders: 0 };
  }

  /** The prices of renders; null in unmetered mode. */
  async showPrices(): Promise<Prices | null> {
    return this.#prices ?? null;
  }

  /** Recomputes every balance. Errors: `invalid_request` in unmetered mode, which has no books. */
  async audit(): Promise<AuditReport> {
    if (this.#ledger instanceof StoredLedger) return this.#ledger.audit();
    throw new ScenepressError('invalid_request', 'Renders are free here: the credits mode is "unmetered".');
  }
}
