import assert from 'node:assert/strict';
import { isScenepressError, ScenepressError } from '../errors.ts';
import type { SqlTransaction } from '../storage/sql.ts';
import type { DeliveryRecord } from '../webhooks/delivery.ts';
import type { DueRequest, HostPace } from '../webhooks/delivery-store.ts';
import { DELIVERIES } from './tables.ts';

/** Stored as their index in this list. */
const PACES: readonly HostPace[] = ['quick', 'new', 'slow'];
/** Stored for hosts whose pace has not been determined yet; treated as new. */
const UNKNOWN = PACES.length;
const ALL_PACES = [...PACES.keys(), UNKNOWN].join(', ');
/** Owners, or hosts of an owner, per query. */
const PAGE = 16;
/** Maximum number of times written by a wrong clock, and of unknown paces, that a round corrects. */
const MOST_MENDED = 50;
/** The delay before a delivery that cannot be claimed is retried. */
const POSTPONED_MS = 5 * 60_000;

interface Turn {
  turn_ms: number;
  turn_number: number;
}

interface DueDelivery {
  delivery_id: string;
  owner: string;
}

const DUE_DELIVERIES = 'SELECT delivery_id, owner FROM due_deliveries';

const BEFORE_ALL: Turn = { turn_ms: Number.MIN_SAFE_INTEGER, turn_number: 0 };

const OWNERS = `SELECT owner, turn_ms, turn_number FROM due_owners
  WHERE turn_ms <= ? AND (turn_ms, turn_number, owner) > (?, ?, ?) ORDER BY turn_ms, turn_number, owner LIMIT ${PAGE}`;

function keptAs(paces: HostPace[]): number[] {
  return paces.flatMap((pace) => (pace === 'new' ? [PACES.indexOf(pace), UNKNOWN] : PACES.indexOf(pace)));
}

/** Selects an owner's next hosts with one of the paces: the first of each pace, merged in turn order. */
function hostsOf(paces: HostPace[]): string {
  const each = keptAs(paces).map(
    (pace) => `SELECT * FROM (SELECT host, pace, turn_ms, turn_number FROM due_hosts
      WHERE owner = ? AND pace = ${pace} AND turn_ms <= ? AND (turn_ms, turn_number, host) > (?, ?, ?)
      ORDER BY turn_ms, turn_number, host LIMIT ${PAGE}) AS of_pace`,
  );
  return `${each.join(' UNION ALL ')} ORDER BY turn_ms, turn_number, host LIMIT ${PAGE}`;
}

/** Detects a damaged index whose pages form a cycle, which would loop forever. */
function assertAfter(before: Turn, beforeName: string, after: Turn, afterName: string): void {
  const differences = [
    after.turn_ms - before.turn_ms,
    after.turn_number - before.turn_number,
    Buffer.compare(Buffer.from(afterName), Buffer.from(beforeName)),
  ];
  if ((differences.find((difference) => difference !== 0) ?? 0) <= 0) throw damaged();
}

/** The lock of an owner's due deliveries, hosts and turn. The triggers of a shared database take it, too. */
function dueOf(owner: string): string {
  return `due ${owner}`;
}

function damaged(): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    'An index of due deliveries is damaged. Restore a backup, or run `scenepress recover`.',
  );
}

/**
 * Claims due deliveries, in one transaction. The cost grows only with the number of running attempts and of claimed
 * deliveries.
 */
export class DueRound {
  readonly #tx: SqlTransaction;
  readonly #request: DueRequest;
  readonly #nowMs: number;
  /** Ids of deliveries on unreadable pages: a transaction that reads one cannot commit. */
  readonly #unreadable: Set<string>;
  /** The next turn number within the same millisecond. */
  readonly #nextNumber: () => number;
  /** Owners whose hosts were corrected in this round. */
  readonly #mended = new Set<string>();
  /** Ids of deliveries that were processed and are no longer due. */
  readonly #looked = new Set<string>();
  readonly #given: DeliveryRecord[] = [];

  constructor(
    tx: SqlTransaction,
    request: DueRequest,
    { unreadable, nextNumber }: { unreadable: Set<string>; nextNumber: () => number },
  ) {
    this.#tx = tx;
    this.#request = request;
    this.#nowMs = Math.floor(request.nowMs);
    this.#unreadable = unreadable;
    this.#nextNumber = nextNumber;
  }

