import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import {
  type Accounts,
  type ApiKeys,
  DataFolder,
  type RenderService,
  StoredLedger,
  storeFailure,
  type UnmeteredLedger,
} from '../../lib/index.ts';
import {
  ScenepressError,
  type ScheduledBackups,
  systemClock,
  type TwoFactor,
  within,
} from '../../lib/internal.ts';
import { type BackupReport, backUp, completeReplacement, replaceMasterKey } from '../../lib/operations.ts';
import { DATABASE_BACKUPS } from '../config/database-backups.ts';
import type { Readiness } from '../http/health.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DataPlace } from '../place/data-place.ts';
import type { Faults } from '../support/faults.ts';
import { VERSION } from '../support/version.ts';
import type { AdministrationParts } from './administration.ts';
import { machineInfos, missingRoles } from './machines.ts';
import type { Counts, DiskInfo, Examination, RetentionInfo, ServiceInfo } from './service-views.ts';

type DataParts = Pick<
  AdministrationParts,
  | 'accounts'
  | 'keys'
  | 'ledger'
  | 'place'
  | 'placeName'
  | 'service'
  | 'twoFactor'
  | 'metrics'
  | 'faults'
  | 'readiness'
  | 'retention'
  | 'backups'
>;

/** How long the total size of artifacts is cached. */
const SUM_MS = 60_000;
/** How long a response waits for a new total. */
const PATIENCE_MS = 20;

