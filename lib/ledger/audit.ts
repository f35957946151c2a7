import type { JobRecord } from '../jobs/job.ts';
import type { Transaction } from '../storage/storage.ts';
import type { GrantPart, LedgerEntry, LedgerStore, OwnerBooks, Reserve } from './ledger-store.ts';

/** What an audit looked at, and what doesn't add up: nothing, if all is well. */
export interface AuditReport {
  accounts: number;
  entries: number;
  jobs: number;
  /** One sentence each, naming owner or job. */
  problems: string[];
}

const PAGE = 1000;

/**
 * Recomputes every balance from its entries and compares the ledger with the jobs.
 *
 * It reads while the service runs; what seems wrong is looked at again inside a transaction, when nothing moves,
 * before it counts as a problem.
 */
export async function audit(store: LedgerStore): Promise<AuditReport> {
  const report: AuditReport = { accounts: 0, entries: 0, jobs: 0, problems: [] };
  for (const owner of await store.listOwners()) {
    const books = await store.readBooks(owner);
    if (!books) continue;
    report.accounts += 1;
    report.entries += books.entries.length;
    report.jobs += books.reserves.length;
    if ((await problemsOf(store, books)).length === 0) continue;
    const problems = await store.storage.transaction(async (tx) => {
      const again = await store.readBooks(owner, tx);
      return again ? problemsOf(store, again, tx) : ['the books have disappeared'];
    });
    report.problems.push(...problems.map((problem) => `${owner}: ${problem}`));
  }
  return report;
}

async function problemsOf(store: LedgerStore, books: OwnerBooks, tx?: Transaction): Promise<string[]> {
  const problems = [...balanceProblems(books), ...reserveProblems(books)];
  const reserved = new Set(books.reserves.map(({ jobId }) => jobId));
  for (const reserve of books.reserves) {
    const problem = jobProblem(reserve, await store.storage.getJob(reserve.jobId, tx));
    if (problem) problems.push(problem);
  }
  for await (const job of jobsOf(store, books.account.owner)) {
    if (job.reserveCredits > 0 && !reserved.has(job.jobId))
      problems.push(`job ${job.jobId} was never reserved`);
  }
  return problems;
}

/** grants − expiries − charges − open reserves = balance; never negative. */
function* balanceProblems({ account, entries, reserves }: OwnerBooks): Generator<string> {
  const balance = account.grants.reduce((sum, grant) => sum + grant.remainingCredits, 0);
  if (account.grants.some((grant) => grant.remainingCredits < 0)) yield 'a grant is negative';

  const sumOf = (kind: LedgerEntry['kind'], amount: (entry: LedgerEntry) => number) =>
    entries.reduce((sum, entry) => sum + (entry.kind === kind ? amount(entry) : 0), 0);
  const granted = sumOf('grant', (entry) => entry.amountCredits);
  const expired = -sumOf('expiry', (entry) => entry.amountCredits);
  const charged = sumOf('settle', (entry) => entry.chargedCredits);
  const held = reserves.reduce((sum, { state, parts }) => sum + (state === 'open' ? total(parts) : 0), 0);
  const expected = granted - expired - charged - held;
  if (balance !== expected) {
    yield `the balance is ${balance}, but ${granted} granted − ${expired} expired − ${charged} charged − ` +
      `${held} reserved is ${expected}`;
  }
  const changes = entries.reduce((sum, entry) => sum + entry.amountCredits, 0);
  if (balance !== changes) yield `the balance is ${balance}, but the entries add up to ${changes}`;

  const granting = new Set<string>();
  for (const { period } of entries.filter(({ kind }) => kind === 'grant').flatMap(({ parts }) => parts)) {
    if (period === null) continue;
    if (granting.has(period)) yield `the free credits of ${period} were granted more than once`;
    granting.add(period);
  }
}

/** A reserve has its entries: one `reserve`, and one `settle` or `void` once it is no longer open. */
function* reserveProblems({ entries, reserves }: OwnerBooks): Generator<string> {
  const kindsByJob = new Map<string, string[]>();
  for (const { jobId, kind } of entries) {
    if (jobId !== null) kindsByJob.set(jobId, [...(kindsByJob.get(jobId) ?? []), kind]);
  }
  for (const { jobId, state, parts } of reserves) {
    const kinds = kindsByJob.get(jobId)?.join(', ') ?? '';
    const end = { open: '', settled: ', settle', voided: ', void' }[state];
    const expected = state === 'voided' && parts.length === 0 ? '' : `reserve${end}`;
    if (kinds !== expected) yield `job ${jobId} is ${state} with the entries [${kinds}]`;
    kindsByJob.delete(jobId);
  }
  for (const [jobId, kinds] of kindsByJob) yield `job ${jobId} has the entries [${kinds}] but no reserve`;
}

/** The ledger and the job say the same of how it ended. */
function jobProblem(
  { jobId, state, chargedCredits }: Reserve,
  job: JobRecord | undefined,
): string | undefined {
  if (!job)
    return state === 'voided'
      ? undefined
      : `job ${jobId} is ${state} in the ledger, but there is no such job`;
  const expected = job.phase === 'completed' ? 'settled' : job.phase === 'failed' ? 'voided' : 'open';
  if (state !== expected && job.phase !== 'settling')
    return `job ${jobId} is ${job.phase}, but ${state} in the ledger`;
  if (job.phase === 'completed' && job.creditsCost !== chargedCredits) {
    return `job ${jobId} cost ${job.creditsCost}, but the ledger charged ${chargedCredits}`;
  }
  return undefined;
}

async function* jobsOf({ storage }: LedgerStore, owner: string): AsyncGenerator<JobRecord> {
  for (let before: string | undefined; ; ) {
    const page = await storage.listJobs({ owner, limit: PAGE, ...(before !== undefined && { before }) });
    yield* page;
    before = page.at(-1)?.jobId;
    if (before === undefined) return;
  }
}

function total(parts: GrantPart[]): number {
  return parts.reduce((sum, part) => sum + part.amountCredits, 0);
}
