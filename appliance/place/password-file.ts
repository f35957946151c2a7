import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFolder } from '../../lib/internal.ts';

/** Readable by others: libpq ignores such a file, too. */
const OTHERS = 0o077;

/**
 * The password for a database in the file that `psql` uses: `PGPASSFILE`, or else `~/.pgpass`. Undefined without a line
 * for the database, and if others than its owner may use the file.
 */
export async function passwordInFile(
  url: URL,
  env: Record<string, string | undefined> = process.env,
): Promise<string | undefined> {
  const home = homeFolder();
  const path = env['PGPASSFILE'] ?? (home && join(home, '.pgpass'));
  if (path === undefined) return undefined;
  const status = await stat(path).catch(() => undefined);
  if (!status?.isFile() || (status.mode & OTHERS) !== 0) return undefined;
  const wanted = [url.hostname, url.port || '5432', url.pathname.slice(1), url.username].map(
    decodeURIComponent,
  );
  for (const line of (await readFile(path, 'utf8')).split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields[4];
  }
  return undefined;
}

/** `host:port:database:user:password`, with `\:` and `\\` in the fields. */
function fieldsOf(line: string): string[] {
  const fields = line.match(/(?:\\.|[^:\\])*(?::|$)/g) ?? [];
  return fields.map((field) => field.replace(/:$/, '').replace(/\\(.)/g, '$1'));
}
