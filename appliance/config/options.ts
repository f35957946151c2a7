import Joi from 'joi';
import { DEFAULT_BUDGETS, DEFAULT_LIMITS, DEFAULT_PRICING } from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/internal.ts';
import { ARTIFACT_OPTIONS } from './artifact-options.ts';
import { BACKUP_OPTIONS } from './backup-options.ts';
import type { Config } from './config-values.ts';
import { DATABASE_OPTIONS } from './database-options.ts';
import type { ConfigOption } from './option.ts';
import { address, count, networks, origins, prices } from './option-schemas.ts';

export const DEFAULT_DATA_DIR = './data';

const MIB = 1024 * 1024;

/** Defines the flags, environment variables, configuration file options and `--help`. */
export const OPTIONS: Record<keyof Config, ConfigOption> = {
  host: {
    description: 'Address to listen on; 0.0.0.0 for all',
    allowed: 'an address or a host name',
    schema: Joi.string().default('127.0.0.1'),
    value: 'address',
  },
  port: {
    description: 'Port to listen on; 0 selects a free port',
    allowed: 'a whole number from 0 to 65535',
    schema: Joi.number().integer().min(0).max(65535).default(8080),
    value: 'number',
  },
  dataDir: {
    description: 'Folder that stores jobs, accounts, keys, credits and artifacts',
    allowed: 'a path',
    schema: Joi.string().default(DEFAULT_DATA_DIR),
    value: 'folder',
  },
  ...DATABASE_OPTIONS,
  ...ARTIFACT_OPTIONS,
  ...BACKUP_OPTIONS,
  publicUrl: {
    description: 'URL under which clients reach this service',
    allowed: 'an http:// or https:// URL',
    schema: address,
    value: 'url',
    defaultText: 'the listening address',
  },
  assetUrl: {
    description: 'Base URL of links to artifacts',
    allowed: 'an http:// or https:// URL',
    schema: address,
    value: 'url',
    defaultText: 'the public URL',
  },
  trustProxy: {
    description: 'Trust X-Forwarded-For and, without a public URL, X-Forwarded-Proto and X-Forwarded-Host',
    allowed: 'true or false',
    schema: Joi.boolean().default(false),
  },
  tlsCert: {
    description: 'Certificate file for HTTPS (PEM, followed by its intermediate certificates)',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none (plain HTTP)',
  },
  tlsKey: {
    description: 'Private key file of the certificate (PEM)',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  corsOrigins: {
    description: 'Origins of web pages that may call the API (CORS), e.g. https://studio.example; * for all',
    allowed: 'comma-separated origins (https://name, without a path), or *',
    schema: origins,
    value: 'origins',
    defaultText: 'none',
  },
  maxConnections: {
    description: 'Maximum number of open HTTP connections; beyond it, new connections replace idle ones',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'as many as the limit of open files permits, at most 10000',
  },
  maxConnectionsPerAddress: {
    description: 'Maximum number of HTTP connections per client (IPv4 address or IPv6 /64 network)',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'half of the maximum; all of it with --trust-proxy',
  },
  creditsMode: {
    description: 'Whether renders cost credits: metered or unmetered',
    allowed: 'metered or unmetered',
    schema: Joi.string().valid('metered', 'unmetered').default('metered'),
    value: 'mode',
  },
  freeCredits: {
    description: 'Free credits per account and month',
    allowed: 'a whole number of at least 0',
    schema: count(1000, 0),
    value: 'credits',
  },
  creditsPerSecond: {
    description: `Credits per second of rendering for the qualities ${QUALITY_NAMES.join(', ')}`,
    allowed: `${QUALITY_NAMES.length} comma-separated numbers above 0`,
    schema: prices,
    value: 'prices',
    defaultText: Object.values(DEFAULT_PRICING.creditsPerSecond).join(','),
  },
  reserveSeconds: {
    description: 'Seconds of rendering that the balance must cover before a scene is enqueued',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0).default(DEFAULT_PRICING.reserveSeconds),
    value: 'seconds',
  },
  masterKey: {
    description: 'Key that encrypts webhook secrets',
    allowed: '64 hexadecimal digits',
    schema: Joi.string().hex().length(64),
    secret: true,
  },
  masterKeyFile: {
    description: 'File with the key that encrypts webhook secrets',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'master.key in the data folder',
  },
  workers: {
    description: 'Number of scenes rendered concurrently',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'the number of CPUs',
  },
  retentionDays: {
    description: 'Days after which artifacts of a job are deleted; the job itself remains',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0),
    value: 'days',
    defaultText: 'never',
  },
  retentionGb: {
    description: 'Total size of artifacts; beyond it, the oldest are deleted',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0),
    value: 'GiB',
    defaultText: 'no limit',
  },
  maxQueued: {
    description: 'Maximum number of queued jobs; beyond it, requests are answered with 503',
    allowed: 'a whole number of at least 1',
    schema: count(10_000),
    value: 'number',
  },
  maxQueuedPerAccount: {
    description: 'Maximum number of queued jobs per account',
    allowed: 'a whole number of at least 1',
    schema: count(1_000),
    value: 'number',
  },
  maxStoredGbPerAccount: {
    description:
      'Maximum size of the sources, metadata and artifacts of an account; beyond it, requests are answered with 429; ' +
      '0 for no limit',
    allowed: 'a number of at least 0',
    schema: Joi.number()
      .min(0)
      .default(DEFAULT_BUDGETS.storedBytes / 1024 ** 3),
    value: 'GiB',
  },
  maxJobsPerSecondPerAccount: {
    description:
      "Maximum number of jobs that an account adds per second on average, ten seconds' worth at once; beyond it, " +
      'requests are answered with 429; 0 for no limit',
    allowed: 'a number of at least 0',
    schema: Joi.number().min(0).default(20),
    value: 'number',
  },
  maxRunningPerAccount: {
    description: 'Maximum number of scenes rendered concurrently per account',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'one less than all workers if there are several accounts',
  },
  reservedWorkers: {
    description:
      'Workers reserved for accounts whose renders mostly complete; at least one worker serves all accounts',
    allowed: 'a whole number of at least 0',
    schema: count(1, 0),
    value: 'number',
  },
  failuresPerHour: {
    description:
      'Maximum number of jobs per account and hour that fail because of their scenes; beyond it, requests are ' +
      'answered with 429; 0 for no limit',
    allowed: 'a whole number of at least 0',
    schema: count(DEFAULT_BUDGETS.failuresPerHour, 0),
    value: 'number',
  },
  unpaidSecondsPerHour: {
    description:
      'Maximum render seconds per account and hour that fail, are canceled or run out of credits; beyond it, requests ' +
      'are answered with 429; 0 for no limit',
    allowed: 'a whole number of at least 0',
    schema: count(DEFAULT_BUDGETS.unpaidSecondsPerHour, 0),
    value: 'seconds',
  },
  python: {
    description: 'Python interpreter with Manim installed',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'the one installed by `scenepress setup`',
  },
  rendererDir: {
    description: 'Folder into which the single executable unpacks its renderer',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'renderer in the data folder; the user cache when there is no data folder',
  },
  studioDir: {
    description: 'Folder with fonts/, python/, assets/ and texmf/, readable by every scene',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'the data folder; none without a server',
  },
  insecureNoSandbox: {
    description: 'Render even if no effective sandbox isolates scene code',
    allowed: 'true or false',
    schema: Joi.boolean().default(false),
  },
  renderTimeoutSeconds: {
    description: 'Maximum duration of a render',
    allowed: 'a whole number from 1 to 2147483 (24 days)',
    schema: count(DEFAULT_LIMITS.timeoutMs / 1000).max(2_147_483),
    value: 'seconds',
  },
  renderMemoryMb: {
    description: 'Maximum memory of a render',
    allowed: 'a whole number of at least 256',
    schema: count(DEFAULT_LIMITS.memoryBytes / MIB, 256),
    value: 'MiB',
  },
  renderProcesses: {
    description: 'Maximum number of processes and threads of a render',
    allowed: 'a whole number of at least 8',
    schema: count(DEFAULT_LIMITS.processes, 8),
    value: 'number',
  },
  renderFileMb: {
    description: 'Maximum size of a file written by a render',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.fileSizeBytes / MIB),
    value: 'MiB',
  },
  renderDiskMb: {
    description: 'Maximum disk usage of a render',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.diskBytes / MIB),
    value: 'MiB',
  },
  renderFiles: {
    description: 'Maximum number of files of a render',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.files),
    value: 'number',
  },
  renderOutputMb: {
    description: 'Maximum size of a video',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.outputBytes / MIB),
    value: 'MiB',
  },
  renderFrames: {
    description: 'Maximum number of frames of a video',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.frames),
    value: 'number',
  },
  webhooksAllowNetworks: {
    description:
      'Private networks that webhooks may reach, e.g. 10.1.0.0/16,fd00::/8; public addresses are always allowed',
    allowed: 'comma-separated networks (CIDR)',
    schema: networks,
    value: 'networks',
    defaultText: 'none',
  },
  webhooksCa: {
    description: 'File with additional CA certificates (PEM) that webhooks trust',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  metricsToken: {
    description: 'Bearer token for reading /metrics',
    allowed: 'at least 16 characters without spaces',
    schema: Joi.string().min(16).pattern(/^\S+$/),
    secret: true,
  },
  dashboard: {
    description: 'Whether the dashboard is served, at /dashboard',
    allowed: 'on or off',
    schema: Joi.string().valid('on', 'off').default('on'),
    value: 'on|off',
  },
  adminEmail: {
    description: 'E-mail address with which the account of the first start is claimed at the start',
    allowed: 'an e-mail address',
    schema: Joi.string().pattern(/^[^\s@]+@[^\s@]+$/),
    value: 'address',
    defaultText: 'none: it is claimed with the set-up link',
  },
  adminPassword: {
    description: 'Password for SCENEPRESS_ADMIN_EMAIL',
    allowed: '10 to 200 characters',
    schema: Joi.string().min(10).max(200),
    secret: true,
  },
  adminPasswordFile: {
    description: 'File with the password for SCENEPRESS_ADMIN_EMAIL',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  drainSeconds: {
    description: 'Grace period for running renders when the service stops',
    allowed: 'a whole number of at least 0',
    schema: count(30, 0),
    value: 'seconds',
  },
  probeAfterMinutes: {
    description:
      'Minutes without a finished video before a small probe scene is rendered to check the renderer; 0 for never',
    allowed: 'a number of at least 0',
    schema: Joi.number().min(0).default(10),
    value: 'minutes',
  },
  logLevel: {
    description: 'Minimum level of logged lines',
    allowed: 'trace, debug, info, warn, error, fatal or silent',
    schema: Joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
    value: 'level',
  },
  logFormat: {
    description: 'Format of logged lines: text for people or json for programs',
    allowed: 'text or json',
    schema: Joi.string().valid('text', 'json'),
    value: 'format',
    defaultText: 'text on a terminal, otherwise json',
  },
  logFile: {
    description: 'File to append log lines to; reopened when it was moved and on SIGHUP',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'standard error',
  },
};

export { flagOf, variableOf } from './names.ts';
