import { configuredAssetUrl, configuredPublicUrl } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { flagOf, OPTIONS } from '../config/options.ts';

type Shown = Readonly<Record<string, string>>;

/**
 * What decides about money, links and webhooks, of a process with these roles: if it differed from that of other machines, a
 * job would cost what its worker says, or have links that lead nowhere.
 */
export function settingsOf(config: Config): Shown {
  const { creditsMode, freeCredits, creditsPerSecond, reserveSeconds, s3Links, roles } = config;
  const isPublic = s3Links === 'public';
  return {
    creditsMode,
    ...(creditsMode === 'metered' && {
      freeCredits: String(freeCredits),
      creditsPerSecond: Object.values(creditsPerSecond).join(','),
      reserveSeconds: String(reserveSeconds),
    }),
    s3Bucket: shown(config.s3Bucket),
    s3Prefix: shown(config.s3Prefix),
    s3Links: isPublic ? s3Links : 'service or presigned',
    ...(isPublic ? { s3PublicUrl: shown(config.s3PublicUrl) } : { assetUrl: configuredAssetUrl(config) }),
    ...(roles.includes('api') && { publicUrl: configuredPublicUrl(config) }),
    ...((roles.includes('api') || roles.includes('sender')) && {
      webhooksAllowNetworks: shown(config.webhooksAllowNetworks.toSorted().join(',')),
    }),
  };
}

const LIMITS = {
  api: [
    'maxQueued',
    'maxQueuedPerAccount',
    'maxStoredGbPerAccount',
    'maxJobsPerSecondPerAccount',
    'maxRequestsPerSecondPerKey',
    'maxFilesPerAccount',
    'maxFilesGbPerAccount',
    'maxFileMb',
    'maxScenesPerAccount',
    'maxScenesMbPerAccount',
    'failuresPerHour',
    'unpaidSecondsPerHour',
    'checkSecondsPerHour',
  ],
  worker: [
    'maxRunningPerAccount',
    'reservedWorkers',
    'renderTimeoutSeconds',
    'renderMemoryMb',
    'renderProcesses',
    'renderFileMb',
    'renderDiskMb',
    'fileCacheGb',
    'renderFiles',
    'renderOutputMb',
    'renderFrames',
  ],
  sender: [],
  upkeep: ['retentionDays', 'retentionGb'],
} as const satisfies Record<Config['roles'][number], (keyof Config)[]>;

/** The limits that a process with these roles applies. They may differ, such as on a machine with much memory. */
export function shownLimitsOf(config: Config): Shown {
  const names = config.roles.flatMap((role): readonly (keyof Config)[] => LIMITS[role]);
  return Object.fromEntries(names.map((name) => [name, shown(config[name])]));
}

/** The option of a setting, as people write it. */
export function optionOf(name: string): string {
  if (name === 'assetUrl') return '--asset-url (default: --public-url)';
  return Object.hasOwn(OPTIONS, name) ? flagOf(name) : name;
}

function shown(value: unknown): string {
  return value === undefined || value === '' ? 'not set' : String(value);
}
