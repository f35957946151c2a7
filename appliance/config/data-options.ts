import type { Role } from '../../lib/index.ts';
import { ROLES } from '../../lib/internal.ts';

/** The data folder and the master key. */
export const DATA_OPTIONS = {
  dataDir: {
    description: '[Folder](#the-data-folder) that stores jobs, accounts, keys, credits and artifacts',
    type: 'folder',
    mayBeMissing: true,
    default: './data',
    commands: ['worker', 'administration', 'installation', 'restore', 'recover'],
  },
  masterKey: {
    description: '[Key](#the-master-key) that encrypts webhook secrets',
    type: 'masterKey',
    secret: true,
  },
  masterKeyFile: {
    description: 'File with the key that encrypts webhook secrets',
    type: 'file',
    otherwise: 'master.key in the data folder',
    commands: ['worker', 'administration', 'migrate', 'restore'],
  },
} as const;

/** Scheduled backups of a data folder. */
export const BACKUP_OPTIONS = {
  backupDir: {
    description:
      'Folder for [scheduled backups](#scheduled-backups), which must exist; best on another disk than the data folder',
    type: 'folder',
    otherwise: 'none: no backups are scheduled',
  },
  backupSchedule: {
    description: 'When a scheduled backup is made, in UTC',
    type: 'cronPattern',
    default: '30 2 * * *',
  },
  backupsKept: {
    description: 'Number of scheduled backups that are kept; older ones are removed',
    type: 'count',
    default: 7,
  },
} as const;

/** Artifacts: where they are kept, and for how long. */
export const ARTIFACT_OPTIONS = {
  artifactDir: {
    description: 'Folder for artifacts; with a database, one that all machines share',
    type: 'folder',
    mayBeMissing: true,
    otherwise: 'artifacts in the data folder',
  },
  retentionDays: {
    description: 'Days after which artifacts of a job are deleted; the job itself remains',
    type: 'positive',
    unit: 'days',
    otherwise: 'never',
    commands: ['worker'],
  },
  retentionGb: {
    description: 'Total size of artifacts; beyond it, the oldest are deleted',
    type: 'positive',
    unit: 'GiB',
    otherwise: 'no limit',
    commands: ['worker'],
  },
  s3Bucket: {
    description: '[Bucket](cluster.md#artifacts) of S3, or of a server with its protocol, for artifacts',
    type: 'bucket',
    otherwise: 'none: artifacts are files',
  },
  s3Prefix: {
    description: 'Beginning of the keys of objects in the bucket, e.g. renders/',
    type: 'keyPrefix',
  },
  s3Region: { description: 'Region of the bucket', type: 'region', otherwise: 'AWS_REGION' },
  s3Endpoint: { description: 'URL of an S3 server other than AWS', type: 'endpoint' },
  s3PathStyle: {
    description: 'Whether the bucket is part of the path of S3 URLs instead of the host name',
    type: 'boolean',
    otherwise: 'true with an endpoint',
  },
  s3Checksums: {
    description:
      'Whether the S3 server verifies and stores checksums of whole objects; false for servers that reject them',
    type: 'boolean',
    otherwise: 'true',
  },
  s3Ca: {
    description: "File with additional CA certificates (PEM) that sign the S3 server's certificate",
    type: 'file',
  },
  s3AccessKeyId: {
    description: 'Id of the access key for S3',
    type: 'word',
    otherwise: 'as AWS tools find it: environment, profile or role of the machine',
  },
  s3SecretAccessKey: { description: 'Secret of the access key for S3', type: 'word', secret: true },
  s3SecretAccessKeyFile: { description: 'File with the secret of the access key for S3', type: 'file' },
  s3Encryption: {
    description: 'Encryption of objects by the S3 server',
    type: 'choice',
    of: ['AES256', 'aws:kms'],
    otherwise: 'as configured for the bucket',
  },
  s3KmsKeyId: {
    description: 'Key (id or ARN) for aws:kms',
    type: 'word',
    otherwise: 'the key of the account for S3',
  },
  s3Links: {
    description:
      'How clients get artifacts of a bucket: from this service, by presigned links that it redirects to, or from the public URL of the bucket',
    type: 'choice',
    of: ['service', 'presigned', 'public'],
    default: 'service',
    commands: ['worker'],
  },
  s3PublicUrl: {
    description: 'URL under which anyone can read the bucket, such as that of a CDN, for public links',
    type: 'endpoint',
    commands: ['worker'],
  },
} as const;

/** An installation with a database, for several machines. */
export const DATABASE_OPTIONS = {
  databaseUrl: {
    description:
      'Postgres database for jobs, accounts, keys and credits, shared by [several machines](cluster.md)',
    type: 'postgresUrl',
    otherwise: 'none: all data is in the data folder',
    commands: ['worker', 'administration', 'installation'],
  },
  databasePasswordFile: {
    description: 'File with the password for the database',
    type: 'file',
    otherwise: 'in the URL, PGPASSWORD or the file PGPASSFILE (~/.pgpass)',
  },
  databaseSchema: {
    description: 'Schema of the tables in the database; created if missing',
    type: 'schemaName',
    default: 'scenepress',
  },
  databaseTls: {
    description: 'Whether connections to the database use TLS and verify its certificate',
    type: 'choice',
    of: ['on', 'off'],
    otherwise: 'as sslmode in the URL says; on with --database-ca',
  },
  databaseCa: {
    description: "File with the CA certificates (PEM) that sign the database server's certificate",
    type: 'file',
    otherwise: 'the well-known ones',
  },
  databaseCert: { description: 'Client certificate file for the database (PEM)', type: 'file' },
  databaseKey: { description: 'Private key file of the client certificate (PEM)', type: 'file' },
  databaseConnections: {
    description:
      'Maximum number of connections of this process to the database; some more for signals and upkeep',
    type: 'count',
    min: 2,
    default: 10,
    commands: ['worker'],
  },
  roles: {
    description: 'What this process does; needs a database',
    type: 'roles',
    default: [...ROLES] as Role[],
    commands: [],
  },
  quality: {
    description: 'Qualities that this process renders; needs a database',
    type: 'qualities',
    otherwise: 'all',
    commands: ['worker'],
  },
  machineName: {
    description: 'Name of this process in the list of machines',
    type: 'machineName',
    otherwise: 'the host name',
    commands: ['worker'],
  },
} as const;
