import type { AuditReport } from '../ledger/ledger-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';

/** Bounds the memory of a report on a badly damaged ledger. */
const MOST_PROBLEMS = 1000;

/** A query for violations of an invariant, and the message for each row. */
interface Check<Row extends object> {
  text: string;
  problem: (row: Row) => string;
}

function check<Row extends object>(text: string, problem: (row: Row) => string): Check<object> {
  return { text, problem } as Check<object>;
}

interface Sums {
  owner: string;
  balance: number;
  changes: number;
  granted: number;
  expired: number;
  charged: number;
  held: number;
}

interface JobBooks {
  owner: string;
  job_id: string;
  kind: string;
  phase: string;
  state: string;
  cost: number;
  charged: number;
}

interface Ended {
  owner: string;
  job_id: string;
  reserved: number;
  charged: number;
  returned: number;
}

interface Counts {
  owner: string;
  waiting: number;
  ready: number;
  running: number;
}

const sumOf = (kind: string, column: string) => `sum(CASE WHEN kind = '${kind}' THEN ${column} ELSE 0 END)`;

const BOOKS: Check<object>[] = [
  check<Sums>(
    `SELECT * FROM (
       SELECT a.owner, coalesce(g.balance, 0) AS balance, coalesce(e.changes, 0) AS changes,
         coalesce(e.granted, 0) AS granted, coalesce(e.expired, 0) AS expired, coalesce(e.charged, 0) AS charged,
         coalesce(r.held, 0) AS held
       FROM ledger_accounts AS a
       LEFT JOIN (SELECT owner, sum(remaining_credits) AS balance FROM grants GROUP BY owner) AS g ON g.owner = a.owner
       LEFT JOIN (SELECT owner, sum(amount_credits) AS changes, ${sumOf('grant', 'amount_credits')} AS granted,
           -${sumOf('expiry', 'amount_credits')} AS expired, ${sumOf('settle', 'charged_credits')} AS charged
         FROM ledger_entries GROUP BY owner) AS e ON e.owner = a.owner
       LEFT JOIN (SELECT owner, sum(reserved_credits) AS held FROM reserves WHERE state = 'open' GROUP BY owner) AS r
         ON r.owner = a.owner
     ) AS sums
     WHERE balance <> changes OR balance <> granted - expired - charged - held`,
    ({ owner, balance, changes, granted, expired, charged, held }) =>
      balance === changes
        ? `${owner}: the balance is ${balance}, but ${granted} granted − ${expired} expired − ${charged} charged − ` +
          `${held} reserved is ${granted - expired - charged - held}`
        : `${owner}: the balance is ${balance}, but the entries add up to ${changes}`,
  ),
  check<JobBooks>(
    `SELECT e.owner, e.job_id, e.kind FROM ledger_entries AS e
     LEFT JOIN ledger_entries AS r ON r.job_id = e.job_id AND r.kind = 'reserve'
     WHERE (e.kind = 'settle' OR (e.kind = 'void' AND e.amount_credits <> 0))
       AND (r.job_id IS NULL OR r.owner <> e.owner)`,
    ({ owner, job_id, kind }) => `${owner}: job ${job_id} has an entry of the kind ${kind}, but no reserve`,
  ),
  check<Ended>(
    `SELECT owner, job_id, reserved_credits AS reserved, charged_credits AS charged, returned_credits AS returned
     FROM reserves WHERE state <> 'open' AND reserved_credits - charged_credits <> returned_credits`,
    ({ owner, job_id, reserved, charged, returned }) =>
      `${owner}: job ${job_id} reserved ${reserved} and was charged ${charged}, but ${returned} were returned`,
  ),
  check<JobBooks>(
    `SELECT j.owner, j.job_id FROM jobs AS j LEFT JOIN reserves AS r ON r.job_id = j.job_id
     WHERE r.job_id IS NULL AND j.reserve_credits > 0 AND j.phase <> 'reserving'`,
    ({ owner, job_id }) => `${owner}: job ${job_id} was never reserved`,
  ),
  check<JobBooks>(
    `SELECT r.owner, r.job_id, r.state FROM reserves AS r LEFT JOIN jobs AS j ON j.job_id = r.job_id
     LEFT JOIN snapshots AS s ON s.snapshot_id = r.job_id
     WHERE j.job_id IS NULL AND s.snapshot_id IS NULL AND r.state <> 'voided'`,
    ({ owner, job_id, state }) =>
      `${owner}: job ${job_id} is ${state} in the ledger, but there is no such job`,
  ),
  check<JobBooks>(
    `SELECT s.owner, s.snapshot_id AS job_id, s.phase, s.cost_credits AS cost, r.state, r.charged_credits AS charged
     FROM snapshots AS s JOIN reserves AS r ON r.job_id = s.snapshot_id
     WHERE r.owner <> s.owner OR (s.phase = 'drawing' AND r.state = 'settled')
       OR (s.phase IN ('kept', 'removed') AND (r.state <> 'settled' OR r.charged_credits <> s.cost_credits))`,
    ({ owner, job_id, phase, cost, state, charged }) =>
      `${owner}: snapshot ${job_id} is ${phase} and cost ${cost ?? 0}, but it is ${state} in the ledger, with ${charged} charged`,
  ),
  check<JobBooks>(
    `SELECT s.owner, s.snapshot_id AS job_id FROM snapshots AS s
     LEFT JOIN reserves AS r ON r.job_id = s.snapshot_id
     WHERE r.job_id IS NULL AND s.reserve_credits > 0 AND s.phase IN ('kept', 'removed')`,
    ({ owner, job_id }) => `${owner}: snapshot ${job_id} was never reserved`,
  ),
  check<JobBooks>(
    `SELECT j.owner, j.job_id, j.phase, r.state FROM jobs AS j JOIN reserves AS r ON r.job_id = j.job_id
     WHERE j.phase <> 'settling' AND r.state <>
       CASE j.phase WHEN 'completed' THEN 'settled' WHEN 'failed' THEN 'voided' ELSE 'open' END`,
    ({ owner, job_id, phase, state }) => `${owner}: job ${job_id} is ${phase}, but ${state} in the ledger`,
  ),
  check<JobBooks>(
    `SELECT j.owner, j.job_id, j.credits_cost AS cost, r.charged_credits AS charged
     FROM jobs AS j JOIN reserves AS r ON r.job_id = j.job_id
     WHERE j.phase = 'completed' AND r.state = 'settled' AND j.credits_cost <> r.charged_credits`,
    ({ owner, job_id, cost, charged }) =>
      `${owner}: job ${job_id} cost ${cost}, but the ledger charged ${charged}`,
  ),
];

