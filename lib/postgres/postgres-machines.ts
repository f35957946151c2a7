import type { Machine, MachineReport, MachineStore } from '../machines/machine-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';

const COLUMNS =
  'machine_id, name, roles, qualities, version, state, workers, busy_workers, warm_workers, started_at, seen_at';
/** Those that a report replaces. */
const REPLACED = COLUMNS.split(', ').filter((name) => name !== 'machine_id' && name !== 'started_at');
const REPORT = `INSERT INTO machines (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, now(), now())
  ON CONFLICT (machine_id) DO UPDATE SET ${REPLACED.map((name) => `${name} = excluded.${name}`).join(', ')}`;

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;
const LIST = `SELECT machine_id AS "machineId", name, roles, qualities, version, state, workers,
    busy_workers AS "busyWorkers", warm_workers AS "warmWorkers", ${ms('started_at')} AS "startedAtMs",
    ${ms('seen_at')} AS "seenAtMs", greatest(0, ${ms('now() - seen_at')}) AS "unseenForMs",
    ${ms('drain_requested_at')} AS "drainRequestedAtMs"
  FROM machines ORDER BY started_at, machine_id`;

type Row = Omit<Machine, 'roles' | 'qualities'> & { roles: string; qualities: string | null };

/** The machines in Postgres. */
export class PostgresMachines implements MachineStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  report(report: MachineReport): Promise<{ mustDrain: boolean }> {
    const { machineId, name, roles, qualities, version, state, workers, busyWorkers, warmWorkers } = report;
    return this.#database.transaction(async (tx) => {
      const lists = [JSON.stringify(roles), qualities && JSON.stringify(qualities)];
      await tx.run(REPORT, machineId, name, ...lists, version, state, workers, busyWorkers, warmWorkers);
      const row = await tx.get<{ drains: boolean }>(
        'SELECT drain_requested_at IS NOT NULL AS drains FROM machines WHERE machine_id = ?',
        machineId,
      );
      return { mustDrain: row?.drains === true };
    });
  }

  async list(): Promise<Machine[]> {
    const rows = await this.#database.all<Row>(LIST);
    return rows.map(({ roles, qualities, ...row }) => ({
      ...row,
      roles: JSON.parse(roles) as Machine['roles'],
      qualities: qualities === null ? null : (JSON.parse(qualities) as Machine['qualities']),
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