/** The data folder as a whole: backups, the master key, statistics. Requests and answers are plain data. */
export class DataAdministration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #ledger: StoredLedger | UnmeteredLedger;
  readonly #place: DataPlace;
  readonly #placeName: string;
  readonly #service: RenderService;
  readonly #twoFactor: TwoFactor;
  readonly #metrics: Metrics;
  readonly #faults: Faults;
  readonly #readiness: () => Readiness;
  readonly #retention: RetentionInfo;
  readonly #backups: ScheduledBackups | undefined;
  /** As of the last sum, which reads all jobs with artifacts. */
  #artifactBytes: number | null = null;
  #addedUpAtMs = Number.NEGATIVE_INFINITY;
  #addingUp: Promise<void> | undefined;

  constructor(parts: DataParts) {
    const { accounts, keys, ledger, place, service, metrics, faults, readiness, retention } = parts;
    this.#accounts = accounts;
    this.#keys = keys;
    this.#ledger = ledger;
    this.#place = place;
    this.#placeName = parts.placeName;
    this.#service = service;
    this.#twoFactor = parts.twoFactor;
    this.#metrics = metrics;
    this.#faults = faults;
    this.#readiness = readiness;
    this.#retention = retention;
    this.#backups = parts.backups;
  }

  /** Copies everything into a new folder of this machine. */
  async backUp({ folder, withMasterKey }: { folder: string; withMasterKey: boolean }): Promise<BackupReport> {
    if (!(this.#place instanceof DataFolder)) throw new ScenepressError('conflict', DATABASE_BACKUPS);
    await this.completeRotation();
    return backUp(this.#place, folder, { withMasterKey });
  }

  /**
   * Re-encrypts all secrets with a new master key: a generated one, or `newKey` if keys are kept outside the
   * data folder. An interrupted rotation can be repeated; until it completes, both keys are valid.
   */
  async rotateMasterKey({
    newKey: given,
  }: {
    newKey?: string | undefined;
  }): Promise<{ keys: number; jobs: number; formerKeyFile: string | null }> {
    await this.#refuseOtherMachines();
    const total = { keys: 0, jobs: 0 };
    const reseal = async () => {
      const { keys, jobs } = await this.#reseal();
      total.keys += keys;
      total.jobs += jobs;
    };
    const formerKeyFile = await replaceMasterKey(this.#place, { given, reseal });
    await this.#purge();
    return { ...total, formerKeyFile };
  }

  /** They would not know the new key. */
  async #refuseOtherMachines(): Promise<void> {
    const machines = machineInfos((await this.#place.machineStore?.list()) ?? []);
    const alive = machines.filter(({ state }) => state !== 'dead');
    if (alive.length === 0) return;
    throw new ScenepressError(
      'conflict',
      `Stop all servers and workers first, because they know the current master key only: ${alive.map(({ name }) => name).join(', ')}. ` +
        'Then run this with --database-url, and start them with the new key.',
    );
  }

  /** Completes an interrupted rotation of the master key, if there is one. */
  async completeRotation(): Promise<void> {
    const reseal = () => this.#reseal();
    if (await completeReplacement(this.#place, { reseal })) await this.#purge();
  }

  /** Returns the numbers of keys and jobs with secrets that were sealed again. */
  async #reseal(): Promise<{ keys: number; jobs: number }> {
    await this.#twoFactor.reseal();
    return this.#service.resealSecrets({ keys: this.#keys });
  }

  /** Erases secrets encrypted with the old key from the disk. If this fails, later changes overwrite them. */
  async #purge(): Promise<void> {
    await this.#place.storage.purge().catch(() => {});
  }

  /** Numbers of stored items and the state of the service, without personal data. */
  async showCounts(): Promise<Counts> {
    const counts = { accounts: 0, disabledAccounts: 0, keys: 0, revokedKeys: 0 };
    for await (const { disabledAtMs } of this.#accounts.all()) {
      counts.accounts += 1;
      if (disabledAtMs !== undefined) counts.disabledAccounts += 1;
    }
    for await (const { revokedAtMs } of this.#keys.all()) {
      counts.keys += 1;
      if (revokedAtMs !== null) counts.revokedKeys += 1;
    }
    return {
      ...counts,
      data: await this.#place.statistics(),
      service: this.#service.status(),
    };
  }

  /** Health, workers, sandbox, disk, retention and recent faults. */
  async showService(): Promise<ServiceInfo> {
    const listed = await this.#place.machineStore?.list();
    const machines = listed ? machineInfos(listed) : null;
    const health = this.#readiness();
    return {
      version: VERSION,
      health: { ...health, warnings: [...health.warnings, ...(machines ? missingRoles(machines) : [])] },
      status: this.#service.status(),
      machines,
      disk: await this.#disk(),
      backups: (await this.#backups?.info()) ?? null,
      faults: this.#faults.list(),
    };
  }

  async #disk(): Promise<DiskInfo> {
    const { databaseBytes, logBytes, documentBytes } = await this.#place.statistics();
    const { bsize, blocks, bavail } = await statfs(this.#place.path).catch(() => statfs('.'));
    if (systemClock.now() - this.#addedUpAtMs > SUM_MS) {
      this.#addingUp ??= this.#addUp();
      await within(systemClock, PATIENCE_MS, this.#addingUp);
    }
    return {
      databaseBytes: databaseBytes + logBytes,
      documentBytes,
      artifactBytes: this.#artifactBytes,
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      retention: this.#retention,
    };
  }

  async #addUp(): Promise<void> {
    try {
      this.#artifactBytes = await this.#place.artifactBytes();
      this.#addedUpAtMs = systemClock.now();
    } catch {
      // Shown as not known; the next answer tries again.
    } finally {
      this.#addingUp = undefined;
    }
  }

  /** The database or folder that this server uses. */
  async showPlace(): Promise<{ place: string }> {
    return { place: this.#placeName };
  }

  /** Recomputes every balance and collects the state of the data folder. */
  async examine(): Promise<Examination> {
    const [newest] = await this.#service.list({ limit: 1 });
    const rights = (await this.#place.rights?.()) ?? null;
    // A process that only renders may not look there.
    const mayRead = (table: string) => rights === null || rights.guardedTables.includes(table);
    return {
      status: this.#service.status(),
      audit: this.#ledger instanceof StoredLedger ? await this.#ledger.audit() : null,
      data: await this.#place.statistics(),
      backups: (await this.#backups?.info()) ?? null,
      storeFailure: await this.#storeFailure(),
      rights,
      halfDeletedAccounts: mayRead('accounts') ? await this.#halfDeleted() : [],
      isRotating: mayRead('master_keys') && (await this.#place.masterKeyFiles.isRotating()),
      clockAheadMs: (await this.#place.clockAheadMs?.()) ?? null,
      newestMs: newest ? Date.parse(newest.createdAt) : null,
    };
  }

  /** The output of `/metrics`; needs no token. */
  async showMetrics(): Promise<{ text: string }> {
    return { text: await this.#metrics.text() };
  }

  async #storeFailure(): Promise<string | null> {
    const failure = await storeFailure(this.#place.assets, { folder: tmpdir() });
    return failure === undefined ? null : (failure as Error).message;
  }

  /** User ids of accounts whose deletion is in progress or was interrupted. */
  async #halfDeleted(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { accountId, deletedAtMs } of this.#accounts.all()) {
      if (deletedAtMs !== undefined) ids.push(accountId);
    }
    return ids;
  }
}
