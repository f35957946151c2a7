/** Scenepress as a library: renders Manim scenes. Start at {@link RenderService}. */
import './base/node-version.ts';
import './base/bundled.ts';

// Renders

export type { ByteRange } from './assets/asset-store.ts';
export type { OpenedArtifact } from './assets/open-artifact.ts';
export type { RetentionOptions } from './assets/retention.ts';
export { type BudgetOptions, DEFAULT_BUDGETS } from './jobs/fairness/fairness.ts';
export type { JobEvent } from './jobs/watch/job-followers.ts';
export type { LocalRendererOptions } from './local/local-options.ts';
export { type LocalRender, LocalRenderer } from './local/local-renderer.ts';
export type { LocalRequest } from './local/local-request.ts';
export type { ArtifactName } from './model/artifacts.ts';
export type { CheckedSource, CheckRequest } from './model/checked-source.ts';
export { FAILED_BY, type FailedBy } from './model/failures.ts';
export { FINDING_KINDS, type Finding } from './model/finding.ts';
export type { InspectedSource } from './model/inspected-source.ts';
export type { Artifact, Job, JobStatus } from './model/job.ts';
export type { ArtifactUrl } from './model/job-json.ts';
export type { JobListQuery } from './model/job-list-query.ts';
export { DEFAULT_LIMITS, type RenderLimits } from './model/limits.ts';
export { ASPECT_RATIOS, type AspectRatio, QUALITIES, type Quality } from './model/qualities.ts';
export { RENDER_REQUEST_SCHEMA, type RenderRequest } from './model/render-request.ts';
export type { Play, RenderProgress, RenderUsage } from './model/render-task.ts';
export type { EnqueueRequest, WaitOptions } from './model/requests.ts';
export { ROLES, type Role } from './model/roles.ts';
export type { ServiceProblem } from './model/service-problems.ts';
export {
  type EnsureRendererOptions,
  ensureRenderer,
} from './render/setup/ensure-renderer.ts';
export type { RendererOptions } from './render/start/launcher.ts';
export { sceneFolderOf } from './render/start/scene-folder.ts';
export { RenderService } from './service/render-service.ts';
export type { RenderServiceEvents, RenderServiceOptions } from './service/render-service-options.ts';
export type { ServiceStatus } from './service/service-status.ts';
export type { QueueOptions } from './storage/queue/queue-options.ts';

// Webhooks

export type { Delivery } from './storage/delivery.ts';
export { Deliveries } from './webhooks/deliveries.ts';
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
export { LocalSignals } from './cluster/local-signals.ts';
export { DataFolder, type DataFolderOptions } from './data-folder/data-folder.ts';
export { SQL_SCHEMAS, type SqlStores, sqlStorage } from './sql/sql-stores.ts';
export type { Signal, Signals } from './storage/signals.ts';
export type { SqlDatabase, SqlReader, SqlTransaction, SqlValue } from './storage/sql.ts';
export type { Transaction } from './storage/transaction.ts';

// Errors, logs and time

export { type ErrorCode, isScenepressError, ScenepressError } from './base/errors.ts';
export type { Logger } from './base/logger.ts';
export type { Clock } from './time/clock.ts';
export { type HttpError, httpErrorOf, httpStatusOf } from './web/http-errors.ts';
