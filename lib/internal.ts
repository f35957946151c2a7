// What the appliance uses of the library beyond its entry points. The package does not export it.
export { abortable } from './abortable.ts';

export type { AccountRole, AccountStore } from './accounts/account-store.ts';
export { ARTIFACT_NAMES, ARTIFACTS, type ArtifactField, type ArtifactKind } from './artifacts.ts';
export { openRegularFile } from './assets/regular-file.ts';
export { isoTime, systemClock } from './clock.ts';
export { DATA_FILES, DOCUMENT_FILES } from './data-files.ts';
export type { DataFolderEvents, DataStatistics } from './data-folder/data-folder.ts';
export { FolderLock } from './data-folder/folder-lock.ts';
export { type BackupsInfo, ScheduledBackups } from './data-folder/scheduled-backups.ts';
export { homeFolder } from './home-folder.ts';
export { SortableIds } from './ids.ts';
export { inspectClaim, isClaimable } from './installation/claimed-assets.ts';
export { jobJson } from './jobs/job-json.ts';
export { isWebhookUrl } from './jobs/render-request.ts';
export type { KeyRecord, KeyStore } from './keys/key-store.ts';
export type { KeyUseStore } from './keys/key-use-store.ts';
export type { MasterKeyOptions } from './keys/master-key-files.ts';
export type { SealedSecrets } from './keys/sealed-secrets.ts';
export type { AuditReport, Charges, LedgerStore } from './ledger/ledger-store.ts';
export { Pricing } from './ledger/pricing.ts';
export type { LocalFile } from './local/local-renderer.ts';
export { type LocalOutputOptions, parseLocalRequest } from './local/local-request.ts';
export { silentLogger } from './logger.ts';
export { disagreementsOf } from './machines/disagreements.ts';
export {
  type Disagreement,
  MACHINE_DEAD_AFTER_MS,
  type Machine,
  type MachineOrders,
  type MachineReport,
  type MachineStore,
} from './machines/machine-store.ts';
export { frameSizeOf, QUALITY_NAMES } from './qualities.ts';
export { systemRandom } from './random.ts';
export { Rates } from './rates.ts';
export type { RenderStage, RenderWork } from './render/run/render-task.ts';
export { RENDER_WORK } from './render/run/work-times.ts';
export type { SandboxLimits, SandboxStatus } from './render/sandbox/sandbox-status.ts';
export { type Archive, findArchive } from './render/setup/archive.ts';
export { rendererFolder } from './render/setup/renderer-folder.ts';
export { UnpackedRoot } from './render/setup/unpacked-root.ts';
export { isReadableByOthers, type SceneFolder } from './render/start/scene-folder.ts';
export { TexInstallation } from './render/tex/tex-installation.ts';
export { assertSchedule } from './schedule.ts';
export { PROBLEM_PARTS, SERVICE_STOPPING } from './service-problems.ts';
export type { Act, ActStore } from './sign-in/act-store.ts';
export type { SessionStore } from './sign-in/session-store.ts';
export type { QueueWork } from './sql/queue-work.ts';
export type { Storage } from './storage/storage.ts';
export { assertNetworks } from './webhooks/address-rules.ts';
export type { SentAgain } from './webhooks/deliveries.ts';
export type { DeliveryDetails, FailureReason } from './webhooks/delivery.ts';
export type { DeliveryState } from './webhooks/delivery-store.ts';
export { DEFAULT_TOLERANCE_SECONDS } from './webhooks/signature.ts';
export type { WebhookTest } from './webhooks/webhook-test.ts';
export { within } from './within.ts';
