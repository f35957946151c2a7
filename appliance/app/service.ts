import { join } from 'node:path';
import {
  type Accounts,
  type ApiKeys,
  DataFolder,
  type Ledger,
  type Logger,
  type MasterKeys,
  type QueueOptions,
  RenderService,
} from '../../lib/index.ts';
import { systemClock, type TexInstallation } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { INTERNAL_OWNER } from '../http/authentication.ts';
import type { Readiness } from '../http/health.ts';
import type { OpenedPlace } from '../place/open-place.ts';
import type { Faults } from '../support/faults.ts';
import { limitsOf } from './render-limits.ts';
import { rendererOptions } from './renderer.ts';
import { RunningLimit } from './running-limit.ts';
import { speechOf } from './speech.ts';

const PREVIEW_INTERVAL_MS = 500;
const MIB = 1024 * 1024;

/** Dependencies of a service besides its configuration. */
export interface ServiceEnvironment {
  /** Base URL of links to artifacts. */
  assetUrl: () => string;
  /** Base URL of the dashboard. */
  publicUrl: () => string;
  logger: Logger;
  /** The state of the HTTP server; undefined while none listens. */
  readiness?: () => Readiness | undefined;
  /** Why this process must not work; undefined: it may. */
  heldBack?: () => string | undefined;
  /** The TeX of the machine, if packages of it are installed meanwhile. */
  tex?: TexInstallation;
  /** The latest warnings and errors. */
  faults?: Faults;
  /** Additional CA certificates (PEM) that webhooks trust. */
  webhookAuthorities?: string;
  /** Aborts the unpacking of the renderer. */
  signal?: AbortSignal;
}

/** The render service of a data folder or database, not yet started. */
export function createService(
  config: Config,
  {
    place,
    assets,
    bucket,
    ledger,
    accounts,
    keys,
    masterKeys,
  }: OpenedPlace & { ledger: Ledger; accounts: Accounts; keys: ApiKeys; masterKeys: MasterKeys },
  { assetUrl, logger, heldBack, tex, webhookAuthorities, signal }: ServiceEnvironment,
): RenderService {
  const { creditsPerSecond, reserveSeconds, workers, studioDir } = config;
  const { retentionDays, retentionGb, maxQueued, maxQueuedPerAccount, maxRunningPerAccount } = config;
  return new RenderService({
    ...(place instanceof DataFolder
      ? { dataFolder: place, ...(assets && { assets }) }
      : { storage: place.storage, assets: place.assets, workFolder: place.workFolder }),
    ...(config.databaseUrl !== undefined && { roles: config.roles }),
    ...(config.quality && { qualities: config.quality }),
    ...(config.s3Links === 'public' && bucket && { artifactUrl: bucket.artifactUrl }),
    ledger,
    ...(heldBack && { heldBack }),
    ...(tex && { tex }),
    admitsOwner: (owner, tx) => owner === INTERNAL_OWNER || accounts.isEnabled(owner, tx),
    pricing: { creditsPerSecond, reserveSeconds },
    limits: limitsOf(config),
    renderer: rendererOptions(config, {
      folder: join(place.path, 'renderer'),
      logger,
      ...(signal && { signal }),
    }),
    ...speechOf(config, place.path),
    ...(studioDir !== undefined && { studioFolder: studioDir }),
    ...(workers !== undefined && { workers }),
    incremental: config.incremental,
    probeAfterMs: config.probeAfterMinutes * 60_000,
    retention: {
      ...(retentionDays !== undefined && { maxAgeDays: retentionDays }),
      ...(retentionGb !== undefined && { maxTotalBytes: retentionGb * 1024 * MIB }),
    },
    queue: {
      maxQueued,
      maxQueuedPerOwner: maxQueuedPerAccount,
      maxQueuedOf: (owner, tx) => accounts.maxQueuedOf(owner, tx),
      reservedWorkers: config.reservedWorkers,
      maxRunningPerOwner: maxRunningPerAccount ?? defaultRunningLimit(config, { accounts, place }),
    },
    budgets: {
      failuresPerHour: config.failuresPerHour,
      unpaidSecondsPerHour: config.unpaidSecondsPerHour,
      checkSecondsPerHour: config.checkSecondsPerHour,
      storedBytes: config.maxStoredGbPerAccount * 1024 * MIB,
      jobsPerSecond: config.maxJobsPerSecondPerAccount,
    },
    files: {
      mostFiles: config.maxFilesPerAccount,
      mostBytes: config.maxFilesGbPerAccount * 1024 * MIB,
      largestBytes: config.maxFileMb * MIB,
      cacheBytes: config.fileCacheGb * 1024 * MIB,
      limitsOf: (owner, tx) => accounts.fileLimitsOf(owner, tx),
    },
    scenes: {
      mostScenes: config.maxScenesPerAccount,
      mostBytes: config.maxScenesMbPerAccount * MIB,
      limitsOf: (owner, tx) => accounts.sceneLimitsOf(owner, tx),
    },
    // Only the dashboard shows them.
    previewIntervalMs: config.dashboard === 'on' ? PREVIEW_INTERVAL_MS : 0,
    assetUrl,
    webhooks: {
      masterKeys,
      secretOf: ({ keyId }) => (keyId === null ? null : keys.webhookSecretOf(keyId)),
      allowNetworks: config.webhooksAllowNetworks,
      ...(webhookAuthorities !== undefined && { ca: webhookAuthorities }),
    },
    logger,
  });
}

function defaultRunningLimit(
  { roles, workers }: Config,
  { accounts, place }: { accounts: Accounts; place: OpenedPlace['place'] },
): QueueOptions['maxRunningPerOwner'] {
  return new RunningLimit({
    accounts: roles.includes('api') ? accounts : undefined,
    machines: place.machineStore,
    workers,
    clock: systemClock,
  }).most;
}