const QUEUED = 'CASE WHEN worker IS NULL THEN 1 ELSE 0 END';
const READY = 'CASE WHEN worker IS NULL AND not_before_ms IS NULL THEN 1 ELSE 0 END';
const CLAIMED = 'CASE WHEN worker IS NULL THEN 0 ELSE 1 END';

const QUEUE: Check<object>[] = [
  check<JobBooks>(
    `SELECT j.owner, j.job_id, j.phase FROM jobs AS j LEFT JOIN queue AS q ON q.job_id = j.job_id
     WHERE j.phase IN ('queued', 'running') AND (q.job_id IS NULL OR q.owner <> j.owner
       OR (q.worker IS NULL) <> (j.phase = 'queued') OR (j.phase = 'running' AND coalesce(j.token, 0) <> q.token))`,
    ({ owner, job_id, phase }) => `${owner}: job ${job_id} is ${phase}, but not in the queue`,
  ),
  check<JobBooks>(
    `SELECT q.owner, q.job_id, coalesce(j.phase, 'gone') AS phase FROM queue AS q
     LEFT JOIN jobs AS j ON j.job_id = q.job_id WHERE j.phase IS NULL OR j.phase NOT IN ('queued', 'running')`,
    ({ owner, job_id, phase }) => `${owner}: job ${job_id} is ${phase}, but in the queue`,
  ),
  check<Counts>(
    `SELECT owner, sum(waiting) AS waiting, sum(ready) AS ready, sum(running) AS running FROM (
       SELECT owner, waiting, ready, running FROM turns
       UNION ALL SELECT owner, -(${QUEUED}), -(${READY}), -(${CLAIMED}) FROM queue) AS counts
     GROUP BY owner HAVING sum(waiting) <> 0 OR sum(ready) <> 0 OR sum(running) <> 0`,
    ({ owner, waiting, ready, running }) =>
      `${owner}: the queue counts ${waiting} waiting, ${ready} startable and ${running} running jobs too many`,
  ),
];

/** Each query sees one consistent snapshot of the database. */
const CHECKS: Check<object>[] = [...BOOKS, ...QUEUE];

/** Finds violations of the invariants of the queue. `all` runs a query. */
export function queueProblems(all: (text: string) => object[]): string[] {
  return QUEUE.flatMap(({ text, problem }) => all(`${text} LIMIT ${MOST_PROBLEMS}`).map(problem));
}

/** Finds violations of the invariants of ledger and queue, without blocking other work. `signal` ends it between two queries. */
export async function auditBooks(
  database: SqlDatabase,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<AuditReport> {
  const problems: string[] = [];
  for (const { text, problem } of CHECKS) {
    signal?.throwIfAborted();
    const rows = await database.queryInBackground(`${text} LIMIT ${MOST_PROBLEMS}`);
    problems.push(...rows.map(problem));
  }
  const [counts] = await database.queryInBackground<Omit<AuditReport, 'problems'>>(
    `SELECT (SELECT count(*) FROM ledger_accounts) AS accounts, (SELECT count(*) FROM ledger_entries) AS entries,
       (SELECT count(*) FROM ledger_entries WHERE kind = 'reserve') AS jobs`,
  );
  const { accounts = 0, entries = 0, jobs = 0 } = counts ?? {};
  return { accounts, entries, jobs, problems: problems.slice(0, MOST_PROBLEMS) };
}
