import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Accounts,
  type ApiKeys,
  type BackupReport,
  backUp,
  completeReplacement,
  type DataFolder,
  type RenderService,
  replaceMasterKey,
  StoredLedger,
  systemClock,
  type UnmeteredLedger,
} from '../../lib/index.ts';
import type { Readiness } from '../http/health.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Faults } from '../support/faults.ts';
import { VERSION } from '../version.ts';
import type { AdministrationParts } from './administration.ts';
import type { Counts, DiskInfo, Examination, RetentionInfo, ServiceInfo } from './administration-views.ts';

type DataParts = Pick<
  AdministrationParts,
  'accounts' | 'keys' | 'ledger' | 'folder' | 'service' | 'metrics' | 'faults' | 'readiness' | 'retention'
>;

/** How long a sum of all artifacts is shown as current. */
const SUM_MS = 60_000;
/** How long an answer waits for a new one. */
const PATIENCE_MS = 20;

/** The data folder as a whole: backups, the master key, statistics. Requests and answers are plain data. */
export class DataAdministration {
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #ledger: StoredLedger | UnmeteredLedger;
  readonly #folder: DataFolder;
  readonly #service: RenderService;
  readonly #metrics: Metrics;

  readonly #faults: Faults;
  readonly #readiness: () => Readiness;
  readonly #retention: RetentionInfo;
  /** As of the last sum, which reads all jobs with artifacts. */
  #artifactBytes: number | null = null;
  #addedUpAtMs = Number.NEGATIVE_INFINITY;
  #addingUp: Promise<void> | undefined;

  constructor(parts: DataParts) {
    const { accounts, keys, ledger, folder, service, metrics, faults, readiness, retention } = parts;
    this.#accounts = accounts;
    this.#keys = keys;
    this.#ledger = ledger;
    this.#folder = folder;
    this.#service = service;
    this.#metrics = metrics;
    this.#faults = faults;
    this.#readiness = readiness;
    this.#retention = retention;
  }

  /** Copies everything into a new folder of this machine. */
  async backUp({ folder, withMasterKey }: { folder: string; withMasterKey: boolean }): Promise<BackupReport> {
    await this.completeRotation();
    return backUp(this.#folder, folder, { withMasterKey });
  }

  /**
   * Re-encrypts all webhook secrets with a new master key: a generated one, or `newKey` if keys are kept outside the
   * data folder. An interrupted rotation can be repeated; until it completes, both keys are valid.
   */
  async rotateMasterKey({
    newKey: given,
  }: {
    newKey?: string | undefined;
  }): Promise<{ keys: number; jobs: number; formerKeyFile: string | null }> {
    const total = { keys: 0, jobs: 0 };
    const reseal = async () => {
      const { keys, jobs } = await this.#service.resealSecrets({ keys: this.#keys });
      total.keys += keys;
      total.jobs += jobs;
    };
    const formerKeyFile = await replaceMasterKey(this.#folder, { given, reseal });
    await this.#purge();
    return { ...total, formerKeyFile };
  }

  /** Completes an interrupted rotation of the master key, if there is one. */
  async completeRotation(): Promise<void> {
    const reseal = () => this.#service.resealSecrets({ keys: this.#keys });
    if (await completeReplacement(this.#folder, { reseal })) await this.#purge();
  }

  /** Erases secrets encrypted with the old key from the disk. If this fails, later changes overwrite them. */
  async #purge(): Promise<void> {
    await this.#folder.storage.purge().catch(() => {});
  }

  /** Numbers of stored items and the state of the service, without personal data. */
  async showCounts(): Promise<Counts> {
    const accounts = await Array.fromAsync(this.#accounts.all());
    const keys = await Array.fromAsync(this.#keys.all());
    return {
      accounts: accounts.length,
      disabledAccounts: accounts.filter(({ disabledAtMs }) => disabledAtMs !== undefined).length,
      keys: keys.length,
      revokedKeys: keys.filter(({ revokedAtMs }) => revokedAtMs !== null).length,
      data: await this.#folder.statistics(),
      service: this.#service.status(),
    };
  }

  /** Health, workers, sandbox, disk, retention and recent faults. */
  async showService(): Promise<ServiceInfo> {
    return {
      version: VERSION,
      health: this.#readiness(),
      status: this.#service.status(),
      disk: await this.#disk(),
      faults: this.#faults.list(),
    };
  }

  async #disk(): Promise<DiskInfo> {
    const { databaseBytes, logBytes, documentBytes } = await this.#folder.statistics();
    const { bsize, blocks, bavail } = await statfs(this.#folder.path);
    if (systemClock.now() - this.#addedUpAtMs > SUM_MS) {
      this.#addingUp ??= this.#addUp();
      await Promise.race([this.#addingUp, delay(PATIENCE_MS)]);
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
      this.#artifactBytes = await this.#folder.artifactBytes();
      this.#addedUpAtMs = systemClock.now();
    } catch {
      // Shown as not known; the next answer tries again.
    } finally {
      this.#addingUp = undefined;
    }
  }

  /** Recomputes every balance and collects the state of the data folder. */
  async examine(): Promise<Examination> {
    const [newest] = await this.#service.list({ limit: 1 });
    return {
      status: this.#service.status(),
      audit: this.#ledger instanceof StoredLedger ? await this.#ledger.audit() : null,
      data: await this.#folder.statistics(),
      halfDeletedAccounts: await this.#halfDeleted(),
      isRotating: await this.#folder.masterKeyFiles.isRotating(),
      newestMs: newest ? Date.parse(newest.createdAt) : null,
    };
  }

  /** The output of `/metrics`; needs no token. */
  async showMetrics(): Promise<{ text: string }> {
    return { text: await this.#metrics.text() };
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
