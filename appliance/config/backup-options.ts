import Joi from 'joi';
import type { BackupConfig } from './config-values.ts';
import type { ConfigOption } from './option.ts';
import { count, cronPattern } from './option-schemas.ts';

/** Options of scheduled backups. */
export const BACKUP_OPTIONS: Record<keyof BackupConfig, ConfigOption> = {
  backupDir: {
    description: 'Folder for scheduled backups, which must exist; best on another disk than the data folder',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'none: no backups are scheduled',
  },
  backupSchedule: {
    description: 'When a scheduled backup is made, as a cron pattern in UTC: minute hour day month weekday',
    allowed: 'a cron pattern such as "30 2 * * *": minute, hour, day, month and weekday',
    schema: cronPattern.default('30 2 * * *'),
    value: 'pattern',
  },
  backupsKept: {
    description: 'Number of scheduled backups that are kept; older ones are removed',
    allowed: 'a whole number of at least 1',
    schema: count(7),
    value: 'number',
  },
};
