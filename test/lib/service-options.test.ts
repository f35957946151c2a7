import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  DataFolder,
  DEFAULT_BUDGETS,
  DEFAULT_LIMITS,
  DEFAULT_PRICING,
  FileAssetStore,
  LocalRenderer,
  LocalSignals,
  RenderService,
  type RenderServiceOptions,
  ROLES,
  StoredLedger,
} from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/qualities.ts';
import { validOptions } from '../../lib/service-options.ts';

const { POSITIVE_INFINITY: INFINITY, NaN: NAN } = Number;
const folder = join(t.testdirName, 'data');
const dataFolder = new DataFolder(folder);
const { creditsPerSecond } = DEFAULT_PRICING;

t.test('absent and undefined options have their defaults', async (t) => {
  const defaults = validOptions({});
  t.match(defaults, {
    roles: ROLES,
    workers: availableParallelism(),
    pricing: DEFAULT_PRICING,
    queue: { maxQueued: 10_000, maxQueuedPerOwner: 1_000, maxRunningPerOwner: INFINITY, reservedWorkers: 0 },
    limits: DEFAULT_LIMITS,
    budgets: DEFAULT_BUDGETS,
    retention: { maxAgeDays: INFINITY, maxTotalBytes: INFINITY },
  });
  const none = undefined as never;
  const groups = {
    pricing: { creditsPerSecond: none, reserveSeconds: none },
    queue: { maxQueued: none, maxQueuedPerOwner: none, maxRunningPerOwner: none, reservedWorkers: none },
    limits: { timeoutMs: none, memoryBytes: none },
    budgets: { failuresPerHour: none, unpaidSecondsPerHour: none },
    retention: { maxAgeDays: none, maxTotalBytes: none },
  };
  t.strictSame(validOptions(groups), defaults);
  const absent = ['roles', 'workers', 'qualities', 'assets', 'ledger', 'folder', ...Object.keys(groups)];
  t.strictSame(validOptions(Object.fromEntries(absent.map((name) => [name, undefined]))), defaults);
});

t.test('valid options replace the defaults', async (t) => {
  const maxQueuedOf = () => 5;
  const queue = { maxQueued: 1, maxQueuedPerOwner: INFINITY, maxRunningPerOwner: 2, reservedWorkers: 0 };
  const { retention, limits, ...valid } = validOptions({
    folder,
    workers: 3,
    roles: ['api'],
    qualities: ['high'],
    queue: { ...queue, maxQueuedOf },
    limits: { timeoutMs: 0.5 },
    budgets: { failuresPerHour: 0, unpaidSecondsPerHour: 2.5, storedBytes: 7, jobsPerSecond: 0.5 },
    retention: { maxAgeDays: 0.5 },
    pricing: { reserveSeconds: 1 },
    probeAfterMs: 0,
    assets: new FileAssetStore(folder),
    storage: dataFolder.storage,
    settings: dataFolder.settings,
    signals: new LocalSignals(),
    ledger: new StoredLedger({ store: dataFolder.ledgerStore }),
  });
  t.strictSame(valid, {
    roles: ['api'],
    workers: 3,
    pricing: { creditsPerSecond, reserveSeconds: 1 },
    queue: { ...queue, maxQueuedOf },
    budgets: { failuresPerHour: 0, unpaidSecondsPerHour: 2.5, storedBytes: 7, jobsPerSecond: 0.5 },
  });
  t.strictSame(retention, { maxAgeDays: 0.5, maxTotalBytes: INFINITY });
  t.strictSame(limits, { ...DEFAULT_LIMITS, timeoutMs: 0.5 });
});

const COUNT = 'an integer of at least 1';
const WRONG: [name: string, values: unknown[], allowed: string][] = [
  ['workers', [0, -1, 1.5, '4', NAN, INFINITY, null], COUNT],
  ['roles', ['api', [], ['cook'], null], 'an array of some of api, worker, sender, upkeep'],
  ['qualities', ['low', [], ['Low']], `an array of some of ${QUALITY_NAMES.join(', ')}`],
  ['queue', [5, 'x', null], 'an object'],
  ['queue.maxQueued', [0, -1, 1.5, '5', NAN], `${COUNT}, or Infinity`],
  ['queue.maxQueuedPerOwner', [0, -1, '5'], `${COUNT}, or Infinity`],
  ['queue.maxRunningPerOwner', [0, -3, NAN], `${COUNT}, Infinity, or a function that returns it`],
  ['queue.reservedWorkers', [-1, 0.5, INFINITY], 'an integer of at least 0'],
  ['queue.maxQueuedOf', [5], 'a function'],
  ['limits.timeoutMs', [0, -1, NAN, INFINITY, 2 ** 31, '10'], 'a number above 0, of at most 2147483647'],
  ['limits.memoryBytes', [0, -1, NAN, INFINITY, '2G'], COUNT],
  ['limits.frames', [0, null], COUNT],
  ['retention.maxAgeDays', [-1, 0, NAN, '30'], 'a number above 0'],
  ['retention.maxTotalBytes', [-1, NAN], 'a number above 0'],
  ['budgets.failuresPerHour', [-1, NAN, '3'], 'a number of at least 0'],
  ['budgets.unpaidSecondsPerHour', [-1], 'a number of at least 0'],
  ['pricing.reserveSeconds', [0, -1, NAN, INFINITY, '5'], 'a finite number above 0'],
  ['pricing.creditsPerSecond', [5, null], 'an object'],
  ['probeAfterMs', [-1, NAN], 'a number of at least 0'],
  ['previewIntervalMs', [-1, '500'], 'a number of at least 0'],
  ['folder', [5, {}], 'a string'],
];

for (const [name, values, allowed] of WRONG)
  t.test(`a wrong ${name} is rejected`, async (t) => {
    const [group = '', option] = name.split('.');
    for (const value of values) {
      const options = option === undefined ? { [group]: value } : { [group]: { [option]: value } };
      t.throws(() => new RenderService({ folder, ...options } as RenderServiceOptions), {
        code: 'invalid_request',
        message: `${name} must be ${allowed}, not `,
      });
    }
  });

t.test('a price of each quality is needed', async (t) => {
  const prices = { creditsPerSecond: { high: 10 } as typeof creditsPerSecond };
  t.throws(() => new RenderService({ folder, pricing: prices }), {
    code: 'invalid_request',
    message: 'pricing.creditsPerSecond.low must be a finite number above 0, not undefined.',
  });
});

t.test('an object that lacks the methods of a store is rejected, and not shown', async (t) => {
  for (const [name, value, message] of [
    [
      'assets',
      '/path',
      /^assets must be an asset store.* a value of the type string, has no put, open, delete/,
    ],
    ['assets', {}, /^assets must be .* an instance of Object, has no put/],
    [
      'ledger',
      dataFolder.ledgerStore,
      /^ledger must be .*new StoredLedger.* an instance of \w+, has no joins/,
    ],
    ['storage', 'postgres://user:secret@host/', /^storage must be a storage of jobs(?!.*secret)/],
    ['settings', dataFolder.ledgerStore, /^settings must be/],
    ['signals', null, /^signals must be/],
  ] as const)
    t.throws(() => new RenderService({ folder, [name]: value } as RenderServiceOptions), {
      code: 'invalid_request',
      message,
    });
});

t.test('the limits of a local renderer are checked, too', async (t) => {
  t.throws(() => new LocalRenderer({ folder, limits: { frames: 0 } }), {
    code: 'invalid_request',
    message: 'limits.frames must be an integer of at least 1, not 0.',
  });
});
