import type { AssetStore, OpenedAsset } from '../../assets/asset-store.ts';
import { InProgress } from '../../async/in-progress.ts';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import { SortableIds } from '../../model/ids.ts';
import type { JobRecord } from '../../model/job.ts';
import { type SnapshotFile, type SnapshotRecord, snapshotIdOf, snapshotKeyOf } from '../../model/snapshot.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import { chargedOf, insufficientCredits } from '../accept/ledger-answers.ts';
import type { StoredBytes } from '../accept/stored-bytes.ts';
import { discardArtifacts } from '../end/store-artifacts.ts';

/** How long the files of a snapshot are kept. */
export const KEPT_MS: number = 60 * 60_000;
/** After which the process that draws one counts as dead. */
const DRAWN_WITHIN_MS = 60 * 60_000;
/** An external ledger that did not answer is asked again after this. */
const SETTLED_WITHIN_MS = 5 * 60_000;
const MOST_AT_ONCE = 100;

/** What is charged and kept. */
export interface Drawn {
  durationMs: number;
  files: { name: string; path: string; contentType: string }[];
}

/** Whose credits a render may use up: those of `watchFunds`. */
export type FundsOf = Pick<JobRecord, 'jobId' | 'owner' | 'quality' | 'reserveCredits'>;

/** A snapshot that was charged. */
export interface TakenSnapshot {
  snapshotId: string;
  creditsCost: number;
}

/** An open file of a snapshot. */
export interface OpenedPicture extends OpenedAsset {
  /** The media type, for a `Content-Type` header. */
  contentType: string;
}

/** What they need of a service. */
export interface SnapshotParts {
  storage: Storage;
  ledger: Ledger;
  pricing: Pricing;
  assets: AssetStore;
  storedBytes: Pick<StoredBytes, 'problemOf'>;
  /** Error: the owner may have no more. In the transaction that adds one. */
  assertAdmitted: (owner: string, tx: Transaction) => Promise<void>;
  clock: Clock;
  random: Random;
  logger: Logger;
}

/**
 * Takes and keeps snapshots: pictures of scenes without jobs. Each is reserved, drawn, stored and charged, once, or not
 * charged at all, also after a crash: its record is written before the ledger is asked, and {@link Snapshots.recover}
 * completes what a dead process has left.
 */
export class Snapshots {
  readonly #parts: SnapshotParts;
  readonly #joined: boolean;
  readonly #ids: SortableIds;
  readonly #inProgress = new InProgress();

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
    this.#joined = parts.ledger.joins(parts.storage);
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Reserves credits, draws, and charges what it took as a render of low quality. When `draw` resolves with undefined or
   * rejects, nothing is charged. Errors: `insufficient_credits`, `too_much_stored`, those of `draw`, of the ledger and of
   * the stores.
   */
  take(
    owner: string,
    draw: (funds: FundsOf) => Promise<Drawn | undefined>,
  ): Promise<TakenSnapshot | undefined> {
    return this.#inProgress.add(this.#take(owner, draw));
  }

