import { availableParallelism } from 'node:os';
import { KEEP_ALL, type RetentionOptions } from './assets/retention.ts';
import { type BudgetOptions, DEFAULT_BUDGETS } from './jobs/fairness.ts';
import { known, type Names } from './known-options.ts';
import { DEFAULT_PRICING, type PricingOptions } from './ledger/pricing.ts';
import {
  COUNT,
  COUNT_OR_INFINITY,
  COUNT_OR_INFINITY_OR_FUNCTION,
  COUNT_OR_ZERO,
  checkMethods,
  checkOption,
  FUNCTION,
  groupOf,
  NOT_NEGATIVE,
  OBJECT,
  POSITIVE,
  POSITIVE_OR_INFINITY,
  type Rule,
} from './option-rules.ts';
import { QUALITY_NAMES } from './qualities.ts';
import { DEFAULT_QUEUE, type QueueOptions } from './queue/queue-options.ts';
import { limitsOf, type RenderLimits } from './render/run/limits.ts';
import { checkRenderer } from './render/start/launcher.ts';
import { type RenderServiceOptions, ROLES, type Role } from './render-service-options.ts';
import type { WebhookOptions } from './webhooks/webhook-secrets.ts';

/** The options of a service that have rules, with their defaults. */
export interface ValidOptions {
  roles: readonly Role[];
  workers: number;
  pricing: PricingOptions;
  queue: QueueOptions;
  limits: RenderLimits;
  budgets: BudgetOptions;
  retention: RetentionOptions;
}

/** The methods by which an object is recognized as the store that an option needs. */
const STORES = {
  storage: ['a storage of jobs, such as that of `postgres(url)`', ['transaction', 'insertJob', 'listJobs']],
  settings: ['a store of settings', ['getSettings', 'changeSettings']],
  assets: ['an asset store, such as `new FileAssetStore(folder)`', ['put', 'open', 'delete']],
  ledger: [
    'a ledger, such as `new StoredLedger({ store: storage.ledgerStore })`',
    ['joins', 'reserve', 'settle', 'void', 'balance', 'available'],
  ],
  signals: ['signals, such as `new LocalSignals()`', ['publish', 'subscribe']],
} as const;

const TEXT: Rule = { allowed: 'a string', isValid: (value) => typeof value === 'string' };

const SINGLE: Partial<Record<keyof RenderServiceOptions, Rule>> = {
  folder: TEXT,
  workFolder: TEXT,
  studioFolder: TEXT,
  admitsOwner: FUNCTION,
  qualities: someOf(QUALITY_NAMES),
  probeAfterMs: NOT_NEGATIVE,
  previewIntervalMs: NOT_NEGATIVE,
};

/** All options of a service. */
export const SERVICE_OPTIONS: Names<RenderServiceOptions> = {
  folder: true,
  dataFolder: true,
  storage: true,
  settings: true,
  assets: true,
  workFolder: true,
  studioFolder: true,
  ledger: true,
  pricing: true,
  admitsOwner: true,
  heldBack: true,
  tex: true,
  limits: true,
  renderer: true,
  roles: true,
  signals: true,
  workers: true,
  qualities: true,
  queue: true,
  budgets: true,
  retention: true,
  assetUrl: true,
  artifactUrl: true,
  webhooks: true,
  probeAfterMs: true,
  previewIntervalMs: true,
  clock: true,
  logger: true,
};

const WEBHOOKS: Names<WebhookOptions> = {
  secretOf: true,
  masterKeys: true,
  concurrency: true,
  concurrencyPerHost: true,
  concurrencyUnproven: true,
  allowNetworks: true,
  ca: true,
  resolve: true,
};

/** Checks the options of a service. Error: `invalid_request` for the first that does not exist or breaks its rule. */
export function validOptions(options: RenderServiceOptions): ValidOptions {
  known('RenderService', options, SERVICE_OPTIONS);
  for (const [name, [noun, methods]] of Object.entries(STORES)) {
    const store = options[name as keyof typeof STORES];
    if (store !== undefined) checkMethods(name, store, noun, methods);
  }
  for (const [name, rule] of Object.entries(SINGLE)) {
    const value = options[name as keyof RenderServiceOptions];
    if (value !== undefined) checkOption(name, value, rule);
  }
  const { roles = ROLES, workers = availableParallelism() } = options;
  checkOption('roles', roles, someOf(ROLES));
  checkOption('workers', workers, COUNT);
  const pricing = groupOf('pricing', options.pricing, DEFAULT_PRICING, {
    creditsPerSecond: OBJECT,
    reserveSeconds: POSITIVE,
  });
  known('pricing.creditsPerSecond', pricing.creditsPerSecond, DEFAULT_PRICING.creditsPerSecond);
  for (const quality of QUALITY_NAMES)
    checkOption(`pricing.creditsPerSecond.${quality}`, pricing.creditsPerSecond[quality], POSITIVE);
  known('webhooks', options.webhooks ?? {}, WEBHOOKS);
  checkRenderer(options.renderer);
  return {
    roles,
    workers,
    pricing,
    queue: groupOf('queue', options.queue, DEFAULT_QUEUE, {
      maxQueued: COUNT_OR_INFINITY,
      maxQueuedPerOwner: COUNT_OR_INFINITY,
      maxRunningPerOwner: COUNT_OR_INFINITY_OR_FUNCTION,
      reservedWorkers: COUNT_OR_ZERO,
      maxQueuedOf: FUNCTION,
    }),
    limits: limitsOf(options.limits),
    budgets: groupOf('budgets', options.budgets, DEFAULT_BUDGETS, {
      failuresPerHour: NOT_NEGATIVE,
      unpaidSecondsPerHour: NOT_NEGATIVE,
      storedBytes: NOT_NEGATIVE,
      jobsPerSecond: NOT_NEGATIVE,
    }),
    retention: groupOf('retention', options.retention, KEEP_ALL, {
      maxAgeDays: POSITIVE_OR_INFINITY,
      maxTotalBytes: POSITIVE_OR_INFINITY,
    }),
  };
}

function someOf(values: readonly string[]): Rule {
  return {
    allowed: `an array of some of ${values.join(', ')}`,
    isValid: (given) =>
      Array.isArray(given) && given.length > 0 && given.every((value) => values.includes(value)),
  };
}
