import Joi from 'joi';
import { ROLES } from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/internal.ts';
import type { DatabaseConfig } from './config-values.ts';
import type { ConfigOption } from './option.ts';
import { count, listOf } from './option-schemas.ts';

/** The schema of the tables if no other is configured. */
export const DEFAULT_SCHEMA = 'scenepress';

/** Options of an installation with a database, for several machines. */
export const DATABASE_OPTIONS: Record<keyof DatabaseConfig, ConfigOption> = {
  databaseUrl: {
    description: 'Postgres database for jobs, accounts, keys and credits, shared by several machines',
    allowed: 'a URL like postgres://user@host:5432/name',
    schema: Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .custom((value: string, { error }) => (URL.canParse(value) ? value : error('any.invalid'))),
    value: 'url',
    defaultText: 'none: all data is in the data folder',
    shown: withoutPassword,
  },
  databasePasswordFile: {
    description: 'File with the password for the database',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'in the URL, PGPASSWORD or the file PGPASSFILE (~/.pgpass)',
  },
  databaseSchema: {
    description: 'Schema of the tables in the database; created if missing',
    allowed: 'lower-case letters, digits and underscores',
    schema: Joi.string()
      .pattern(/^[a-z_][a-z0-9_]{0,40}$/)
      .default(DEFAULT_SCHEMA),
    value: 'name',
  },
  databaseTls: {
    description: 'Whether connections to the database use TLS and verify its certificate',
    allowed: 'on or off',
    schema: Joi.string().valid('on', 'off'),
    value: 'on|off',
    defaultText: 'as sslmode in the URL says; on with --database-ca',
  },
  databaseCa: {
    description: "File with the CA certificates (PEM) that sign the database server's certificate",
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'the well-known ones',
  },
  databaseCert: {
    description: 'Client certificate file for the database (PEM)',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  databaseKey: {
    description: 'Private key file of the client certificate (PEM)',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  databaseConnections: {
    description:
      'Maximum number of connections of this process to the database; some more for signals and upkeep',
    allowed: 'a whole number of at least 2',
    schema: count(10, 2),
    value: 'number',
  },
  roles: {
    description: `What this process does, of ${ROLES.join(', ')}; needs a database`,
    allowed: `some of ${ROLES.join(', ')}, separated by commas`,
    schema: listOf(ROLES).default([...ROLES]),
    value: 'roles',
    defaultText: 'all',
  },
  quality: {
    description: 'Qualities that this process renders, separated by commas; needs a database',
    allowed: `some of ${QUALITY_NAMES.join(', ')}, separated by commas`,
    schema: listOf(QUALITY_NAMES),
    value: 'qualities',
    defaultText: 'all',
  },
  machineName: {
    description: 'Name of this process in the list of machines',
    allowed: '1 to 60 characters without spaces',
    schema: Joi.string().pattern(/^[^\s\p{C}]{1,60}$/u),
    value: 'name',
    defaultText: 'the host name',
  },
};

/** A database URL as it may be shown. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return '(hidden)';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  for (const name of [...parsed.searchParams.keys()])
    if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