  async #take(
    owner: string,
    draw: (funds: FundsOf) => Promise<Drawn | undefined>,
  ): Promise<TakenSnapshot | undefined> {
    const { pricing, storedBytes } = this.#parts;
    const overLimit = await storedBytes.problemOf(owner);
    if (overLimit) throw overLimit;
    const snapshot = await this.#reserve(owner);
    const { snapshotId, reserveCredits } = snapshot;
    let files: SnapshotFile[] = [];
    try {
      const drawn = await draw({ jobId: snapshotId, owner, quality: 'low', reserveCredits });
      if (!drawn) {
        await this.#withdraw(snapshotId);
        return undefined;
      }
      files = drawn.files.map(({ name }) => ({ name, sizeBytes: 0 }));
      // Recorded first, so that what a crash leaves in the store is removed.
      await this.#change(snapshotId, 'drawing', (found) => ({ ...found, files }));
      files = await this.#store(snapshotId, drawn);
      const costCredits = pricing.costCredits('low', drawn.durationMs);
      return { snapshotId, creditsCost: await this.#settle({ ...snapshot, costCredits, files }) };
    } catch (error) {
      // What can't be withdrawn now, such as when the ledger does not answer, is by `recover`, with its files.
      await this.#withdraw(snapshotId).catch(() => {});
      const isLeft = await this.#isLeft(snapshotId);
      // Those of one that was charged stay, whatever failed afterwards.
      if (!isLeft) await this.#discard(snapshotId, files);
      throw error;
    }
  }

  /** Whether there is a record; also if that can't be told now. */
  async #isLeft(snapshotId: string): Promise<boolean> {
    const { snapshots } = this.#parts.storage;
    return snapshots.get(snapshotId).then(
      (snapshot) => snapshot !== undefined,
      () => true,
    );
  }

  /** Opens a file of a snapshot. Error: `not_found` when there is none of that owner, or it has been removed. */
  async open(snapshotId: string, name: string, { owner }: { owner?: string }): Promise<OpenedPicture> {
    const { storage, assets } = this.#parts;
    const snapshot = await storage.snapshots.get(snapshotId);
    const isOwners = owner === undefined || snapshot?.owner === owner;
    const isKept = snapshot?.phase === 'kept' || snapshot?.phase === 'settling';
    const file = isKept && isOwners && snapshot.files.find((one) => one.name === name);
    const opened = file ? await assets.open(snapshotKeyOf(snapshotId, name)) : undefined;
    if (!opened) throw new ScenepressError('not_found', 'There is no such picture, or it has been removed.');
    return { ...opened, contentType: name.endsWith('.png') ? 'image/png' : 'image/jpeg' };
  }

  /** Resolves when none is in progress. */
  settled(): Promise<void> {
    return this.#inProgress.idle();
  }

  /**
   * Removes the files of old ones, and charges or withdraws those that a dead process has left. `isStart`: this process is
   * the only one and draws nothing yet, so nothing is awaited. All are tried; rejects with the first error. Returns how many
   * were removed, and how many had been left.
   */
  async recover({ isStart = false }: { isStart?: boolean } = {}): Promise<{ removed: number; left: number }> {
    const { storage, clock } = this.#parts;
    const isAlone = isStart && !storage.isShared;
    const dueBeforeMs = clock.now() + (isAlone ? DRAWN_WITHIN_MS + KEPT_MS : 0);
    const counts = { removed: 0, left: 0 };
    const tried = new Set<string>();
    let failure: { error: unknown } | undefined;
    for (;;) {
      const found = await storage.snapshots.due(dueBeforeMs, MOST_AT_ONCE + tried.size);
      const due = found.filter(
        ({ snapshotId, phase, dueAtMs }) =>
          !tried.has(snapshotId) && (phase !== 'kept' || (dueAtMs ?? 0) <= clock.now()),
      );
      for (const snapshot of due) {
        tried.add(snapshot.snapshotId);
        try {
          await this.#finish(snapshot);
          counts[snapshot.phase === 'kept' ? 'removed' : 'left'] += 1;
        } catch (error) {
          failure ??= { error };
        }
      }
      if (due.length === 0) break;
    }
    if (failure) throw failure.error;
    return counts;
  }

  /** Removes the files of an owner's snapshots; those that are being drawn are not kept. */
  async forget(owner: string): Promise<void> {
    for (const snapshot of await this.#parts.storage.snapshots.of(owner)) await this.#finish(snapshot);
  }

  async #reserve(owner: string): Promise<SnapshotRecord> {
    const { storage, ledger, pricing, clock, assertAdmitted } = this.#parts;
    const createdAtMs = clock.now();
    const snapshot: SnapshotRecord = {
      snapshotId: snapshotIdOf(this.#ids.next()),
      owner,
      phase: 'drawing',
      reserveCredits: ledger.chargesNothing ? 0 : pricing.reserveCredits('low'),
      costCredits: null,
      createdAtMs,
      dueAtMs: createdAtMs + DRAWN_WITHIN_MS,
      files: [],
    };
    const { snapshotId, reserveCredits: amountCredits } = snapshot;
    const request = { jobId: snapshotId, owner, amountCredits };
    const answer = await storage.transaction(async (tx) => {
      await assertAdmitted(owner, tx);
      const joined = this.#joined ? await ledger.reserve(request, tx) : undefined;
      if (joined === undefined || joined === 'reserved') await storage.snapshots.insert(tx, snapshot);
      return joined;
    });
    const refused = answer ?? (await this.#reserveOutside(request));
    if (refused !== 'reserved') throw insufficientCredits(ledger, amountCredits, refused);
    return snapshot;
  }

  /** Asks an external ledger. When it does not answer, it may have reserved. */
  async #reserveOutside(request: { jobId: string; owner: string; amountCredits: number }) {
    const withdraw = () => this.#withdraw(request.jobId);
    try {
      const answer = await this.#parts.ledger.reserve(request);
      if (answer !== 'reserved') await withdraw();
      return answer;
    } catch (error) {
      await withdraw().catch(() => {});
      throw error;
    }
  }

  async #store(snapshotId: string, { files }: Drawn): Promise<SnapshotFile[]> {
    const stored: SnapshotFile[] = [];
    for (const { name, ...file } of files) {
      const { sizeBytes } = await this.#parts.assets.put(snapshotKeyOf(snapshotId, name), file);
      stored.push({ name, sizeBytes });
    }
    return stored;
  }

  /** Charges a snapshot and keeps it; returns the cost. Error: `insufficient_credits`. */
  async #settle(drawn: SnapshotRecord): Promise<number> {
    const { storage, ledger, clock, logger } = this.#parts;
    const { snapshotId } = drawn;
    if (!this.#joined) {
      const dueAtMs = clock.now() + SETTLED_WITHIN_MS;
      const settling = { ...drawn, phase: 'settling' as const, dueAtMs };
      await this.#change(snapshotId, 'drawing', () => settling);
      return this.#settleOutside(settling).catch((err: unknown) => {
        if (isScenepressError(err, 'insufficient_credits')) throw err;
        logger.warn(
          { err, snapshotId },
          'A snapshot could not be charged yet; trying again in a few minutes.',
        );
        return settling.costCredits ?? 0;
      });
    }
    const charged = await storage.transaction(async (tx) => {
      await this.#locked(tx, snapshotId, 'drawing');
      const cost = await this.#charge(drawn, tx);
      if (cost === undefined) return undefined;
      await storage.snapshots.update(tx, this.#kept(drawn, cost));
      return cost;
    });
    if (charged === undefined) throw insufficientCredits(ledger, drawn.costCredits ?? 0, 'insufficient');
    return charged;
  }

  /** Charges a snapshot whose charge is fixed, with an external ledger. */
  async #settleOutside(settling: SnapshotRecord): Promise<number> {
    const { snapshotId } = settling;
    const cost = await this.#charge(settling);
    if (cost === undefined) {
      await this.#discard(snapshotId, settling.files);
      await this.#end(settling);
      throw insufficientCredits(this.#parts.ledger, settling.costCredits ?? 0, 'insufficient');
    }
    await this.#change(snapshotId, 'settling', () => this.#kept(settling, cost));
    return cost;
  }

  async #charge({ snapshotId, owner, costCredits }: SnapshotRecord, tx?: Transaction) {
    const { ledger } = this.#parts;
    const amountCredits = costCredits ?? 0;
    return chargedOf(ledger, await ledger.settle({ jobId: snapshotId, owner, amountCredits }, tx));
  }

  #kept(snapshot: SnapshotRecord, costCredits: number): SnapshotRecord {
    return { ...snapshot, phase: 'kept', costCredits, dueAtMs: this.#parts.clock.now() + KEPT_MS };
  }

  /** Releases the reserve of one that was not charged, and removes its record. Does nothing in other phases. */
  async #withdraw(snapshotId: string): Promise<void> {
    const snapshot = await this.#parts.storage.snapshots.get(snapshotId);
    if (snapshot?.phase === 'drawing') await this.#end(snapshot);
  }

  /** Voids the reserve of one that is not charged, and removes its record. */
  async #end({ snapshotId, owner, phase }: SnapshotRecord): Promise<void> {
    const { storage, ledger } = this.#parts;
    const request = { jobId: snapshotId, owner };
    if (!this.#joined) await ledger.void(request);
    await storage.transaction(async (tx) => {
      const found = await storage.snapshots.get(snapshotId, tx);
      if (found?.phase !== phase) return;
      if (this.#joined) await ledger.void(request, tx);
      await storage.snapshots.delete(tx, snapshotId);
    });
  }

  /** Removes the files of one that is kept; charges or withdraws one that a dead process has left. */
  async #finish(snapshot: SnapshotRecord): Promise<void> {
    const { snapshotId, phase, files } = snapshot;
    if (phase === 'kept') return this.#remove(snapshot);
    if (phase === 'settling') {
      // Its files stay until they are due: somebody may have been told of them.
      await this.#settleOutside(snapshot).catch((error: unknown) => {
        if (!isScenepressError(error, 'insufficient_credits')) throw error;
      });
      return;
    }
    for (const { name } of files) await this.#parts.assets.delete(snapshotKeyOf(snapshotId, name));
    await this.#end(snapshot);
  }

  /** Files first: after the record has been changed, nothing would remove them. */
  async #remove(snapshot: SnapshotRecord): Promise<void> {
    const { assets } = this.#parts;
    const { snapshotId, files } = snapshot;
    for (const { name } of files) await assets.delete(snapshotKeyOf(snapshotId, name));
    await this.#change(snapshotId, 'kept', (found) => ({
      ...found,
      phase: 'removed',
      dueAtMs: null,
      files: [],
    }));
  }

  async #discard(snapshotId: string, files: SnapshotFile[]): Promise<void> {
    await discardArtifacts(
      files.map(({ name }) => snapshotKeyOf(snapshotId, name)),
      this.#parts,
    );
  }

  async #change(
    snapshotId: string,
    phase: SnapshotRecord['phase'],
    change: (snapshot: SnapshotRecord) => SnapshotRecord,
  ): Promise<void> {
    const { storage } = this.#parts;
    await storage.transaction(async (tx) => {
      const found = await this.#locked(tx, snapshotId, phase);
      await storage.snapshots.update(tx, change(found));
    });
  }

  /** Error: `not_found` when it has been removed meanwhile, with its owner. */
  async #locked(
    tx: Transaction,
    snapshotId: string,
    phase: SnapshotRecord['phase'],
  ): Promise<SnapshotRecord> {
    const found = await this.#parts.storage.snapshots.get(snapshotId, tx);
    if (found?.phase === phase) return found;
    throw new ScenepressError('not_found', 'The pictures were removed while they were drawn.');
  }
}
