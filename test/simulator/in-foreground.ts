import type { SqlValue } from '../../lib/storage/sql.ts';
import type { Background } from '../../lib/storage/sqlite/background-worker.ts';
import type { Connection } from '../../lib/storage/sqlite/connection.ts';
import { openInBackground } from '../../lib/storage/sqlite/connection.ts';

/** Without a thread, whose answers would come at any time. */
export function inForeground(path: string): Background {
  let connection: Connection | undefined;
  return {
    async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
      connection ??= openInBackground(path);
      return connection.all<Row>(text, values);
    },
    async stop(): Promise<void> {
      connection?.close();
      connection = undefined;
    },
  };
}
