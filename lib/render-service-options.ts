import type { AssetStore } from './assets/asset-store.ts';
import type { RetentionOptions } from './assets/retention.ts';
import type { Clock } from './clock.ts';
import type { DataFolder } from './data-folder/data-folder.ts';
import type { BudgetOptions } from './jobs/failure-budgets.ts';
import type { Job } from './jobs/job.ts';
import type { RenderRequest } from './jobs/render-request.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { PricingOptions } from './ledger/pricing.ts';
import type { UnmeteredLedger } from './ledger/unmetered-ledger.ts';
import type { Logger } from './logger.ts';
import type { QueueOptions } from './queue/queue-options.ts';
import type { RenderLimits } from './render/run/limits.ts';
import type { RenderProgress } from './render/run/render-task.ts';
import type { RendererOptions } from './render/start/launcher.ts';
import type { RenderService } from './render-service.ts';
import type { ServiceStatus } from './service-status.ts';
import type { SettingsStore } from './settings/settings-store.ts';
import type { Signals } from './signals/signals.ts';
import type { Storage } from './storage/storage.ts';
import type { Delivery } from './webhooks/delivery.ts';
import type { WebhookOptions } from './webhooks/webhook-secrets.ts';

/** What a process of a service does. */
export const ROLES = ['api', 'worker', 'sender', 'upkeep'] as const;
/**
 * | role | what |
 * |---|---|
 * | `api` | takes jobs on, cancels them and tells of them |
 * | `worker` | renders |
 * | `sender` | sends outcomes to webhooks |
 * | `upkeep` | puts jobs of dead workers back, audits the books, removes what is old |
 */
export type Role = (typeof ROLES)[number];

/** What a {@link RenderService} is made of. Only `folder`, or `dataFolder`, or the four parts of one, must be given. */
export interface RenderServiceOptions {
  /** Keeps everything in this folder of the machine, made when it isn't there. */
  folder?: string;
  /** The same, when you need the folder's other stores too (keys, accounts, books). */
  dataFolder?: DataFolder;
  /** Where jobs live; default: the folder. */
  storage?: Storage;
  /** Where settings live that last through restarts; default: the folder. */
  settings?: SettingsStore;
  /** Where artifacts live; default: the folder. */
  assets?: AssetStore;
  /** For files of renders in progress, emptied at start; default: `work` in the folder. */
  workFolder?: string;
  /**
   * A folder of yours that every scene may read and none may change, at `/studio`: `fonts/` for `Text(font=…)`, `python/`
   * for `import`, `assets/` for pictures and sounds by name. Files put there count from the next render on. When the
   * service is root, they must be readable for everyone. Default: those of the data folder, made when they aren't
   * there, where the service sees to that itself.
   */
  studioFolder?: string;
  /** Who pays; default: no one ({@link UnmeteredLedger}). */
  ledger?: Ledger;
  pricing?: Partial<PricingOptions>;
  /**
   * Whether jobs of an owner are taken on: asked in the transaction that does, so that an account which is disabled or
   * deleted meanwhile gets no more. Refused with `owner_refused`. Default: those of everyone.
   */
  admitsOwner?: (owner: string) => Promise<boolean> | boolean;
  limits?: Partial<RenderLimits>;
  renderer?: RendererOptions;
  /**
   * What this process does of what a service does; default: all. Several processes need a storage that is shared. Events,
   * `wait` and `progress` tell of what this process does.
   */
  roles?: readonly Role[];
  /** How this process tells others, and itself, what changed; default: only itself. */
  signals?: Signals;
  /** Renders at the same time; default: one for each CPU. */
  workers?: number;
  queue?: Partial<QueueOptions>;
  /** What may fail, or be canceled, of one owner within an hour; beyond that no jobs of theirs are taken on. */
  budgets?: Partial<BudgetOptions>;
  /** How long artifacts are kept; default: for good. */
  retention?: Partial<RetentionOptions>;
  /** What links to artifacts in webhooks begin with, without a slash at the end. Needed where there are webhooks. */
  assetUrl?: string | (() => string);
  webhooks?: WebhookOptions;
  /**
   * When no video has come out for so long, a small scene is rendered to see whether one still would:
   * {@link ServiceStatus.ready} depends on it. Default 10 minutes; 0: only after a renderer process died.
   */
  signOfLifeAfterMs?: number;
  /** Emits a small picture of a running render at most this often; default 0: never. */
  previewIntervalMs?: number;
  clock?: Clock;
  logger?: Logger;
}

/** A render to be made for an owner. */
export interface EnqueueRequest extends RenderRequest {
  /** Whose job it is: an account of yours, opaque to the service. */
  owner: string;
  /** The API key it came with. Its secret signs what is sent to `webhookUrl` ({@link WebhookOptions.secretOf}). */
  keyId?: string | null;
  /** Where the outcome is sent, without keys: a URL with the secret that signs it. Wins over `webhookUrl`. */
  webhook?: { url: string; secret: string };
  /** The metadata as JSON text, kept exactly so; wins over `metadata`. */
  metadataJson?: string | null;
  /**
   * Makes it safe to send the same request again, for a day: the owner's own name for it. `fingerprint` tells whether
   * it is the same; default: a hash of the request.
   */
  idempotency?: { key: string; fingerprint?: string };
}

/** Limits a look-up to one owner's jobs; another's are as if they weren't there. */
export interface JobScope {
  owner?: string;
}

/** What a {@link RenderService} tells. */
export interface RenderServiceEvents {
  /** A job was made or changed its status. */
  job: [job: Job];
  /** A running job got further. */
  progress: [jobId: string, progress: RenderProgress];
  /** An attempt at a webhook ended: its delivery as it now is. */
  delivery: [delivery: Delivery];
  /** A small JPEG of the frame being drawn. */
  preview: [jobId: string, jpeg: Buffer];
}
