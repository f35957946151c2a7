import type { Registry } from 'prom-client';
import type { ScheduledBackups } from '../../lib/internal.ts';
import { gauge } from './gauge.ts';

/** Scheduled backups; no metrics without them. */
export function measureBackups(registry: Registry, backups: ScheduledBackups): void {
  gauge(
    registry,
    'backup_last_success_timestamp_seconds',
    'When the last complete scheduled backup was begun; absent before the first.',
    [],
    (set) => {
      const { lastSuccessAtMs } = backups.state();
      if (lastSuccessAtMs !== null) set({}, lastSuccessAtMs / 1000);
    },
  );
  gauge(
    registry,
    'backup_last_failure_timestamp_seconds',
    'When a scheduled backup last failed since the start; absent if none did.',
    [],
    (set) => {
      const { lastFailure } = backups.state();
      if (lastFailure) set({}, lastFailure.atMs / 1000);
    },
  );
}
