import { setTimeout as delay } from 'node:timers/promises';
import type { GrantPart, JobBooks, LedgerAccount, LedgerEntry, LedgerStore } from './ledger-store.ts';

/** What an audit looked at, and what doesn't add up: nothing, if all is well. */
export interface AuditReport {
  accounts: number;
  entries: number;
  jobs: number;
  /** One sentence each, naming owner or job. */
  problems: string[];
}

/** How long it works before it lets the service work for as long. */
const SPELL_MS = 5;
/** Books that are thoroughly wrong don't fill the memory with complaints. */
const MOST_PROBLEMS = 1000;

/** What the entries and reserves of an owner add up to. */
interface Sums {
  account: LedgerAccount | undefined;
  granted: number;
  expired: number;
  charged: number;
  held: number;
  changes: number;
  /** Months whose free credits were granted. */
  periods: Set<string>;
}

/**
 * Recomputes every balance from all entries and compares the ledger with the jobs, all as of one moment, while the
 * service goes on. It takes as much memory as there are accounts, however many jobs they have had.
 */
export async function audit(store: LedgerStore): Promise<AuditReport> {
  const report: AuditReport = { accounts: 0, entries: 0, jobs: 0, problems: [] };
  const owners = new Map<string, Sums>();
  const complain = (owner: string, problem: string) => {
    if (report.problems.length < MOST_PROBLEMS) report.problems.push(`${owner}: ${problem}`);
  };
  const sumsOf = (owner: string): Sums => {
    const sums = owners.get(owner) ?? emptySums();
    owners.set(owner, sums);
    return sums;
  };

  let since = performance.now();
  for await (const piece of store.readBooks()) {
    const spellMs = performance.now() - since;
    if (spellMs > SPELL_MS) {
      await delay(spellMs);
      since = performance.now();
    }
    if ('account' in piece) {
      report.accounts += 1;
      sumsOf(piece.account.owner).account = piece.account;
      continue;
    }
    const { job, reserve, entries } = piece;
    report.entries += entries.length;
    if (reserve) {
      report.jobs += 1;
      if (reserve.state === 'open') sumsOf(reserve.owner).held += total(reserve.parts);
    }
    for (const entry of entries) {
      for (const problem of enter(entry, sumsOf(entry.owner))) complain(entry.owner, problem);
    }
    const owner = reserve?.owner ?? job?.owner ?? entries[0]?.owner ?? '';
    for (const problem of jobProblems(piece)) complain(owner, problem);
  }
  for (const [owner, sums] of owners) for (const problem of balanceProblems(sums)) complain(owner, problem);
  return report;
}

function emptySums(): Sums {
  const none = { granted: 0, expired: 0, charged: 0, held: 0, changes: 0 };
  return { account: undefined, ...none, periods: new Set() };
}

function* enter(entry: LedgerEntry, sums: Sums): Generator<string> {
  sums.changes += entry.amountCredits;
  if (entry.kind === 'expiry') sums.expired -= entry.amountCredits;
  if (entry.kind === 'settle') sums.charged += entry.chargedCredits;
  if (entry.kind !== 'grant') return;
  sums.granted += entry.amountCredits;
  for (const { period } of entry.parts) {
    if (period === null) continue;
    if (sums.periods.has(period)) yield `the free credits of ${period} were granted more than once`;
    sums.periods.add(period);
  }
}

/** grants − expiries − charges − open reserves = balance; never negative. */
function* balanceProblems({ account, granted, expired, charged, held, changes }: Sums): Generator<string> {
  if (!account) {
    yield 'there are entries, but no account';
    return;
  }
  const balance = account.grants.reduce((sum, grant) => sum + grant.remainingCredits, 0);
  if (account.grants.some((grant) => grant.remainingCredits < 0)) yield 'a grant is negative';
  const expected = granted - expired - charged - held;
  if (balance !== expected) {
    yield `the balance is ${balance}, but ${granted} granted − ${expired} expired − ${charged} charged − ` +
      `${held} reserved is ${expected}`;
  }
  if (balance !== changes) yield `the balance is ${balance}, but the entries add up to ${changes}`;
}

function* jobProblems(books: JobBooks): Generator<string> {
  const { jobId, job, reserve, entries } = books;
  if (jobId === null) return;
  // In the order of the alphabet, which is that of a job's life; a clock that goes back can mix up the entries' own.
  const kinds = entries
    .map(({ kind }) => kind)
    .sort()
    .join(', ');
  if (!reserve) {
    if (entries.length > 0) yield `job ${jobId} has the entries [${kinds}] but no reserve`;
    if (job && job.reserveCredits > 0 && job.phase !== 'reserving') yield `job ${jobId} was never reserved`;
    return;
  }
  // A reserve has its entries: one `reserve`, and one `settle` or `void` once it is no longer open.
  const { state, parts, chargedCredits } = reserve;
  const end = { open: '', settled: ', settle', voided: ', void' }[state];
  const expected = state === 'voided' && parts.length === 0 ? '' : `reserve${end}`;
  if (kinds !== expected) yield `job ${jobId} is ${state} with the entries [${kinds}]`;
  if (entries.some(({ owner }) => owner !== reserve.owner))
    yield `job ${jobId} has entries of another account`;

  // And the ledger says the same as the job of how it ended.
  if (!job) {
    if (state !== 'voided') yield `job ${jobId} is ${state} in the ledger, but there is no such job`;
    return;
  }
  const expectedState = job.phase === 'completed' ? 'settled' : job.phase === 'failed' ? 'voided' : 'open';
  if (state !== expectedState && job.phase !== 'settling') {
    yield `job ${jobId} is ${job.phase}, but ${state} in the ledger`;
  } else if (job.phase === 'completed' && job.creditsCost !== chargedCredits) {
    yield `job ${jobId} cost ${job.creditsCost}, but the ledger charged ${chargedCredits}`;
  }
}

function total(parts: GrantPart[]): number {
  return parts.reduce((sum, part) => sum + part.amountCredits, 0);
}
