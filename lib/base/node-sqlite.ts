import './node-version.ts';
import { createRequire } from 'node:module';

/**
 * `node:sqlite`. Not a static import: Node resolves those before it runs any code, and on versions without SQLite would
 * end before the error that names the version.
 */
const sqlite: typeof import('node:sqlite') = createRequire(import.meta.url)('node:sqlite');

export const DatabaseSync: typeof sqlite.DatabaseSync = sqlite.DatabaseSync;
export type DatabaseSync = import('node:sqlite').DatabaseSync;
export const backup: typeof sqlite.backup = sqlite.backup;
