/** What operators do with an installation: backups, recovery, moves and copies, a new master key. */
import './base/node-version.ts';
import './base/bundled.ts';

// Backups

export { backUp } from './data-folder/backup.ts';
export type { BackupReport, RestoredMasterKey, RestoreOptions } from './data-folder/backup-report.ts';
export { restore } from './data-folder/restore.ts';

// Recovery

export type { LostRow } from './data-folder/documents/lost-row.ts';
export { type RecoverOptions, type RecoveryReport, recover } from './operations/recovery/recover.ts';

// Moves and copies

export {
  type CopiedInstallation,
  continueInstallation,
  type SeparateOptions,
  separateInstallation,
} from './operations/migration/copied-installation.ts';
export {
  type MigrationOptions,
  type MigrationReport,
  migrateToFolder,
  migrateToPostgres,
} from './operations/migration/migrate.ts';

// Master key

export {
  completeReplacement,
  type HasMasterKey,
  type Replacement,
  type Resealing,
  replaceMasterKey,
} from './keys/replace-master-key.ts';
