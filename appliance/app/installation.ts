import { resolve } from 'node:path';
import {
  Accounts,
  ApiKeys,
  DataFolder,
  type Logger,
  type MasterKeys,
  type RenderService,
  StoredLedger,
  UnmeteredLedger,
} from '../../lib/index.ts';
import {
  type PasswordCost,
  Pricing,
  silentLogger,
  systemClock,
  systemRandom,
  TwoFactor,
} from '../../lib/internal.ts';
import { ClassLinks, ScheduledBackups } from '../../lib/internal-service.ts';
import { administrationFor } from '../admin/access.ts';
import { type Actor, Acts } from '../admin/acts.ts';
import type { RemoteAdministration } from '../admin/admin-socket.ts';
import { Administration } from '../admin/administration.ts';
import type { Prices } from '../admin/administration-views.ts';
import { configuredAssetUrl, configuredPublicUrl } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { readinessOf } from '../http/health.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { DataPlace } from '../place/data-place.ts';
import { configuredMasterKey, usesSecrets } from '../place/master-key.ts';
import { type OpenedPlace, type Opener, openPlace, placeNameOf } from '../place/open-place.ts';
import { readWebhookAuthorities } from '../place/webhook-authorities.ts';
import { Faults } from '../support/faults.ts';
import { createService, type ServiceEnvironment } from './service.ts';

/** An open data folder or database, with the objects that use it. */
export interface Installation {
  place: DataPlace;
  /** The bucket of the artifacts; undefined where they are files. */
  bucket: OpenedPlace['bucket'];
  accounts: Accounts;
  /** Links under which people make accounts. */
  classLinks: ClassLinks;
  keys: ApiKeys;
  ledger: StoredLedger | UnmeteredLedger;
  /** Not started. */
  service: RenderService;
  administration: Administration;
  /** The administration as an actor may use it; its acts are recorded. */
  administrationFor: (actor: Actor) => RemoteAdministration;
  acts: Acts;
  masterKeys: MasterKeys;
  twoFactor: TwoFactor;
  /** Not started; undefined if no backups are scheduled. */
  backups: ScheduledBackups | undefined;
  /** Not started. */
  metrics: Metrics;
  close(): Promise<void>;
}

type InstallationOptions = Partial<Opener> & { examines?: boolean; passwordCost?: PasswordCost | undefined };

/**
 * Opens the configured database or data folder; creates the folder if missing. Errors: `storage_locked` while another
 * process owns the folder. `examines`: records nothing, not even which master key is the right one. `passwordCost`: as of
 * `Accounts`.
 */
export async function openInstallation(
  config: Config,
  world: ServiceEnvironment = {
    assetUrl: () => configuredAssetUrl(config),
    publicUrl: () => configuredPublicUrl(config),
    logger: silentLogger,
  },
  { serves = false, mayCreate = true, examines = false, passwordCost }: InstallationOptions = {},
): Promise<Installation> {
  const opened = await openPlace(config, { serves, mayCreate, logger: world.logger });
  const { place, bucket } = opened;
  try {
    const given = await configuredMasterKey(config);
    const required = serves && usesSecrets(config);
    const masterKeys = await place.masterKeys({ given, required, records: !examines });
    const twoFactor = new TwoFactor({ store: place.accountStore, masterKeys });
    const freeCreditsPerMonth = config.freeCredits;
    const accounts = new Accounts({ store: place.accountStore, ...(passwordCost && { passwordCost }) });
    const keys = new ApiKeys({ store: place.keyStore, masterKeys });
    const books = new StoredLedger({ store: place.ledgerStore, freeCreditsPerMonth });
    const ledger =
      config.creditsMode === 'metered' ? books : new UnmeteredLedger({ freeCreditsPerMonth, books });
    const classLinks = new ClassLinks({
      ...{ storage: place.storage, accounts, clock: systemClock, random: systemRandom },
      ledger: ledger instanceof StoredLedger ? ledger : undefined,
    });
    // Without a server, test events are sent with them; other commands work without.
    const webhookAuthorities =
      world.webhookAuthorities ?? (await readWebhookAuthorities(config).catch(() => undefined));
    const service = createService(
      config,
      { ...opened, ledger, accounts, keys, masterKeys },
      { ...world, ...(webhookAuthorities !== undefined && { webhookAuthorities }) },
    );
    const { assetUrl, publicUrl, logger, readiness, faults } = world;
    const backups = backupsOf(config, {
      place,
      prepare: () => administration.data.completeRotation(),
      logger,
    });
    const metrics = new Metrics({ service, place, pricing: pricingOf(config), backups });
    const acts = new Acts({ store: place.actStore, accounts, logger });
    const administration: Administration = new Administration({
      accounts,
      acts,
      classLinks,
      keys,
      ledger,
      service,
      place,
      placeName: placeNameOf(config),
      assetUrl,
      metrics,
      publicUrl,
      masterKeys,
      twoFactor,
      prices: pricesOf(config),
      readiness: () => readiness?.() ?? readinessOf(service, { isDraining: false, warnings: [] }),
      faults: faults ?? new Faults(),
      renderTimeoutSeconds: config.renderTimeoutSeconds,
      retention: { days: config.retentionDays ?? null, gibibytes: config.retentionGb ?? null },
      backups,
    });
    return {
      place,
      bucket,
      accounts,
      classLinks,
      keys,
      ledger,
      service,
      administration,
      administrationFor: (actor) =>
        administrationFor(actor, { administration, accounts, classLinks, keys, service, acts }),
      acts,
      masterKeys,
      twoFactor,
      backups,
      metrics,
      async close() {
        await acts.close();
        await place.stop();
      },
    };
  } catch (error) {
    await place.stop();
    throw error;
  }
}

/** Undefined with a database, and without a folder for backups. */
function backupsOf(
  { backupDir, backupSchedule, backupsKept }: Config,
  { place, ...parts }: { place: DataPlace; prepare: () => Promise<void>; logger: Logger },
): ScheduledBackups | undefined {
  if (backupDir === undefined || !(place instanceof DataFolder)) return undefined;
  return new ScheduledBackups({
    source: place,
    folder: resolve(backupDir),
    pattern: backupSchedule,
    kept: backupsKept,
    clock: systemClock,
    ...parts,
  });
}

/** Undefined in unmetered mode. */
function pricingOf({ creditsMode, creditsPerSecond, reserveSeconds }: Config): Pricing | undefined {
  return creditsMode === 'metered' ? new Pricing({ creditsPerSecond, reserveSeconds }) : undefined;
}

/** Undefined in unmetered mode. */
function pricesOf({
  creditsMode,
  creditsPerSecond,
  reserveSeconds,
  freeCredits,
}: Config): Prices | undefined {
  if (creditsMode === 'unmetered') return undefined;
  return { creditsPerSecond, reserveSeconds, freeCreditsPerMonth: freeCredits };
}
