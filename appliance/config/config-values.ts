import type { Quality, Role } from '../../lib/index.ts';

/** Options of an installation with a database, for several machines. */
export interface DatabaseConfig {
  databaseUrl?: string;
  databasePasswordFile?: string;
  databaseSchema: string;
  databaseTls?: 'on' | 'off';
  databaseCa?: string;
  databaseCert?: string;
  databaseKey?: string;
  databaseConnections: number;
  roles: Role[];
  quality?: Quality[];
  machineName?: string;
}

/** Where artifacts are kept. */
export interface ArtifactConfig {
  artifactDir?: string;
  s3Bucket?: string;
  s3Prefix?: string;
  s3Region?: string;
  s3Endpoint?: string;
  s3PathStyle?: boolean;
  s3Checksums?: boolean;
  s3Ca?: string;
  s3AccessKeyId?: string;
  s3SecretAccessKey?: string;
  s3SecretAccessKeyFile?: string;
  s3Encryption?: 'AES256' | 'aws:kms';
  s3KmsKeyId?: string;
  s3Links: 'service' | 'presigned' | 'public';
  s3PublicUrl?: string;
}

/** Scheduled backups of a data folder. */
export interface BackupConfig {
  backupDir?: string;
  backupSchedule: string;
  backupsKept: number;
}

/** Configuration of the appliance. Option names are the same in code and in the configuration file. */
export interface Config extends DatabaseConfig, ArtifactConfig, BackupConfig {
  host: string;
  port: number;
  dataDir: string;
  publicUrl?: string;
  assetUrl?: string;
  trustProxy: boolean;
  tlsCert?: string;
  tlsKey?: string;
  corsOrigins: string[];
  maxConnections?: number;
  maxConnectionsPerAddress?: number;
  creditsMode: 'metered' | 'unmetered';
  freeCredits: number;
  creditsPerSecond: Record<Quality, number>;
  reserveSeconds: number;
  masterKey?: string;
  masterKeyFile?: string;
  workers?: number;
  retentionDays?: number;
  retentionGb?: number;
  maxQueued: number;
  maxQueuedPerAccount: number;
  maxRunningPerAccount?: number;
  reservedWorkers: number;
  maxStoredGbPerAccount: number;
  maxJobsPerSecondPerAccount: number;
  failuresPerHour: number;
  unpaidSecondsPerHour: number;
  python?: string;
  rendererDir?: string;
  studioDir?: string;
  insecureNoSandbox: boolean;
  renderTimeoutSeconds: number;
  renderMemoryMb: number;
  renderProcesses: number;
  renderFileMb: number;
  renderDiskMb: number;
  renderFiles: number;
  renderOutputMb: number;
  renderFrames: number;
  webhooksAllowNetworks: string[];
  webhooksCa?: string;
  metricsToken?: string;
  dashboard: 'on' | 'off';
  adminEmail?: string;
  adminPassword?: string;
  adminPasswordFile?: string;
  drainSeconds: number;
  probeAfterMinutes: number;
  logLevel: string;
  logFormat?: 'text' | 'json';
  logFile?: string;
}
