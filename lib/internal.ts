// What the appliance uses of the library without a service, beyond its entry points. It loads little: no stores, threads
// or network. The package does not export it.

export type { AccountRole, AccountStore } from './accounts/account-store.ts';
export type { AccountLimits } from './accounts/accounts.ts';
export type { Act, ActStore } from './accounts/act-store.ts';
export type { Identity } from './accounts/identity.ts';
export type { PasswordCost } from './accounts/password.ts';
export type { SessionRecord, SessionStore } from './accounts/session-store.ts';
export { type OfferedSecret, recoveryCodesLeft, TwoFactor } from './accounts/two-factor.ts';
export { openRegularFile } from './assets/regular-file.ts';
export { abortable } from './async/abortable.ts';
export { isScenepressError, ScenepressError } from './base/errors.ts';
export { nearestOf } from './base/known-options.ts';
export { silentLogger } from './base/logger.ts';
export { systemRandom } from './base/random.ts';
export { ASSIGNMENT_SETTINGS } from './classroom/assignment-rules.ts';
export type { ClassLinks } from './classroom/class-links.ts';
export { inspectClaim, isClaimable } from './cluster/claimed-assets.ts';
export { disagreementsOf } from './cluster/disagreements.ts';
export {
  type Disagreement,
  MACHINE_DEAD_AFTER_MS,
  type Machine,
  type MachineOrders,
  type MachineReport,
  type MachineStore,
} from './cluster/machine-store.ts';
export type { DataFolderEvents, DataStatistics } from './data-folder/data-folder.ts';
export type { BackupsInfo, ScheduledBackups } from './data-folder/scheduled-backups.ts';
export { DATA_FILES, DOCUMENT_FILES } from './files/data-files.ts';
export { FolderLock } from './files/folder-lock.ts';
export { homeFolder } from './files/home-folder.ts';
export { DEFAULT_BUDGETS } from './jobs/fairness/fairness.ts';
export type { KeyState } from './keys/api-keys.ts';
export { areScopes, KEY_SCOPES, type KeyScope } from './keys/key-scopes.ts';
export type { KeyRecord, KeyStore } from './keys/key-store.ts';
export type { KeyUseStore } from './keys/key-use-store.ts';
export type { MasterKeyOptions } from './keys/master-key-files.ts';
export type { SealedSecrets } from './keys/sealed-secrets.ts';
export type { AuditReport, Charges, LedgerStore } from './ledger/ledger-store.ts';
export { DEFAULT_PRICING, Pricing } from './ledger/pricing.ts';
export type { LocalFile, LocalRenderOptions } from './local/local-renderer.ts';
export { type LocalOutputOptions, parseLocalRequest } from './local/local-request.ts';
export {
  ARTIFACT_NAMES,
  ARTIFACTS,
  type ArtifactField,
  type ArtifactKind,
  artifactNamesOf,
  CONTRACT_ARTIFACTS,
} from './model/artifacts.ts';
export type { Assignment } from './model/assignment.ts';
export type { AssignmentSettings } from './model/assignment-requests.ts';
export { type ClassLink, MOST_CREDITS_OF_SEAT, MOST_SEATS } from './model/class-link.ts';
export { FAILED_BY } from './model/failures.ts';
export { FILE_EXTENSIONS, FILE_KINDS, type FileKind, kindOfName } from './model/file-kinds.ts';
export { FINDING_KINDS } from './model/finding.ts';
export { JOB_FORMATS, type JobFormat, othersOf } from './model/formats.ts';
export { SortableIds } from './model/ids.ts';
export { jobJson } from './model/job-json.ts';
export type { FoundLabels, JobSearch } from './model/job-search.ts';
export { DEFAULT_LIMITS } from './model/limits.ts';
export type { InspectRequest } from './model/owned-pictures.ts';
export type { OwnerFile } from './model/owner-file.ts';
export { ASPECT_RATIOS, frameSizeOf, QUALITIES, QUALITY_NAMES } from './model/qualities.ts';
export { isWebhookUrl } from './model/render-request.ts';
export type { RenderStage, RenderWork } from './model/render-task.ts';
export { SCENE_FAULTS } from './model/renderer-protocol.ts';
export type { JobLabels } from './model/requests.ts';
export { ROLES } from './model/roles.ts';
export type { SceneSettings } from './model/scene.ts';
export { type FrameSelection, picturesOf } from './model/selection.ts';
export { PROBLEM_PARTS, SERVICE_STOPPING } from './model/service-problems.ts';
export {
  SHARE_VISIBILITIES,
  type Share,
  type SharePoster,
  type ShareState,
  type ShareVisibility,
} from './model/share.ts';
export { isSnapshotId } from './model/snapshot.ts';
export type { SpeechOptions } from './model/speech.ts';
export type { StillAt } from './model/still-place.ts';
export { RENDER_WORK } from './model/work-times.ts';
export { DEFAULT_FILES, MOST_BYTES_OF_JOB, MOST_FILES_OF_JOB } from './owner-files/file-limits.ts';
export { kindOfFile } from './owner-files/names.ts';
export { ownCacheFolder, packageRoot, rendererFolder } from './render/environment/renderer-folder.ts';
export { type Archive, findArchive } from './render/setup/archive.ts';
export { UnpackedRoot } from './render/setup/unpacked-root.ts';
export { isReadableByOthers, type SceneFolder, sceneFolderOf } from './render/start/scene-folder.ts';
export { TexInstallation } from './render/tex/tex-installation.ts';
export type { SandboxLimits, SandboxStatus } from './render/trial/sandbox-status.ts';
export { fileNames } from './scenes/file-names.ts';
export { DEFAULT_SCENES } from './scenes/scene-limits.ts';
export type { SaveScene } from './scenes/scene-requests.ts';
export type { Scene, SceneDraft, SceneVersion, VersionState, WholeDraft } from './scenes/scene-views.ts';
export { MOST_JOBS_OF_SHARE, SHARE_SETTINGS } from './shares/share-rules.ts';
export { DEFAULT_SPEECH } from './speech/speech-options.ts';
export type { WaitingWork } from './sql/waiting-work.ts';
export type { DeliveryDetails, FailureReason } from './storage/delivery.ts';
export type { DeliveryState } from './storage/delivery-store.ts';
export type { Storage } from './storage/storage.ts';
export { isoTime, systemClock } from './time/clock.ts';
export { Rates } from './time/rates.ts';
export { assertSchedule } from './time/schedule.ts';
export { within } from './time/within.ts';
export type { Span } from './tracing/spans.ts';
export { contextOf, traceContextIn, traceContextOfHeaders } from './tracing/trace-context.ts';
export { assertNetworks } from './webhooks/address-rules.ts';
export type { SentAgain } from './webhooks/deliveries.ts';
export { DEFAULT_TOLERANCE_SECONDS } from './webhooks/signature.ts';
export type { WebhookTest } from './webhooks/webhook-test.ts';
