import type { AssetStore } from '../assets/asset-store.ts';
import type { RetentionOptions } from '../assets/retention.ts';
import type { Logger } from '../base/logger.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import type { BudgetOptions } from '../jobs/fairness/fairness.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PricingOptions } from '../ledger/pricing.ts';
import type { UnmeteredLedger } from '../ledger/unmetered-ledger.ts';
import type { Job } from '../model/job.ts';
import type { ArtifactUrl } from '../model/job-json.ts';
import type { RenderLimits } from '../model/limits.ts';
import type { Quality } from '../model/qualities.ts';
import type { RenderProgress } from '../model/render-task.ts';
import type { Role } from '../model/roles.ts';
import type { SpeechOptions } from '../model/speech.ts';
import type { FileOptions } from '../owner-files/file-limits.ts';
import type { RendererOptions } from '../render/start/launcher.ts';
import type { TexInstallation } from '../render/tex/tex-installation.ts';
import type { SceneOptions } from '../scenes/scene-limits.ts';
import type { Delivery } from '../storage/delivery.ts';
import type { QueueOptions } from '../storage/queue/queue-options.ts';
import type { SettingsStore } from '../storage/settings-store.ts';
import type { Signals } from '../storage/signals.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Clock } from '../time/clock.ts';
import type { WebhookOptions } from '../webhooks/webhook-secrets.ts';

/**
 * Options of `RenderService`. Required: `folder`, or `dataFolder`, or all of `storage`, `assets` and, with the role
 * `worker`, `workFolder`. An option that is undefined has its default. For
 * an option that does not exist, or a value that is not allowed, the constructor throws `invalid_request`, which names it.
 */
export interface RenderServiceOptions {
  /** A local folder for all data; created when missing. */
  folder?: string;
  /** Instead of `folder`, when you also need its other stores (keys, accounts, ledger). */
  dataFolder?: DataFolder;
  /** Where jobs, queue and webhooks are kept: `postgres(url)`, or {@link sqlStorage}; default: the data folder. */
  storage?: Storage;
  /** The store of persistent settings; default: that of the storage, else the data folder. @internal */
  settings?: SettingsStore;
  /** The store of artifacts; default: the data folder. */
  assets?: AssetStore;
  /**
   * Temporary files of running renders; emptied at start, so each process needs one of its own. Only for the role `worker`.
   * Default: `work` in the data folder.
   */
  workFolder?: string;
  /**
   * A folder that scenes can read but not write, mounted at `/studio`: `fonts/` for `Text(font=…)`, `python/` for
   * `import`, `assets/` for images and sounds by name, `texmf/` for TeX packages. Changes take effect with the next render. When the service
   * runs as root, the files must be world-readable. Default: the folders of the data folder, which are created and
   * made readable by the service.
   */
  studioFolder?: string;
  /** Default: renders are free ({@link UnmeteredLedger}). */
  ledger?: Ledger;
  /** Replaces options of `DEFAULT_PRICING`; `creditsPerSecond` has a price of each quality. */
  pricing?: Partial<PricingOptions>;
  /**
   * Whether jobs of an owner are accepted. Called in the transaction that adds the job, which has locked the owner, so a
   * disabled or deleted account cannot add one concurrently; with an external ledger also in the transaction after its
   * answer. `tx`: that transaction, for reads in the same database. On false, `enqueue` rejects with `owner_refused`.
   * Default: accepts all owners.
   */
  admitsOwner?: (owner: string, tx: Transaction) => Promise<boolean> | boolean;
  /**
   * Why this process must not work, a sentence for its operator, such as that its prices are not those of other processes;
   * undefined: it may. Asked often. While there is a reason, the process is not ready, accepts no jobs and begins no renders
   * and no webhooks; those in progress end. Default: it may work.
   */
  heldBack?: () => string | undefined;
  /** The TeX of the machine, if packages of it are installed while the service runs. @internal */
  tex?: TexInstallation;
  /** What one render may use; default: `DEFAULT_LIMITS`. */
  limits?: Partial<RenderLimits>;
  /** Default: what set-up has made. */
  renderer?: RendererOptions;
  /**
   * The roles of this process; default: all. Several processes need a shared storage. `wait`, `follow`, `progress` and
   * `cancel` work for jobs of all processes; the event `job` tells of the work of this one, `remoteJob` of the others'.
   */
  roles?: readonly Role[];
  /**
   * Notifies the processes of the service of changes, this one included; default: those of the storage, else only this
   * process.
   */
  signals?: Signals;
  /** Concurrent renders; default: one per CPU. */
  workers?: number;
  /** Only jobs of these qualities are rendered here, such as on a machine with much memory; default: all. */
  qualities?: readonly Quality[];
  /** Limits of waiting and running jobs. */
  queue?: Partial<QueueOptions>;
  /** Limits on failed and canceled renders per owner and hour; beyond them, the owner's jobs are rejected. */
  budgets?: Partial<BudgetOptions>;
  /** Makes the audio of voiceovers for which a scene has no file; default: such a scene fails. */
  speech?: SpeechOptions;
  /** Limits on the files of owners, which their scenes may read. */
  files?: Partial<FileOptions>;
  /** Limits on the scenes that owners keep. */
  scenes?: Partial<SceneOptions>;
  /**
   * Copies the frames of an earlier video of the scene that are equal, instead of encoding them again; default true.
   * Keeps an internal `video.index` beside each video in the asset store.
   */
  incremental?: boolean;
  /** How long artifacts are kept; default: forever. */
  retention?: Partial<RetentionOptions>;
  /** The base URL of artifact links in webhooks, without a trailing slash. Webhooks need it, or `artifactUrl`. */
  assetUrl?: string | (() => string);
  /** Makes the artifact links in webhooks, instead of `<assetUrl>/artifacts/<jobId>/<name>`. */
  artifactUrl?: ArtifactUrl;
  /** How outcomes are sent. */
  webhooks?: WebhookOptions;
  /**
   * Milliseconds without a finished video before a small probe scene is rendered; `ServiceStatus.ready` depends
   * on its result. Default 10 minutes; 0: probe only after a renderer process died.
   */
  probeAfterMs?: number;
  /** Minimum interval of `preview` events of a running render; default 0: no previews. */
  previewIntervalMs?: number;
  /** Default: the system's. */
  clock?: Clock;
  /** Default: silence. */
  logger?: Logger;
}

/** Events of `RenderService`. */
export interface RenderServiceEvents {
  /** A job was created or changed its status. */
  job: [job: Job];
  /** Another process of the service created a job or changed its status, if the processes have signals. */
  remoteJob: [job: Pick<Job, 'jobId' | 'owner' | 'status'>];
  /** A running job made progress. Of jobs of other processes: if they are followed here, or `progress` was called. */
  progress: [jobId: string, progress: RenderProgress];
  /** A webhook attempt ended; the updated delivery. */
  delivery: [delivery: Delivery];
  /** A small JPEG of the frame being drawn. Of jobs of other processes: as for `progress`. */
  preview: [jobId: string, jpeg: Uint8Array];
}