  /**
   * Runs the round. Each served owner moves behind all other due owners, so one pass over them gives everyone's
   * turns.
   */
  async take(): Promise<DeliveryRecord[]> {
    const { most, changed = [] } = this.#request;
    await this.#mendClock();
    await this.#postponeUnreadable();
    for (const { owner, host } of changed) await this.#file(owner, host);
    for (let last = { ...BEFORE_ALL, owner: '' }; this.#given.length < most; ) {
      const { turn_ms, turn_number, owner } = last;
      const page = await this.#tx.all<typeof last>(OWNERS, this.#nowMs, turn_ms, turn_number, owner);
      for (const { owner } of page) if (this.#given.length < most) await this.#serve(owner);
      const [end] = page.slice(-1);
      if (!end) break;
      assertAfter(last, last.owner, end, end.owner);
      last = end;
    }
    return this.#given;
  }

  /** Claims a delivery of the owner, if one may be sent now. */
  async #serve(owner: string): Promise<void> {
    const { lanes } = this.#request;
    await this.#tx.lock(dueOf(owner));
    for (let last = { ...BEFORE_ALL, host: '' }; ; ) {
      const paces = PACES.filter((pace) => lanes.mayCall(owner, pace));
      if (paces.length === 0) return;
      await this.#mendHosts(owner, paces);
      const place = [owner, this.#nowMs, last.turn_ms, last.turn_number, last.host];
      const hosts = await this.#tx.all<Turn & { host: string; pace: number }>(
        hostsOf(paces),
        ...keptAs(paces).flatMap(() => place),
      );
      for (const { host, pace } of hosts) {
        if ((PACES[pace] ?? 'new') !== lanes.paceOf(owner, host)) await this.#file(owner, host);
        if (lanes.enter(owner, host) && (await this.#giveFirst(owner, host))) return;
      }
      const [end] = hosts.slice(-1);
      if (!end) return;
      assertAfter(last, last.host, end, end.host);
      last = end;
    }
  }

  /** Claims the host's delivery that has been due longest; false when none can be sent. */
  async #giveFirst(owner: string, host: string): Promise<boolean> {
    while (this.#given.length < this.#request.most) {
      const due = await this.#tx.get<{ delivery_id: string }>(
        `SELECT delivery_id FROM due_deliveries WHERE owner = ? AND host = ? AND due_at_ms <= ?
           ORDER BY due_at_ms, delivery_id LIMIT 1`,
        owner,
        host,
        this.#nowMs,
      );
      if (!due) return false;
      if (this.#looked.has(due.delivery_id)) throw damaged();
      this.#looked.add(due.delivery_id);
      const given = await this.#give(due.delivery_id);
      if (given === 'locked') {
        this.#looked.delete(due.delivery_id); // Its host may have a turn again in this round.
        return false;
      }
      if (!given) continue;
      this.#given.push(given);
      if (given.dueAtMs === null) continue;
      await this.#moveBehind(owner, host);
      return true;
    }
    return false;
  }

  /** Returns the updated delivery, claimed or finished; undefined when it cannot be claimed. */
  async #give(deliveryId: string): Promise<DeliveryRecord | 'locked' | undefined> {
    const found = this.#request.underWay?.has(deliveryId) ? undefined : await this.#read(deliveryId);
    if (found === 'locked') return found;
    if (!found) {
      await this.#postpone(deliveryId);
      return undefined;
    }
    const begun = this.#request.begin(found);
    assert(begun.dueAtMs === null || begun.dueAtMs > this.#nowMs, 'a claim expires in the future');
    const given = begun.dueAtMs === null ? begun : { ...begun, token: found.token + 1 };
    await this.#tx.run(DELIVERIES.update, ...DELIVERIES.changes(given));
    return given;
  }

  /** Does not wait for a transaction that has locked it: that locks what is due of the owner after it. */
  async #read(deliveryId: string): Promise<DeliveryRecord | 'locked' | undefined> {
    let row: object | undefined;
    try {
      [row] = await this.#tx.allUnlocked(DELIVERIES.byKey, deliveryId);
      if (!row && (await this.#tx.get(DELIVERIES.byKey, deliveryId))) return 'locked';
      return row && DELIVERIES.record(row);
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
      this.#request.onUnreadable(deliveryId, error);
      if (row) return undefined;
      this.#unreadable.add(deliveryId);
      throw error;
    }
  }

  /** Moves a served host, and its owner, behind all that were due before. */
  async #moveBehind(owner: string, host: string): Promise<void> {
    const place = [this.#nowMs, this.#nextNumber()];
    const behind = 'SET turn_ms = ?, turn_number = ? WHERE owner = ? AND turn_ms <= ?';
    await this.#tx.run(`UPDATE due_hosts ${behind} AND host = ?`, ...place, owner, this.#nowMs, host);
    await this.#tx.run(`UPDATE due_owners ${behind}`, ...place, owner, this.#nowMs);
  }

  async #postponeUnreadable(): Promise<void> {
    const due: DueDelivery[] = [];
    for (const deliveryId of this.#unreadable) {
      const found = await this.#tx.get<DueDelivery>(`${DUE_DELIVERIES} WHERE delivery_id = ?`, deliveryId);
      if (found) due.push(found);
    }
    await this.#lockOwners(due);
    for (const { delivery_id } of due) await this.#postpone(delivery_id);
  }

  /**
   * Locks what is due of these owners, before the rows that are changed: others lock an owner, then its rows. In one
   * order, so that two transactions with the same owners cannot wait for each other.
   */
  async #lockOwners(rows: { owner: string }[]): Promise<void> {
    const owners = new Set(rows.map(({ owner }) => owner));
    for (const owner of [...owners].sort()) await this.#tx.lock(dueOf(owner));
  }

