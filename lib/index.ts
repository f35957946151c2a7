/** Scenepress as a library: renders Manim scenes. Start at {@link RenderService}. */
import './node-version.ts';
import './bundled.ts';

// Renders

export type { ArtifactName } from './artifacts.ts';
export type { ByteRange } from './assets/asset-store.ts';
export type { OpenArtifactOptions, OpenedArtifact } from './assets/open-artifact.ts';
export type { RetentionOptions } from './assets/retention.ts';
export { FAILED_BY, type FailedBy } from './jobs/failures.ts';
export { type BudgetOptions, DEFAULT_BUDGETS } from './jobs/fairness.ts';
export type { Artifact, Job, JobStatus } from './jobs/job.ts';
export type { JobEvent } from './jobs/job-followers.ts';
export type { ArtifactUrl } from './jobs/job-json.ts';
export type { JobListQuery } from './jobs/job-list-query.ts';
export { RENDER_REQUEST_SCHEMA, type RenderRequest } from './jobs/render-request.ts';
export type { EnqueueRequest, JobScope, ScenesOptions, WaitOptions } from './jobs/requests.ts';
export {
  type LocalRender,
  LocalRenderer,
  type LocalRendererOptions,
  type LocalRenderOptions,
} from './local/local-renderer.ts';
export type { LocalRequest } from './local/local-request.ts';
export { ASPECT_RATIOS, type AspectRatio, QUALITIES, type Quality } from './qualities.ts';
export type { QueueOptions } from './queue/queue-options.ts';
export { DEFAULT_LIMITS, type RenderLimits } from './render/run/limits.ts';
export type { Play, RenderProgress, RenderUsage } from './render/run/render-task.ts';
export {
  type EnsureRendererOptions,
  ensureRenderer,
  type SetUpProgress,
} from './render/setup/ensure-renderer.ts';
export type { RendererOptions } from './render/start/launcher.ts';
export { sceneFolderOf } from './render/start/scene-folder.ts';
export { RenderService } from './render-service.ts';
export type { RenderServiceEvents, RenderServiceOptions } from './render-service-options.ts';
export { ROLES, type Role } from './roles.ts';
export type { ServiceProblem } from './service-problems.ts';
export type { ServiceStatus } from './service-status.ts';

// Webhooks

export { Deliveries } from './webhooks/deliveries.ts';
export type { Delivery } from './webhooks/delivery.ts';
export type { WebhookOptions } from './webhooks/webhook-secrets.ts';

// Money

export type { Balance, Ledger, ReserveAnswer } from './ledger/ledger.ts';
export type { LedgerEntry } from './ledger/ledger-store.ts';
export { DEFAULT_PRICING, type PricingOptions } from './ledger/pricing.ts';
export { StoredLedger, type StoredLedgerOptions } from './ledger/stored-ledger.ts';
export { UnmeteredLedger } from './ledger/unmetered-ledger.ts';

// Keys

export type { Account } from './accounts/account-store.ts';
export { Accounts } from './accounts/accounts.ts';
export { ApiKeys } from './keys/api-keys.ts';
export { MasterKey } from './keys/master-key.ts';
export { MasterKeys } from './keys/master-keys.ts';

// Stores

export type { AssetStore, OpenedAsset } from './assets/asset-store.ts';
export { FileAssetStore } from './assets/file-asset-store.ts';
export { storeFailure } from './assets/store-failure.ts';
export { DataFolder, type DataFolderOptions } from './data-folder/data-folder.ts';
export { LocalSignals } from './signals/local-signals.ts';
export type { Signal, Signals } from './signals/signals.ts';
export { SQL_SCHEMAS, type SqlStores, sqlStorage } from './sql/sql-stores.ts';
export type { SqlDatabase, SqlReader, SqlTransaction, SqlValue } from './storage/sql.ts';
export type { Transaction } from './storage/transaction.ts';

// Errors, logs and time

export type { Clock } from './clock.ts';
export { type ErrorCode, isScenepressError, ScenepressError } from './errors.ts';
export type { Logger } from './logger.ts';
export { type HttpError, httpErrorOf, httpStatusOf } from './web/http-errors.ts';
