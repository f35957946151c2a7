import { availableParallelism } from 'node:os';
import Joi from 'joi';
import { KEEP_ALL, type RetentionOptions } from '../assets/retention.ts';
import { COUNT, checked, group, having, LIMIT, POSITIVE, type Schemas } from '../base/checked.ts';
import { type BudgetOptions, DEFAULT_BUDGETS } from '../jobs/fairness/fairness.ts';
import { DEFAULT_PRICING, type PricingOptions } from '../ledger/pricing.ts';
import type { RenderLimits } from '../model/limits.ts';
import { QUALITY_NAMES } from '../model/qualities.ts';
import { ROLES, type Role } from '../model/roles.ts';
import { DEFAULT_FILES, type FileOptions } from '../owner-files/file-limits.ts';
import { LIMITS } from '../render/run/limit-options.ts';
import { checkRenderer } from '../render/start/launcher.ts';
import { DEFAULT_SCENES, type SceneOptions } from '../scenes/scene-limits.ts';
import { SPEECH, type ValidSpeech } from '../speech/speech-options.ts';
import { DEFAULT_QUEUE, type QueueOptions } from '../storage/queue/queue-options.ts';
import type { WebhookOptions } from '../webhooks/webhook-secrets.ts';
import type { RenderServiceOptions } from './render-service-options.ts';

/** The options of a service that have rules, with their defaults. */
export interface ValidOptions {
  roles: readonly Role[];
  workers: number;
  pricing: PricingOptions;
  queue: QueueOptions;
  limits: RenderLimits;
  budgets: BudgetOptions;
  files: FileOptions;
  scenes: SceneOptions;
  speech: ValidSpeech | undefined;
  retention: RetentionOptions;
  incremental: boolean;
}

/** An empty one counts as absent. */
const path = Joi.string().allow('');
const someOf = (words: readonly string[]) =>
  Joi.array()
    .items(Joi.valid(...words))
    .min(1);
const countOrInfinity = COUNT.allow(Number.POSITIVE_INFINITY);
/** More than 0; Infinity: no limit. */
const positiveOrInfinity = POSITIVE.allow(Number.POSITIVE_INFINITY);

/** All options of a service, with their defaults. */
export const SERVICE_OPTIONS: Schemas<RenderServiceOptions> = {
  folder: path,
  dataFolder: Joi.any(),
  storage: having('a storage of jobs, such as that of `postgres(url)`', [
    'transaction',
    'insertJob',
    'listJobs',
  ]),
  settings: having('a store of settings', ['getSettings', 'changeSettings']),
  assets: having('an asset store, such as `new FileAssetStore(folder)`', ['put', 'open', 'delete']),
  workFolder: path,
  studioFolder: Joi.string(),
  ledger: having('a ledger, such as `new StoredLedger({ store: storage.ledgerStore })`', [
    'joins',
    'reserve',
    'settle',
    'void',
    'balance',
    'available',
  ]),
  pricing: group<PricingOptions>(
    {
      creditsPerSecond: Joi.object(
        Object.fromEntries(QUALITY_NAMES.map((quality) => [quality, POSITIVE.required()])),
      ),
      reserveSeconds: POSITIVE,
    },
    DEFAULT_PRICING,
  ),
  admitsOwner: Joi.function(),
  heldBack: Joi.any(),
  tex: Joi.any(),
  limits: LIMITS,
  renderer: Joi.any(),
  roles: someOf(ROLES).default(ROLES),
  signals: having('signals, such as `new LocalSignals()`', ['publish', 'subscribe']),
  workers: COUNT.default(availableParallelism),
  qualities: someOf(QUALITY_NAMES),
  queue: group<QueueOptions>(
    {
      maxQueued: countOrInfinity,
      maxQueuedPerOwner: countOrInfinity,
      maxRunningPerOwner: Joi.alternatives(Joi.function(), countOrInfinity).messages({
        '*': '{{#label}} must be an integer of at least 1, Infinity, or a function that returns it',
      }),
      reservedWorkers: Joi.number().integer().min(0),
      maxQueuedOf: Joi.function(),
    },
    DEFAULT_QUEUE,
  ),
  budgets: group<BudgetOptions>(
    {
      failuresPerHour: LIMIT,
      unpaidSecondsPerHour: LIMIT,
      checkSecondsPerHour: LIMIT,
      storedBytes: LIMIT,
      jobsPerSecond: LIMIT,
    },
    DEFAULT_BUDGETS,
  ),
  files: group<FileOptions>(
    {
      mostBytes: LIMIT,
      mostFiles: LIMIT,
      largestBytes: LIMIT,
      receivingBytes: LIMIT,
      cacheBytes: LIMIT,
      limitsOf: Joi.function(),
    },
    DEFAULT_FILES,
  ),
  scenes: group<SceneOptions>(
    { mostScenes: LIMIT, mostBytes: LIMIT, limitsOf: Joi.function() },
    DEFAULT_SCENES,
  ),
  speech: SPEECH,
  retention: group<RetentionOptions>(
    { maxAgeDays: positiveOrInfinity, maxTotalBytes: positiveOrInfinity },
    KEEP_ALL,
  ),
  incremental: Joi.boolean().strict().default(true),
  assetUrl: Joi.any(),
  artifactUrl: Joi.any(),
  webhooks: Joi.object({
    secretOf: Joi.any(),
    masterKeys: Joi.any(),
    concurrency: Joi.any(),
    concurrencyPerHost: Joi.any(),
    concurrencyUnproven: Joi.any(),
    allowNetworks: Joi.any(),
    ca: Joi.any(),
    resolve: Joi.any(),
  } satisfies Schemas<WebhookOptions>),
  probeAfterMs: LIMIT,
  previewIntervalMs: LIMIT,
  clock: Joi.any(),
  logger: Joi.any(),
};

const SCHEMA = Joi.object<ValidOptions>(SERVICE_OPTIONS);

/** Checks the options of a service. Error: `invalid_request` for one that does not exist or breaks its rule. */
export function validOptions(options: RenderServiceOptions): ValidOptions {
  const valid = checked('RenderService', options, SCHEMA);
  checkRenderer(options.renderer);
  const { roles, workers, pricing, queue, limits, budgets, files, scenes, speech, retention, incremental } =
    valid;
  return { roles, workers, pricing, queue, limits, budgets, files, scenes, speech, retention, incremental };
}
