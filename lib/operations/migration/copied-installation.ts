import type { AssetStore } from '../../assets/asset-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import { known } from '../../base/known-options.ts';
import { systemRandom } from '../../base/random.ts';
import { anothers, isClaimable, isCopy, readClaim, writeClaim } from '../../cluster/claimed-assets.ts';
import { MACHINE_DEAD_AFTER_MS, type MachineStore } from '../../cluster/machine-store.ts';
import { unfinishedDeliveries } from '../../data-folder/unfinished-deliveries.ts';
import { randomId } from '../../model/ids.ts';
import type { InstallationRecord } from '../../storage/installation-records.ts';
import type { Storage } from '../../storage/storage.ts';
import { copyArtifacts } from './copy-artifacts.ts';

/** More than a store tolerates, so that the original is refused from then on. */
const STAMPS_AHEAD = 2;

/** A started storage that is a copy, and the started store of its artifacts. */
export interface CopiedInstallation {
  /** Made by `postgres(url)` or a `DataFolder`. No service may use it meanwhile. */
  storage: Storage & { machineStore?: MachineStore };
  assets: AssetStore;
}

/** Options of {@link separateInstallation}. */
export interface SeparateOptions {
  /** The started store of the original, whose artifacts are copied. Nothing in it is changed. Default: none are. */
  from?: AssetStore;
  /** Marks webhook deliveries that are due as failed; by default the copy sends them, as the original does. */
  dropDeliveries?: boolean;
  /** Aborts it while artifacts are copied; a repetition completes it. */
  signal?: AbortSignal;
}

/**
 * Lets a copy of the data, such as a restored dump, take the place of the original, which must not run any more, with its
 * artifacts: from then on, the original is refused. Error: `conflict` when the artifacts are those of another
 * installation.
 *
 * ```ts
 * await Promise.all([storage.start(), assets.start()]);
 * await continueInstallation({ storage, assets });
 * ```
 */
export async function continueInstallation(copy: CopiedInstallation): Promise<InstallationRecord> {
  const { records, store } = await partsOf(copy);
  const claim = await readClaim(store);
  const before = await records.read();
  if (claim && before && claim.installationId !== before.installationId) throw anothers(claim, before);
  const place = await records.here();
  const record = await records.change(() => ({
    installationId: before?.installationId ?? claim?.installationId ?? newId(),
    place,
    stamp: Math.max(before?.stamp ?? 0, claim?.stamp ?? 0) + STAMPS_AHEAD,
  }));
  await writeClaim(store, record);
  return record;
}

/**
 * Makes a copy of the data, such as a restored dump, an installation of its own beside the original, with an asset store
 * that belongs to none yet. Returns the numbers of copied and of missing artifacts, too. Error: `conflict` when the
 * store belongs to an installation.
 *
 * ```ts
 * await Promise.all([storage.start(), assets.start(), original.start()]);
 * await separateInstallation({ storage, assets }, { from: original });
 * ```
 */
export async function separateInstallation(
  copy: CopiedInstallation,
  options: SeparateOptions = {},
): Promise<InstallationRecord & { copied: number; missing: number; droppedDeliveries: number }> {
  const names = { from: true, dropDeliveries: true, signal: true };
  const { from, dropDeliveries = false, signal } = known('separateInstallation', options, names);
  const { records, store } = await partsOf(copy);
  const claim = await readClaim(store);
  if (claim) throw claimed(claim.installationId);
  const { storage } = copy;
  const artifacts = from
    ? await copyArtifacts({ storage, source: from }, store, { signal, allowMissing: true })
    : { copied: 0, missing: 0 };
  const droppedDeliveries = dropDeliveries ? await unfinishedDeliveries(storage, { drop: true }) : 0;
  const place = await records.here();
  const record = await records.change(() => ({ installationId: newId(), place, stamp: 1 }));
  await writeClaim(store, record);
  return { ...record, ...artifacts, droppedDeliveries };
}

async function partsOf(copy: CopiedInstallation) {
  const { storage, assets } = known('A copied installation', copy, { storage: true, assets: true });
  const { installation: records, machineStore } = storage;
  if (!records || !isClaimable(assets)) {
    throw new ScenepressError(
      'invalid_request',
      'This storage or asset store does not record which installation it belongs to.',
    );
  }
  // Those that are recorded in a copy report to the original.
  if (machineStore) {
    // The machines in a copy are those of the original: others would be compared with them.
    if (await isCopy(records)) await machineStore.removeUnseen(0);
    else await assertUnused({ machineStore });
  }
  return { records, store: assets };
}

/** Error: `conflict` while processes report to the storage. */
export async function assertUnused({ machineStore }: { machineStore: MachineStore }): Promise<void> {
  const alive = (await machineStore.list()).filter(({ unseenForMs }) => unseenForMs <= MACHINE_DEAD_AFTER_MS);
  if (alive.length === 0) return;
  const names = alive.map(({ name }) => name).join(', ');
  throw new ScenepressError('conflict', `Stop these machines first: ${names}.`);
}

function claimed(installationId: string): ScenepressError {
  return new ScenepressError(
    'conflict',
    `The artifact store belongs to the installation ${installationId}. Nothing was changed. Give the copy a bucket, prefix ` +
      'or folder of its own: --s3-bucket, --s3-prefix or --artifact-dir. If this one was copied for it, remove the copied ' +
      'scenepress.json from it first.',
  );
}

function newId(): string {
  return randomId('inst', systemRandom);
}
