import type { Background } from '../../lib/databases/sqlite/background-worker.ts';
import type { Connection } from '../../lib/databases/sqlite/connection.ts';
import { openInBackground } from '../../lib/databases/sqlite/connection.ts';
import type { SqlValue } from '../../lib/storage/sql.ts';

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
