import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { join, resolve } from 'node:path';
import type { AssetStore } from '../assets/asset-store.ts';
import { AssetStoreWatch } from '../assets/asset-store-watch.ts';
import { VideoIndexes } from '../assets/video-indexes.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { ClaimedAssets, isClaimable } from '../cluster/claimed-assets.ts';
import { LocalSignals } from '../cluster/local-signals.ts';
import { RemoteJobs } from '../cluster/remote-jobs.ts';
import { DataFolder } from '../data-folder/data-folder.ts';
import { isFull } from '../files/disk.ts';
import { FolderLock } from '../files/folder-lock.ts';
import { Acceptance, ownerRefused } from '../jobs/accept/acceptance.ts';
import { Admission } from '../jobs/accept/admission.ts';
import { StoredBytes } from '../jobs/accept/stored-bytes.ts';
import { Cancellations } from '../jobs/end/cancellations.ts';
import { Discards } from '../jobs/end/discards.ts';
import { JobEnding } from '../jobs/end/job-ending.ts';
import { Fairness } from '../jobs/fairness/fairness.ts';
import { Dispatcher } from '../jobs/run/dispatcher.ts';
import { Gate } from '../jobs/run/gate.ts';
import { JobClaims } from '../jobs/run/job-claims.ts';
import { ShortRuns } from '../jobs/run/short-runs.ts';
import { JobSearches } from '../jobs/search/job-searches.ts';
import { Snapshots } from '../jobs/snapshots/snapshots.ts';
import { JobEnds } from '../jobs/watch/job-ends.ts';
import { JobFollowers } from '../jobs/watch/job-followers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Pricing } from '../ledger/pricing.ts';
import { StoredLedger } from '../ledger/stored-ledger.ts';
import { UnmeteredLedger } from '../ledger/unmetered-ledger.ts';
import type { JobEvents } from '../model/job-events.ts';
import type { Role } from '../model/roles.ts';
import { Contents } from '../owner-files/contents.ts';
import { FileQuota } from '../owner-files/file-quota.ts';
import { FileRemoval } from '../owner-files/file-removal.ts';
import { FileTrees } from '../owner-files/file-trees.ts';
import { OwnerFiles } from '../owner-files/owner-files.ts';
import { SentFiles } from '../owner-files/sent-files.ts';
import { UploadFolder } from '../owner-files/upload-folder.ts';
import { Uploads } from '../owner-files/uploads.ts';
import { Renderer, studioOf } from '../render/pool/renderer.ts';
import type { TexInstallation } from '../render/tex/tex-installation.ts';
import { SceneQuota } from '../scenes/scene-quota.ts';
import { SceneSearches } from '../scenes/scene-searches.ts';
import { ShareViews } from '../shares/share-views.ts';
import { Shares } from '../shares/shares.ts';
import { Speaker } from '../speech/speaker.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import type { Sends } from '../webhooks/outbound.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import type { RenderServiceOptions } from './render-service-options.ts';
import { Upkeep } from './upkeep.ts';
import { validOptions } from './valid-options.ts';

/** The components of a service. */
export interface ServiceParts {
  dataFolder: DataFolder | undefined;
  storage: Storage;
  assets: AssetStore;
  storeWatch: AssetStoreWatch;
  ledger: Ledger;
  clock: Clock;
  logger: Logger;
  roles: readonly Role[];
  workers: number;
  events: JobEvents;
  fairness: Fairness;
  webhooks: Webhooks;
  deliveries: Deliveries;
  discards: Discards;
  claims: JobClaims;
  ending: JobEnding;
  renderer: Renderer;
  gate: Gate;
  cancellations: Cancellations;
  acceptance: Acceptance;
  shortRuns: ShortRuns;
  snapshots: Snapshots;
  files: OwnerFiles;
  sentFiles: SentFiles;
  shares: Shares;
  sceneQuota: SceneQuota;
  sceneSearches: SceneSearches;
  /** Error: for an owner who may add nothing, or a full disk. */
  assertAdmitted: (owner: string, tx: Transaction) => Promise<void>;
  admitsOwner: RenderServiceOptions['admitsOwner'];
  random: Random;
  uploadFolder: UploadFolder;
  fileRemoval: FileRemoval;
  trees: FileTrees | undefined;
  pricing: Pricing;
  tex: TexInstallation | undefined;
  storedBytes: StoredBytes;
  dispatcher: Dispatcher;
  upkeep: Upkeep;
  ends: JobEnds;
  followers: JobFollowers;
  remoteJobs: RemoteJobs;
  searches: JobSearches;
}

