import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PostgresOptions } from '../../lib/postgres/index.ts';
import type { DatabaseConfig } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';
import { passwordInFile } from './password-file.ts';

/** How to connect to the configured database. Error: a {@link UserError} for a file that can't be read. */
export async function connectionOf(config: DatabaseConfig): Promise<{
  url: string;
  options: Pick<PostgresOptions, 'schema' | 'maxConnections' | 'tls' | 'password'>;
}> {
  const { databaseUrl: url = '', databaseSchema: schema, databaseConnections: maxConnections } = config;
  const tls = await tlsOf(config);
  const password = passwordOf(config);
  await password?.(); // Ends a start without the file.
  return {
    url,
    options: { schema, maxConnections, ...(tls !== undefined && { tls }), ...(password && { password }) },
  };
}

/** Reads the password from a file, for each connection, so that it can be replaced; undefined if it is given otherwise. */
function passwordOf({
  databaseUrl = '',
  databasePasswordFile: file,
}: DatabaseConfig): PostgresOptions['password'] {
  if (file !== undefined)
    return async () => (await contentOf(file, 'The password for the database')).replace(/\r?\n$/, '');
  const url = new URL(databaseUrl);
  const isGiven =
    url.password !== '' || url.searchParams.has('password') || process.env['PGPASSWORD'] !== undefined;
  return isGiven ? undefined : () => passwordInFile(url);
}

async function tlsOf(config: DatabaseConfig): Promise<PostgresOptions['tls']> {
  const { databaseTls, databaseCa, databaseCert, databaseKey } = config;
  if (databaseTls === 'off') return false;
  if (databaseCa === undefined && databaseCert === undefined) return databaseTls === 'on' ? true : undefined;
  const files = {
    ca: [databaseCa, 'The CA of the database'],
    cert: [databaseCert, 'The client certificate for the database'],
    key: [databaseKey, 'The key of the client certificate for the database'],
  } as const;
  const tls: PostgresOptions['tls'] = {};
  for (const [name, [file, what]] of Object.entries(files)) {
    if (file === undefined) continue;
    let content = await contentOf(file, what);
    // The driver reads the property for each connection.
    const get = () => {
      content = contentNow(file) ?? content;
      return content;
    };
    Object.defineProperty(tls, name, { get, enumerable: true, configurable: true });
  }
  return tls;
}

/** The content of a file that may be missing while it is replaced. */
function contentNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const VERIFIED = ['prefer', 'require', 'verify-ca', 'verify-full'];
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\]|)$/;

/** Whether others in the network could read or change the traffic to the database. */
export function isExposed({ databaseUrl = '', databaseTls, databaseCa }: DatabaseConfig): boolean {
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? hostname;
  if (LOOPBACK.test(host) || host.startsWith('/')) return false;
  if (databaseTls !== undefined) return databaseTls === 'off';
  if (databaseCa !== undefined) return false;
  const isLibpq = searchParams.get('uselibpqcompat') === 'true';
  const verified = isLibpq ? VERIFIED.slice(2) : VERIFIED;
  return !verified.includes(searchParams.get('sslmode') ?? '');
}

/** The content of a configured file. */
export async function contentOf(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UserError(`${what} can't be read: ${(cause as Error).message}.`, { cause });
  }
}
