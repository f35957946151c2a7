/** Scenepress as a library: renders Manim scenes. Start at {@link RenderService}. */
import './node-version.ts';
import './bundled.ts';

/** @internal */
export { abortable } from './abortable.ts';
export type { Account, AccountQuery, AccountRole, AccountStore } from './accounts/account-store.ts';
export { Accounts } from './accounts/accounts.ts';
export { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName } from './artifacts.ts';
export type { AssetStore, ByteRange, OpenedAsset } from './assets/asset-store.ts';
export { FileAssetStore } from './assets/file-asset-store.ts';
export type { OpenArtifactOptions, OpenedArtifact } from './assets/open-artifact.ts';
/** @internal */
export { openRegularFile } from './assets/regular-file.ts';
export type { RetentionOptions } from './assets/retention.ts';
export { storeFailure } from './assets/store-failure.ts';
export { type Clock, isoTime, systemClock, type Timer } from './clock.ts';
export { DATA_FILES, DOCUMENT_FILES } from './data-files.ts';
export { backUp } from './data-folder/backup.ts';
export type { BackupReport, RestoredMasterKey, RestoreOptions } from './data-folder/backup-report.ts';
export {
  DataFolder,
  type DataFolderEvents,
  type DataFolderOptions,
  type DataStatistics,
} from './data-folder/data-folder.ts';
/** @internal */
export { FolderLock } from './data-folder/folder-lock.ts';
export { restore } from './data-folder/restore.ts';
/** @internal */
export { type BackupsInfo, ScheduledBackups } from './data-folder/scheduled-backups.ts';
export { type ErrorCode, isScenepressError, ScenepressError } from './errors.ts';
/** @internal */
export { homeFolder } from './home-folder.ts';
export { SortableIds } from './ids.ts';
/** @internal */
export { inspectClaim, isClaimable } from './installation/claimed-assets.ts';
export type { InstallationRecord, InstallationRecords } from './installation/installation-records.ts';
export { type BudgetOptions, DEFAULT_BUDGETS } from './jobs/failure-budgets.ts';
export { FAILED_BY, type FailedBy } from './jobs/failures.ts';
export {
  type Artifact,
  ASPECT_RATIOS,
  type AspectRatio,
  type IdempotentRequest,
  type Job,
  type JobOutcome,
  type JobPhase,
  type JobRecord,
  type JobStatus,
  QUALITIES,
  type Quality,
  type RenderTrace,
  type UnfinishedPhase,
} from './jobs/job.ts';
export type { JobEvent } from './jobs/job-followers.ts';
export { type ArtifactLinks, type ArtifactUrl, type JobContent, jobJson } from './jobs/job-json.ts';
export type { JobCountQuery, JobListQuery, JobQuery } from './jobs/job-list-query.ts';
export { defaultFps, frameSizeOf } from './jobs/qualities.ts';
export {
  isWebhookUrl,
  parseRenderRequest,
  RENDER_REQUEST_SCHEMA,
  type RenderRequest,
  type ValidRenderRequest,
} from './jobs/render-request.ts';
export type { ErrorSearch, ErrorSearchResult } from './jobs/search-errors.ts';
export { ApiKeys, type MintedKey } from './keys/api-keys.ts';
export type { KeyQuery, KeyRecord, KeyStore } from './keys/key-store.ts';
export type { KeyUse, KeyUseStore } from './keys/key-use-store.ts';
export { MasterKey } from './keys/master-key.ts';
export type { MasterKeyOptions } from './keys/master-key-files.ts';
export { MasterKeys } from './keys/master-keys.ts';
export {
  completeReplacement,
  type HasMasterKey,
  type Replacement,
  type Resealing,
  replaceMasterKey,
} from './keys/replace-master-key.ts';
export type { ResealedStep, ResealStep, SealedSecrets } from './keys/sealed-secrets.ts';
export type { Balance, Ledger, ReserveAnswer } from './ledger/ledger.ts';
export type {
  AuditReport,
  Charges,
  EntryQuery,
  Grant,
  GrantPart,
  LedgerAccount,
  LedgerEntry,
  LedgerStore,
} from './ledger/ledger-store.ts';
export { DEFAULT_PRICING, Pricing, type PricingOptions } from './ledger/pricing.ts';
export {
  DEFAULT_FREE_CREDITS_PER_MONTH,
  type GrantOptions,
  StoredLedger,
  type StoredLedgerOptions,
} from './ledger/stored-ledger.ts';
export { UnmeteredLedger } from './ledger/unmetered-ledger.ts';
export {
  type LocalFile,
  type LocalRender,
  LocalRenderer,
  type LocalRendererOptions,
  type LocalRenderOptions,
} from './local/local-renderer.ts';
export {
  type LocalOutputOptions,
  type LocalRequest,
  parseLocalRequest,
  type ValidLocalRequest,
} from './local/local-request.ts';
export { type Logger, silentLogger } from './logger.ts';
export { disagreementsOf } from './machines/disagreements.ts';
export {
  type Disagreement,
  MACHINE_DEAD_AFTER_MS,
  type Machine,
  type MachineOrders,
  type MachineReport,
  type MachineStore,
} from './machines/machine-store.ts';
export {
  type CopiedInstallation,
  continueInstallation,
  type SeparateOptions,
  separateInstallation,
} from './migration/copied-installation.ts';
export type { MigrationReport } from './migration/migrate.ts';
export type { Page } from './pages.ts';
export type {
  Claim,
  ClaimRequest,
  LapsedQuery,
  Lease,
  Precedence,
  Queue,
  QueueCaps,
  QueuedOwner,
  QueueState,
} from './queue/queue.ts';
export type { QueueOptions } from './queue/queue-options.ts';
export { type Random, systemRandom } from './random.ts';
export { type Rate, Rates } from './rates.ts';
export type { LostRow } from './recovery/lost-row.ts';
export { type RecoverOptions, type RecoveryReport, recover } from './recovery/recover.ts';
export { DEFAULT_LIMITS, type RenderLimits } from './render/run/limits.ts';
export type {
  Play,
  RenderProgress,
  RenderStage,
  RenderUsage,
  RenderWork,
  SceneFault,
} from './render/run/render-task.ts';
export { RENDER_WORK } from './render/run/work-times.ts';
export type {
  LimitEnforcer,
  SandboxLayer,
  SandboxLevel,
  SandboxLimits,
  SandboxStatus,
} from './render/sandbox/sandbox-status.ts';
/** @internal */
export { type Archive, findArchive } from './render/setup/archive.ts';
export {
  type EnsureRendererOptions,
  ensureRenderer,
  type SetUpProgress,
} from './render/setup/ensure-renderer.ts';
export type { FoundRenderer } from './render/setup/renderer-folder.ts';
/** @internal */
export { rendererFolder, userCacheFolder } from './render/setup/renderer-folder.ts';
/** @internal */
export { UnpackedRoot } from './render/setup/unpacked-root.ts';
export type { RendererOptions } from './render/start/launcher.ts';
export { isReadableByOthers, type SceneFolder, sceneFolderOf } from './render/start/scene-folder.ts';
/** @internal */
export { TexInstallation } from './render/tex/tex-installation.ts';
export { RenderService } from './render-service.ts';
export type {
  EnqueueRequest,
  JobScope,
  RenderServiceEvents,
  RenderServiceOptions,
  Role,
  ScenesOptions,
  WaitOptions,
} from './render-service-options.ts';
export { ROLES } from './render-service-options.ts';
/** @internal */
export { assertSchedule } from './schedule.ts';
export {
  DISK_FULL_TO_CLIENTS,
  PROBLEM_PARTS,
  type RendererVersions,
  SERVICE_STOPPING,
  type ServiceProblem,
  type ServiceStatus,
} from './service-status.ts';
export { DEFAULT_SETTINGS, type Settings, type SettingsStore } from './settings/settings-store.ts';
export type { Act, ActQuery, ActStore } from './sign-in/act-store.ts';
export type { SessionRecord, SessionStore } from './sign-in/session-store.ts';
export { LocalSignals } from './signals/local-signals.ts';
export type { ChangedJob, Signal, Signals } from './signals/signals.ts';
export type { QueueWork } from './sql/queue-work.ts';
export type {
  Storage,
  Transaction,
  TransactionOptions,
} from './storage/storage.ts';
export { type HttpError, httpErrorOf, httpStatusOf } from './web/http-errors.ts';
export { assertNetworks } from './webhooks/address-rules.ts';
export { Deliveries, type FailedDeliveries, type SentAgain } from './webhooks/deliveries.ts';
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryDetails,
  DeliveryRecord,
  DeliveryStatus,
  FailureReason,
} from './webhooks/delivery.ts';
export type {
  DeliveryQuery,
  DeliveryState,
  DeliveryStore,
  DuePeriod,
  DueQuery,
  DueToHostQuery,
  UnfinishedHost,
} from './webhooks/delivery-store.ts';
export type { Resolve } from './webhooks/resolver.ts';
export {
  DEFAULT_TOLERANCE_SECONDS,
  signWebhook,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookFlaw,
  type WebhookVerdict,
} from './webhooks/signature.ts';
export type { WebhookJob, WebhookOptions } from './webhooks/webhook-secrets.ts';
export type { WebhookTest, WebhookTestRequest } from './webhooks/webhook-test.ts';
/** @internal */
export { within } from './within.ts';
