import type { AssetStore, ByteRange, OpenedAsset } from '../assets/asset-store.ts';
import { SingleFlight } from '../async/single-flight.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { randomId } from '../model/ids.ts';
import type { InstallationRecord, InstallationRecords } from '../storage/installation-records.ts';
import type { Clock } from '../time/clock.ts';

/** How long a claim that was compared is relied on. */
const CONFIRMED_FOR_MS = 60_000;
const RETRY_AFTER_MS = 30_000;
/** A replica that takes over may lack the latest stamp. */
const TOLERATED_STAMPS = 1;

/** A store that keeps a claim. */
export type ClaimableStore = AssetStore & Required<Pick<AssetStore, 'readClaim' | 'writeClaim'>>;

/** What the claim says: whose artifacts the store has. */
export type Claim = Pick<InstallationRecord, 'installationId' | 'stamp'>;

/** Whether a store keeps a claim. */
export function isClaimable(store: AssetStore): store is ClaimableStore {
  return store.readClaim !== undefined && store.writeClaim !== undefined;
}

/**
 * An asset store that one installation has claimed. Stores and deletes only as long as the data is that of this
 * installation: a copy of the data would render the jobs of the original again and remove its artifacts.
 */
export class ClaimedAssets implements AssetStore {
  readonly store: ClaimableStore;
  readonly #records: InstallationRecords;
  readonly #clock: Clock;
  readonly #random: Random;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  readonly #claiming = new SingleFlight();

  constructor(
    store: ClaimableStore,
    { records, clock, random }: { records: InstallationRecords; clock: Clock; random: Random },
  ) {
    this.store = store;
    this.#records = records;
    this.#clock = clock;
    this.#random = random;
  }

  async start(): Promise<void> {
    await this.store.start?.();
  }

  /** Claims the store if it has no claim. Error: `conflict` when the data is a copy, or the store belongs to others. */
  claim(): Promise<void> {
    return this.#claiming.run(async () => {
      if (!(await inspectClaim(this.store, this.#records))) {
        const place = await this.#records.here();
        const first = { installationId: randomId('inst', this.#random), place, stamp: 1 };
        await writeClaim(this.store, await this.#records.change((record) => record ?? first));
      }
      this.#confirmedAtMs = this.#clock.uptimeMs();
    });
  }

  /** Records that the installation lives, so that copies made until now are recognized. */
  async renew(): Promise<void> {
    await this.claim();
    const record = await this.#records.change((before) => {
      if (!before) throw new ScenepressError('conflict', 'The record of the installation has disappeared.');
      return { ...before, stamp: before.stamp + 1 };
    });
    await writeClaim(this.store, record);
  }

  readClaim(): Promise<string | undefined> {
    return this.store.readClaim();
  }

  async put(assetKey: string, file: { path: string; contentType: string }): Promise<{ sizeBytes: number }> {
    await this.#confirm();
    return this.store.put(assetKey, file);
  }

  open(
    assetKey: string,
    range?: ByteRange,
    options?: { signal?: AbortSignal },
  ): Promise<OpenedAsset | undefined> {
    return this.store.open(assetKey, range, options);
  }

  async delete(assetKey: string): Promise<void> {
    await this.#confirm();
    await this.store.delete(assetKey);
  }

  async #confirm(): Promise<void> {
    if (this.#clock.uptimeMs() - this.#confirmedAtMs > CONFIRMED_FOR_MS) await this.claim();
  }
}

/**
 * The claim of a store; undefined if it has none. Changes nothing. Error: `conflict` when the data is a copy, or
 * the store belongs to others.
 */
export async function inspectClaim(
  store: ClaimableStore,
  records: InstallationRecords,
): Promise<Claim | undefined> {
  const claim = await readClaim(store);
  const record = await records.read();
  await refuseCopy(records);
  if (!claim) return undefined;
  if (claim.installationId !== record?.installationId) throw anothers(claim, record);
  if (claim.stamp > record.stamp + TOLERATED_STAMPS) throw outdated();
  return claim;
}

/** Error: `conflict` when the data is a copy. */
export async function refuseCopy(records: InstallationRecords): Promise<void> {
  if (await isCopy(records)) throw copied();
}

/** Whether the data is not where it was recorded to be. */
export async function isCopy(records: InstallationRecords): Promise<boolean> {
  const record = await records.read();
  return record !== undefined && record.place !== (await records.here());
}

/** The claim of a store; undefined if there is none. Error: `storage_damaged` for anything else. */
export async function readClaim(store: ClaimableStore): Promise<Claim | undefined> {
  const text = await store.readClaim();
  if (text === undefined) return undefined;
  try {
    const { installationId, stamp } = JSON.parse(text) as Partial<Claim>;
    if (typeof installationId === 'string' && Number.isInteger(stamp))
      return { installationId, stamp: stamp as number };
  } catch {
    // Not JSON.
  }
  throw new ScenepressError(
    'storage_damaged',
    'The file scenepress.json of the artifact store does not say whose artifacts these are. If no other installation ' +
      'uses the store, remove the file; the next start writes it again.',
  );
}

/** Processes that start at the same time may write the same claim. */
export async function writeClaim(store: ClaimableStore, record: InstallationRecord): Promise<void> {
  const { installationId, stamp } = record;
  const text = `${JSON.stringify({ installationId, stamp })}\n`;
  await store.writeClaim(text).catch(async (error: unknown) => {
    if ((await store.readClaim()) !== text) throw error;
  });
}

const REMEDY =
  'If the original no longer runs, and never will, let this one take its place: `scenepress installation continue`. ' +
  'For a restore drill or a staging system, make it an installation of its own, with artifacts of its own: ' +
  '`scenepress installation separate`.';

function copied(): ScenepressError {
  return refusal(
    `This data is a copy: the original is in another database or data folder. Nothing was changed. ${REMEDY}`,
  );
}

function outdated(): ScenepressError {
  return refusal(
    'This data is older than the artifacts: it was restored from a backup, or a copy has taken its place. Nothing was ' +
      `changed. ${REMEDY}`,
  );
}

/** The error for a store of another installation. */
export function anothers(claim: Claim, record: InstallationRecord | undefined): ScenepressError {
  const own = record ? `, not to this one (${record.installationId})` : '';
  return refusal(
    `The artifact store belongs to the installation ${claim.installationId}${own}. Nothing was changed. Use another bucket ` +
      '(--s3-bucket), prefix (--s3-prefix) or folder (--artifact-dir). If this data is a restored backup of that ' +
      'installation, which no longer runs: `scenepress installation continue`.',
  );
}

/** While a service runs, jobs wait. */
function refusal(message: string): ScenepressError {
  return new ScenepressError('conflict', message, { retryAfterMs: RETRY_AFTER_MS });
}
