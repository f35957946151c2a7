import { disagreementsOf } from '../cluster/disagreements.ts';
import {
  type Disagreement,
  MACHINE_DEAD_AFTER_MS,
  type Machine,
  type MachineOrders,
  type MachineReport,
  type MachineStore,
} from '../cluster/machine-store.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Clock } from '../time/clock.ts';
import { clockAheadMs } from './clock-ahead.ts';

const COLUMNS =
  'machine_id, name, roles, qualities, version, state, workers, busy_workers, warm_workers, settings, limits, ' +
  'clock_ahead_ms, works, started_at, seen_at';
/** Those that a report replaces. */
const REPLACED = COLUMNS.split(', ').filter((name) => name !== 'machine_id' && name !== 'started_at');
const REPORT = `INSERT INTO machines (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now(), now())
  ON CONFLICT (machine_id) DO UPDATE SET ${REPLACED.map((name) => `${name} = excluded.${name}`).join(', ')}`;

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;
const within = (forMs: number) => `seen_at > now() - interval '${forMs} milliseconds'`;
const LIST = `SELECT machine_id AS "machineId", name, roles, qualities, version, state, workers,
    busy_workers AS "busyWorkers", warm_workers AS "warmWorkers", coalesce(settings, '{}') AS settings,
    coalesce(limits, '{}') AS limits, clock_ahead_ms AS "clockAheadMs", ${ms('started_at')} AS "startedAtMs",
    ${ms('seen_at')} AS "seenAtMs", greatest(0, ${ms('now() - seen_at')}) AS "unseenForMs",
    ${ms('drain_requested_at')} AS "drainRequestedAtMs"
  FROM machines ORDER BY started_at, machine_id`;
/** Others count on a machine until it is dead. Before that, it compares itself with them again. */
const STILL_WORKS = `SELECT works AND ${within(MACHINE_DEAD_AFTER_MS / 2)} AS works FROM machines WHERE machine_id = ?`;
/** Machines of a version that reports no settings are not compared. */
const WORKING = `SELECT name, settings FROM machines
  WHERE works AND settings IS NOT NULL AND machine_id <> ? AND ${within(MACHINE_DEAD_AFTER_MS)} ORDER BY started_at`;

type Row = Omit<Machine, 'roles' | 'qualities' | 'settings' | 'limits'> & {
  roles: string;
  qualities: string | null;
  settings: string;
  limits: string;
};

/** The machines in Postgres. */
export class PostgresMachines implements MachineStore {
  readonly #database: SqlDatabase;
  readonly #clock: Clock;

  constructor(database: SqlDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  report(report: MachineReport): Promise<MachineOrders> {
    const { machineId, name, roles, qualities, version, state, workers, busyWorkers, warmWorkers } = report;
    return this.#database.transaction(async (tx) => {
      const aheadMs = await clockAheadMs(this.#clock, () => nowMs(tx));
      const disagreements = await compared(tx, report);
      const lists = [JSON.stringify(roles), qualities && JSON.stringify(qualities)];
      const settings = [JSON.stringify(report.settings), JSON.stringify(report.limits)];
      const counts = [workers, busyWorkers, warmWorkers];
      const works = String(disagreements.length === 0);
      await tx.run(REPORT, machineId, name, ...lists, version, state, ...counts, ...settings, aheadMs, works);
      const row = await tx.get<{ drains: boolean }>(
        'SELECT drain_requested_at IS NOT NULL AS drains FROM machines WHERE machine_id = ?',
        machineId,
      );
      return { mustDrain: row?.drains === true, clockAheadMs: aheadMs, disagreements };
    });
  }

  async list(): Promise<Machine[]> {
    const rows = await this.#database.all<Row>(LIST);
    return rows.map(({ roles, qualities, settings, limits, ...row }) => ({
      ...row,
      roles: JSON.parse(roles) as Machine['roles'],
      qualities: qualities === null ? null : (JSON.parse(qualities) as Machine['qualities']),
      settings: JSON.parse(settings) as Machine['settings'],
      limits: JSON.parse(limits) as Machine['limits'],
    }));
  }

  async requestDrain(machineId: string): Promise<boolean> {
    return this.#changes('UPDATE machines SET drain_requested_at = now() WHERE machine_id = ?', machineId);
  }

  async remove(machineId: string): Promise<boolean> {
    return this.#changes('DELETE FROM machines WHERE machine_id = ?', machineId);
  }

  async removeUnseen(unseenForMs: number): Promise<void> {
    await this.#changes(
      "DELETE FROM machines WHERE seen_at < now() - ?::double precision * interval '1 millisecond'",
      unseenForMs,
    );
  }

  async #changes(text: string, value: string | number): Promise<boolean> {
    return (await this.#database.transaction((tx) => tx.run(text, value))) > 0;
  }
}

async function nowMs(tx: SqlTransaction): Promise<number> {
  const row = await tx.get<{ now: number }>(`SELECT ${ms('clock_timestamp()')} AS now`);
  return row?.now ?? 0;
}

/** Compares a machine with those that work. Of two with different settings, only the first one may. */
async function compared(tx: SqlTransaction, { machineId, settings }: MachineReport): Promise<Disagreement[]> {
  const own = await tx.get<{ works: boolean }>(STILL_WORKS, machineId);
  if (own?.works) return [];
  await tx.lock('machines');
  const working = await tx.all<{ name: string; settings: string }>(WORKING, machineId);
  const parsed = working.map((machine) => ({
    name: machine.name,
    settings: JSON.parse(machine.settings) as Machine['settings'],
  }));
  return disagreementsOf(settings, parsed);
}