  /** Called with the lock of its owner. */
  async #postpone(deliveryId: string): Promise<void> {
    await this.#tx.run(
      'UPDATE due_deliveries SET due_at_ms = ? WHERE delivery_id = ?',
      this.#nowMs + POSTPONED_MS,
      deliveryId,
    );
  }

  /** Stores the pace of a host. */
  async #file(owner: string, host: string): Promise<void> {
    // Before the row, as others do.
    await this.#tx.lock(dueOf(owner));
    const pace = PACES.indexOf(this.#request.lanes.paceOf(owner, host));
    await this.#tx.run('UPDATE due_hosts SET pace = ? WHERE owner = ? AND host = ?', pace, owner, host);
  }

  /** Makes deliveries due now whose time is too far in the future, which a wrong clock wrote. */
  async #mendClock(): Promise<void> {
    const latestMs = Math.floor(this.#request.latestDueMs);
    const due = await this.#tx.all<DueDelivery>(
      `${DUE_DELIVERIES} WHERE due_at_ms > ? LIMIT ${MOST_MENDED}`,
      latestMs,
    );
    const owners = await this.#tx.all<{ owner: string }>(
      `SELECT owner FROM due_owners WHERE turn_ms > ? LIMIT ${MOST_MENDED}`,
      latestMs,
    );
    await this.#lockOwners([...due, ...owners]);
    for (const { delivery_id } of due) {
      // Not one that another transaction has changed meanwhile.
      const now = 'UPDATE due_deliveries SET due_at_ms = ? WHERE delivery_id = ? AND due_at_ms > ?';
      await this.#tx.run(now, this.#nowMs, delivery_id, latestMs);
    }
    for (const { owner } of owners) {
      await this.#bringForward(owner);
      const now = 'UPDATE due_owners SET turn_ms = ?, turn_number = 0 WHERE owner = ? AND turn_ms > ?';
      await this.#tx.run(now, this.#nowMs, owner, latestMs);
    }
  }

  async #bringForward(owner: string): Promise<void> {
    await this.#tx.run(
      `UPDATE due_hosts SET turn_ms = ?, turn_number = 0 WHERE owner = ? AND pace IN (${ALL_PACES}) AND turn_ms > ?`,
      this.#nowMs,
      owner,
      Math.floor(this.#request.latestDueMs),
    );
  }

  /**
   * Corrects unknown paces, once per owner and round. Needed when hosts of some paces may not be called, to find the
   * hosts behind them.
   */
  async #mendHosts(owner: string, paces: HostPace[]): Promise<void> {
    if (this.#mended.has(owner)) return;
    this.#mended.add(owner);
    await this.#bringForward(owner);
    if (paces.includes('new')) return;
    const unknown = await this.#tx.all<Turn & { host: string }>(
      `SELECT host, turn_ms, turn_number FROM due_hosts WHERE owner = ? AND pace = ${UNKNOWN}
         ORDER BY turn_ms, turn_number, host LIMIT ${MOST_MENDED}`,
      owner,
    );
    const [last] = unknown.slice(-1);
    if (!last) return;
    await this.#tx.run(
      `UPDATE due_hosts SET pace = ${PACES.indexOf('new')}
       WHERE owner = ? AND pace = ${UNKNOWN} AND (turn_ms, turn_number, host) <= (?, ?, ?)`,
      owner,
      last.turn_ms,
      last.turn_number,
      last.host,
    );
    for (const { host } of unknown) {
      if (this.#request.lanes.paceOf(owner, host) !== 'new') await this.#file(owner, host);
    }
  }
}