/** Components that act outside of the process, and the source of random bytes. */
export interface OutsideParts {
  renderer: Renderer;
  /** Sends webhooks. */
  outbound: Sends & { start(): void; stop(): Promise<void> };
  /** The source of ids; a given data folder has its own for secrets. */
  random: Random;
}

/** The folder, within the work folder, of contents that are being received. */
const UPLOADS = 'uploads';
/** The folder, within the work folder, of files that scenes read. */
const FILES = 'files';
const NO_STORES = 'give `folder`, or all of `storage`, `settings` and `assets`';

/** Creates the components and wires them together. Starts none. `outside`: replaces components, for simulations. */
export function makeParts(options: RenderServiceOptions, outside: Partial<OutsideParts> = {}): ServiceParts {
  assert(options, NO_STORES);
  const {
    roles,
    workers,
    queue,
    limits,
    budgets,
    files: fileOptions,
    scenes,
    speech,
    retention,
    ...valid
  } = validOptions(options);
  const { clock = systemClock, logger = silentLogger } = options;
  const { random = systemRandom } = outside;
  const dataFolder =
    options.dataFolder ??
    (options.folder ? new DataFolder(options.folder, { clock, random, logger }) : undefined);
  const storage = options.storage ?? dataFolder?.storage;
  const signals = options.signals ?? storage?.signals ?? new LocalSignals();
  const assets = claimed(options.assets, storage, { clock, random }) ?? dataFolder?.assets;
  const settings = options.settings ?? storage?.settings ?? dataFolder?.settings;
  const workFolder = options.workFolder ?? dataFolder?.workFolder;
  assert(storage && settings && assets, NO_STORES);
  assert(
    workFolder !== undefined || !roles.includes('worker'),
    'give `folder`, or a `workFolder` to the role `worker`',
  );

  const spareSpace = dataFolder?.spareSpace;
  const ledger =
    options.ledger ??
    new UnmeteredLedger({
      books: dataFolder && new StoredLedger({ store: dataFolder.ledgerStore, clock, random }),
    });
  const pricing = new Pricing(valid.pricing);
  const events: JobEvents = new EventEmitter();

  const fairness = new Fairness({ storage, clock, budgets });
  const webhooks = new Webhooks({
    options: options.webhooks ?? {},
    storage,
    signals,
    dataFolder,
    assetUrl: options.assetUrl,
    artifactUrl: options.artifactUrl,
    outbound: outside.outbound,
    mayWork: () => options.heldBack?.() === undefined,
    clock,
    random,
    logger,
  });
  const discards = new Discards({ assets, logger });
  const renderer =
    outside.renderer ??
    new Renderer({
      renderer: options.renderer ?? {},
      studio: studioOf(options.studioFolder, dataFolder),
      workers,
      limits,
      workFolder: workFolder === undefined ? undefined : resolve(workFolder),
      lock:
        options.workFolder === undefined
          ? undefined
          : new FolderLock(resolve(options.workFolder), { random, kind: 'work folder' }),
      probeAfterMs: options.probeAfterMs,
      clock,
      random,
      logger,
      spareSpace,
      speaker: speech && new Speaker(speech, { clock, random, logger, dataFolder: dataFolder?.path }),
      dataPlace: options.workFolder === undefined ? dataFolder?.place : undefined,
    });
  const place = dataFolder?.place;
  const storeWatch = new AssetStoreWatch({
    assets,
    place,
    folder: workFolder === undefined || !roles.includes('worker') ? undefined : resolve(workFolder),
    spareSpace: assets === dataFolder?.assets ? spareSpace : undefined,
    clock,
    random,
    logger,
  });
  const gate = new Gate({
    spareSpace,
    place,
    storeWatch,
    renderer,
    settings,
    signals,
    isDatabaseFull: () => storage.isFull ?? false,
    isShared: storage.isShared,
    heldBack: options.heldBack,
    clock,
  });
  const { admitsOwner, previewIntervalMs = 0 } = options;
  const storedBytes = new StoredBytes({ storage, clock, logger, most: budgets.storedBytes });
  events.on('change', (job) => {
    if (job.phase === 'completed' && job.forgottenAtMs === undefined) storedBytes.ended(job);
  });
  const fileQuota = new FileQuota(storage, fileOptions);
  const admission = new Admission({
    ...{ storage, ledger, pricing, clock, random, fairness, fileQuota },
    caps: queue,
    secrets: webhooks.secrets,
  });
  const acceptance = new Acceptance({
    ...{ admission, admitsOwner, fairness, storedBytes, gate, events, clock },
    onStuck: (jobId) => void cancellations.complete(jobId),
  });
  const assertAdmitted = async (owner: string, tx: Transaction) => {
    gate.assertDiskNotFull();
    if (admitsOwner && !(await admitsOwner(owner, tx))) throw ownerRefused();
  };
  const snapshots = new Snapshots({
    ...{ storage, ledger, pricing, assets, storedBytes, clock, random, logger },
    assertAdmitted,
  });
  const fileRemoval = new FileRemoval({
    ...{ storage, assets, clock },
    isHeld: () => dataFolder?.isBeingBackedUp ?? false,
  });
  const uploadFolder = new UploadFolder(
    workFolder === undefined ? undefined : join(resolve(workFolder), UPLOADS),
  );
  const fileParts = {
    ...{ storage, assets, removal: fileRemoval, quota: fileQuota, assertAdmitted, clock, random, logger },
    contents: new Contents(assets, fileRemoval),
    uploads: new Uploads({ folder: uploadFolder, quota: fileQuota, options: fileOptions, random }),
  };
  const files = new OwnerFiles(fileParts);
  const trees =
    workFolder === undefined
      ? undefined
      : new FileTrees({
          ...{ files: storage.files, assets, place: dataFolder?.place, logger },
          folder: join(resolve(workFolder), FILES),
          mostBytes: fileOptions.cacheBytes,
        });
  const claims = new JobClaims({ storage, clock, logger });
  const ending = new JobEnding({ storage, ledger, clock, deliveries: webhooks.book, admission, claims });
  const cancellations: Cancellations = new Cancellations({
    ending,
    storage,
    signals,
    discards,
    events,
    clock,
    logger,
  });
  const indexes =
    valid.incremental && workFolder !== undefined
      ? new VideoIndexes({
          videos: storage.videos,
          assets,
          isIsolated: () => renderer.status.sandbox?.layers.includes('namespaces') ?? true,
          workFolder: resolve(workFolder),
          place,
          clock,
          logger,
        })
      : undefined;
  const shortRuns = new ShortRuns(fairness);
  const dispatcher = new Dispatcher({
    claims,
    ending,
    cancellations,
    storage,
    assets,
    indexes,
    trees,
    storeWatch,
    ledger,
    pricing,
    signals,
    discards,
    fairness,
    shortRuns,
    gate,
    spareSpace,
    isDiskFull: async () => workFolder !== undefined && isFull(workFolder),
    queue,
    qualities: options.qualities,
    tex: options.tex,
    previewIntervalMs,
    events,
    clock,
    random,
    logger,
  });
  const ends = new JobEnds();
  const remoteJobs: RemoteJobs = new RemoteJobs({
    storage,
    signals,
    events,
    followed: () => [...ends.jobIds(), ...followers.jobIds()],
    progressHere: (jobId) => dispatcher.progress(jobId),
    clock,
    random,
  });
  const followers = new JobFollowers(events, remoteJobs.events);
  return {
    dataFolder,
    storage,
    assets,
    storeWatch,
    ledger,
    clock,
    logger,
    roles,
    workers,
    events,
    fairness,
    webhooks,
    deliveries: new Deliveries({ storage, clock, random, outbound: () => webhooks, links: webhooks.links }),
    discards,
    claims,
    ending,
    renderer,
    gate,
    cancellations,
    acceptance,
    shortRuns,
    snapshots,
    files,
    sentFiles: new SentFiles(fileParts),
    shares: new Shares({
      ...{ storage, admitsOwner, assertAdmitted, clock, random },
      views: new ShareViews({ store: storage.shares, clock, logger }),
    }),
    sceneQuota: new SceneQuota(storage, scenes),
    sceneSearches: new SceneSearches({ scenes: storage.scenes, clock }),
    assertAdmitted,
    admitsOwner,
    random,
    uploadFolder,
    fileRemoval,
    trees,
    pricing,
    tex: options.tex,
    storedBytes,
    dispatcher,
    upkeep: new Upkeep({
      storage,
      assets,
      ledger,
      admission,
      claims,
      ending,
      retention,
      discards,
      snapshots,
      fileRemoval,
      events,
      dispatcher,
      clock,
      random,
      logger,
    }),
    ends,
    followers,
    remoteJobs,
    searches: new JobSearches({ storage, clock }),
  };
}

/** The given store, shared with no copy of the data. The store of a data folder is copied with the folder. */
function claimed(
  store: AssetStore | undefined,
  storage: Storage | undefined,
  world: { clock: Clock; random: Random },
): AssetStore | undefined {
  const records = storage?.installation;
  if (!store || !records || !isClaimable(store)) return store;
  return new ClaimedAssets(store, { records, ...world });
}
