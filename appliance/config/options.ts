import Joi from 'joi';
import {
  DEFAULT_BUDGETS,
  DEFAULT_LIMITS,
  DEFAULT_PRICING,
  QUALITIES,
  type Quality,
} from '../../lib/index.ts';
import { address, count, networks, origins, prices } from './option-schemas.ts';

/** What the appliance can be told. Every option has the same name in code and in the configuration file. */
export interface Config {
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
  drainSeconds: number;
  signOfLifeMinutes: number;
  logLevel: string;
  logFile?: string;
}

export interface ConfigOption {
  /** What the option is for, as `--help` says it. */
  description: string;
  /** What may be given, as an error says it: "must be …". */
  allowed: string;
  schema: Joi.Schema;
  /** The name of its value in `--help`; none for a switch. */
  value?: string;
  /** As `--help` shows it, where it isn't the schema's own. */
  defaultText?: string;
  /** Never shown, and no flag: every process of the machine can read flags. */
  secret?: boolean;
}

const MIB = 1024 * 1024;

/** Flags, environment variables, configuration file and `--help` are all made of this table. */
export const OPTIONS: Record<keyof Config, ConfigOption> = {
  host: {
    description: 'Address to listen on; 0.0.0.0 for all networks',
    allowed: 'an address or a host name',
    schema: Joi.string().default('127.0.0.1'),
    value: 'address',
  },
  port: {
    description: 'Port to listen on; 0 for any that is free',
    allowed: 'a whole number from 0 to 65535',
    schema: Joi.number().integer().min(0).max(65535).default(8080),
    value: 'number',
  },
  dataDir: {
    description: 'Folder with jobs, accounts, keys, credits and artifacts',
    allowed: 'a path',
    schema: Joi.string().default('./data'),
    value: 'folder',
  },
  publicUrl: {
    description: 'Address that clients reach this service at',
    allowed: 'an http:// or https:// URL',
    schema: address,
    value: 'url',
    defaultText: 'the address listened on',
  },
  assetUrl: {
    description: 'What links to artifacts begin with',
    allowed: 'an http:// or https:// URL',
    schema: address,
    value: 'url',
    defaultText: 'the public URL',
  },
  trustProxy: {
    description: 'Believe X-Forwarded-For, and without a public URL also X-Forwarded-Proto and -Host',
    allowed: 'true or false',
    schema: Joi.boolean().default(false),
  },
  tlsCert: {
    description:
      'File with the certificate (PEM, with those of its authorities after it) to serve https with',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none, which serves http',
  },
  tlsKey: {
    description: 'File with the private key (PEM) of the certificate',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  corsOrigins: {
    description: 'Web pages that may call the API from browsers, as https://studio.example; * for all',
    allowed: 'origins (https://name, without a path) with commas between them, or *',
    schema: origins,
    value: 'origins',
    defaultText: 'none',
  },
  maxConnections: {
    description: 'HTTP connections open at the same time; beyond that, idle ones make room for new ones',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'what the limit of open files has room for, 10000 at most',
  },
  maxConnectionsPerAddress: {
    description: 'HTTP connections of one client: an IPv4 address, or a /64 of IPv6 addresses',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'half of all; all of them where X-Forwarded-For is believed',
  },
  creditsMode: {
    description: 'Whether renders cost credits: metered or unmetered',
    allowed: 'metered or unmetered',
    schema: Joi.string().valid('metered', 'unmetered').default('metered'),
    value: 'mode',
  },
  freeCredits: {
    description: 'Credits that every account gets each month',
    allowed: 'a whole number of at least 0',
    schema: count(1000, 0),
    value: 'credits',
  },
  creditsPerSecond: {
    description: `Price of a second of rendering in each quality: ${QUALITIES.join(', ')}`,
    allowed: `${QUALITIES.length} numbers above 0 with commas between them`,
    schema: prices,
    value: 'prices',
    defaultText: Object.values(DEFAULT_PRICING.creditsPerSecond).join(','),
  },
  reserveSeconds: {
    description: 'Seconds of rendering that must be affordable to enqueue a scene',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0).default(DEFAULT_PRICING.reserveSeconds),
    value: 'seconds',
  },
  masterKey: {
    description: 'Key that webhook secrets are encrypted with',
    allowed: '64 hexadecimal digits',
    schema: Joi.string().hex().length(64),
    secret: true,
  },
  masterKeyFile: {
    description: 'File with the key that webhook secrets are encrypted with',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'master.key in the data folder',
  },
  workers: {
    description: 'Scenes rendered at the same time',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'the number of CPUs',
  },
  retentionDays: {
    description: 'Days after which the artifacts of a job are removed; the job stays',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0),
    value: 'days',
    defaultText: 'never',
  },
  retentionGb: {
    description: 'Size of all artifacts together, beyond which the oldest are removed',
    allowed: 'a number above 0',
    schema: Joi.number().greater(0),
    value: 'GiB',
    defaultText: 'no limit',
  },
  maxQueued: {
    description: 'Jobs that may wait; beyond that, requests are answered with 503',
    allowed: 'a whole number of at least 1',
    schema: count(10_000),
    value: 'number',
  },
  maxQueuedPerAccount: {
    description: 'Jobs of one account that may wait',
    allowed: 'a whole number of at least 1',
    schema: count(1_000),
    value: 'number',
  },
  maxRunningPerAccount: {
    description: 'Scenes of one account rendered at the same time',
    allowed: 'a whole number of at least 1',
    schema: count(),
    value: 'number',
    defaultText: 'the number of workers',
  },
  reservedWorkers: {
    description:
      'Of several workers, how many render only for accounts whose renders mostly complete; one always serves all',
    allowed: 'a whole number of at least 0',
    schema: count(1, 0),
    value: 'number',
  },
  failuresPerHour: {
    description:
      'Jobs of one account that may fail by their scenes within an hour; beyond that, requests are answered with 429; ' +
      '0 for no limit',
    allowed: 'a whole number of at least 0',
    schema: count(DEFAULT_BUDGETS.failuresPerHour, 0),
    value: 'number',
  },
  unpaidSecondsPerHour: {
    description:
      'Seconds of rendering of one account that may fail, be canceled or run out of credits within an hour; beyond ' +
      'that, requests are answered with 429; 0 for no limit',
    allowed: 'a whole number of at least 0',
    schema: count(DEFAULT_BUDGETS.unpaidSecondsPerHour, 0),
    value: 'seconds',
  },
  python: {
    description: 'Python interpreter that has Manim',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'the one that set-up made',
  },
  rendererDir: {
    description: 'Folder where the single executable unpacks the renderer that it carries',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'renderer in the data folder; without one the cache of the user',
  },
  studioDir: {
    description: 'Folder with fonts/, python/ and assets/ that every scene may read',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'the data folder; none without a server',
  },
  insecureNoSandbox: {
    description: 'Render even where scene code is not kept in by a sandbox that holds',
    allowed: 'true or false',
    schema: Joi.boolean().default(false),
  },
  renderTimeoutSeconds: {
    description: 'Longest render',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.timeoutMs / 1000),
    value: 'seconds',
  },
  renderMemoryMb: {
    description: 'Memory that a render may use',
    allowed: 'a whole number of at least 256',
    schema: count(DEFAULT_LIMITS.memoryBytes / MIB, 256),
    value: 'MiB',
  },
  renderProcesses: {
    description: 'Processes and threads that a render may have',
    allowed: 'a whole number of at least 8',
    schema: count(DEFAULT_LIMITS.processes, 8),
    value: 'number',
  },
  renderFileMb: {
    description: 'Largest file that a render may write',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.fileSizeBytes / MIB),
    value: 'MiB',
  },
  renderDiskMb: {
    description: 'Most that a render may have on disk',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.diskBytes / MIB),
    value: 'MiB',
  },
  renderFiles: {
    description: 'Most files that a render may have on disk',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.files),
    value: 'number',
  },
  renderOutputMb: {
    description: 'Largest video',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.outputBytes / MIB),
    value: 'MiB',
  },
  renderFrames: {
    description: 'Most frames of a video',
    allowed: 'a whole number of at least 1',
    schema: count(DEFAULT_LIMITS.frames),
    value: 'number',
  },
  webhooksAllowNetworks: {
    description:
      'Private networks that webhooks may reach, as 10.1.0.0/16,fd00::/8; public addresses always may',
    allowed: 'networks (CIDR) with commas between them',
    schema: networks,
    value: 'networks',
    defaultText: 'none',
  },
  webhooksCa: {
    description:
      'File with certificates (PEM) of authorities that webhooks trust besides the well-known ones',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  metricsToken: {
    description: 'Whoever has it may read /metrics',
    allowed: 'at least 16 characters without spaces',
    schema: Joi.string().min(16).pattern(/^\S+$/),
    secret: true,
  },
  drainSeconds: {
    description: 'How long running renders may go on when the service is told to stop',
    allowed: 'a whole number of at least 0',
    schema: count(30, 0),
    value: 'seconds',
  },
  signOfLifeMinutes: {
    description:
      'Minutes without a finished video after which a small scene is rendered to see whether one still would be; ' +
      '0 for never',
    allowed: 'a number of at least 0',
    schema: Joi.number().min(0).default(10),
    value: 'minutes',
  },
  logLevel: {
    description: 'Least important log lines to write',
    allowed: 'trace, debug, info, warn, error, fatal or silent',
    schema: Joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
    value: 'level',
  },
  logFile: {
    description: 'File that log lines are added to; opened again when it was moved, and on SIGHUP',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'standard error',
  },
};

const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** `dataDir`: `--data-dir`. */
export function flagOf(name: string): string {
  return `--${words(name).replaceAll('_', '-')}`;
}

/** `dataDir`: `SCENEPRESS_DATA_DIR`. */
export function variableOf(name: string): string {
  return `SCENEPRESS_${words(name).toUpperCase()}`;
}
