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
} from '../../../lib/index.ts';
import { QUALITY_NAMES } from '../../../lib/model/qualities.ts';
import { DEFAULT_FILES } from '../../../lib/owner-files/file-limits.ts';
import { DEFAULT_SCENES } from '../../../lib/scenes/scene-limits.ts';
import { validOptions } from '../../../lib/service/valid-options.ts';
import { DEFAULT_SPEECH } from '../../../lib/speech/speech-options.ts';

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
    incremental: true,
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

t.test('texts are said in one way', async (t) => {
  const message = 'speech must have one of speak, command and url';
  for (const speech of [{}, { command: 'say', url: 'http://127.0.0.1/' }])
    t.throws(() => validOptions({ speech }), { code: 'invalid_request', message: new RegExp(`^${message}`) });
  for (const speech of [
    { command: [] },
    { url: 'ftp://a' },
    { speak: 'x' as never },
    { command: 'a', tempo: 1 },
  ])
    t.throws(() => validOptions({ speech }), { code: 'invalid_request' });
});

t.test('an empty path counts as absent', async (t) => {
  t.strictSame(validOptions({ folder: '', workFolder: '' }), validOptions({}));
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
    files: { mostFiles: 0 },
    scenes: { mostScenes: 5 },
    speech: { command: 'say', concurrency: 1 },
    budgets: {
      ...{ failuresPerHour: 0, unpaidSecondsPerHour: 2.5, checkSecondsPerHour: 9 },
      ...{ storedBytes: 7, jobsPerSecond: 0.5 },
    },
    retention: { maxAgeDays: 0.5 },
    incremental: false,
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
    budgets: {
      ...{ failuresPerHour: 0, unpaidSecondsPerHour: 2.5, checkSecondsPerHour: 9 },
      ...{ storedBytes: 7, jobsPerSecond: 0.5 },
    },
    files: { ...DEFAULT_FILES, mostFiles: 0 },
    scenes: { ...DEFAULT_SCENES, mostScenes: 5 },
    speech: { ...DEFAULT_SPEECH, command: 'say', concurrency: 1 },
    incremental: false,
  });
  t.strictSame(retention, { maxAgeDays: 0.5, maxTotalBytes: INFINITY });
  t.strictSame(limits, { ...DEFAULT_LIMITS, timeoutMs: 0.5 });
});

const COUNT = [
  [0, 'be greater than or equal to 1, not 0'],
  [1.5, 'be an integer, not 1.5'],
  ['4', "be a number, not '4'"],
  [NAN, 'be a number, not NaN'],
  [null, 'be a number, not null'],
] as const;
const POSITIVE = [
  [0, 'be greater than 0, not 0'],
  [-1, 'be greater than 0, not -1'],
  [NAN, 'be a number, not NaN'],
  ['30', "be a number, not '30'"],
] as const;
const NOT_NEGATIVE = [
  [-1, 'be greater than or equal to 0, not -1'],
  [NAN, 'be a number, not NaN'],
  ['3', "be a number, not '3'"],
] as const;
const FINITE = [[INFINITY, 'be finite, not Infinity']] as const;
const OBJECT = [
  [5, 'be of type object, not 5'],
  [null, 'be of type object, not null'],
] as const;
const RUNNING = 'be an integer of at least 1, Infinity, or a function that returns it, not';

const WRONG: [name: string, values: readonly (readonly [value: unknown, message: string])[]][] = [
  ['workers', [...COUNT, ...FINITE]],
  [
    'roles',
    [
      ['api', "be an array, not 'api'"],
      [[], 'have 1 or more items, not []'],
      [null, 'be an array, not null'],
    ],
  ],
  ['roles[0]', [[['cook'], "be one of [api, worker, sender, upkeep], not 'cook'"]]],
  ['qualities[0]', [[['Low'], `be one of [${QUALITY_NAMES.join(', ')}], not 'Low'`]]],
  ['queue', OBJECT],
  ['queue.maxQueued', COUNT],
  ['queue.maxQueuedPerOwner', COUNT],
  [
    'queue.maxRunningPerOwner',
    [
      [0, `${RUNNING} 0`],
      [-3, `${RUNNING} -3`],
      [NAN, `${RUNNING} NaN`],
    ],
  ],
  ['queue.reservedWorkers', [...NOT_NEGATIVE, ...FINITE, [0.5, 'be an integer, not 0.5']]],
  ['queue.maxQueuedOf', [[5, 'be of type function, not 5']]],
  ['files', OBJECT],
  ['files.mostBytes', NOT_NEGATIVE],
  ['scenes', OBJECT],
  ['scenes.mostBytes', NOT_NEGATIVE],
  ['files.limitsOf', [[5, 'be of type function, not 5']]],
  [
    'limits.timeoutMs',
    [...POSITIVE, ...FINITE, [2 ** 31, 'be less than or equal to 2147483647, not 2147483648']],
  ],
  ['limits.memoryBytes', [...COUNT, ...FINITE]],
  ['limits.frames', COUNT],
  ['retention.maxAgeDays', POSITIVE],
  ['retention.maxTotalBytes', POSITIVE],
  ['budgets.failuresPerHour', NOT_NEGATIVE],
  ['budgets.unpaidSecondsPerHour', NOT_NEGATIVE],
  ['pricing.reserveSeconds', [...POSITIVE, ...FINITE]],
  ['pricing.creditsPerSecond', OBJECT],
  ['probeAfterMs', NOT_NEGATIVE],
  ['previewIntervalMs', NOT_NEGATIVE],
  ['studioFolder', [['', 'not be empty']]],
  [
    'folder',
    [
      [5, 'be a string, not 5'],
      [{}, 'be a string, not {}'],
    ],
  ],
];

for (const [name, values] of WRONG)
  t.test(`a wrong ${name} is rejected`, async (t) => {
    const [group = '', option] = name.replace('[0]', '').split('.');
    for (const [value, message] of values) {
      const options = option === undefined ? { [group]: value } : { [group]: { [option]: value } };
      t.throws(() => new RenderService({ folder, ...options } as RenderServiceOptions), {
        code: 'invalid_request',
        message: `${name} must ${message}.`,
      });
    }
  });

t.test('a price of each quality is needed', async (t) => {
  const prices = { creditsPerSecond: { high: 10 } as typeof creditsPerSecond };
  t.throws(() => new RenderService({ folder, pricing: prices }), {
    code: 'invalid_request',
    message: 'pricing.creditsPerSecond.low must be given.',
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
    message: 'limits.frames must be greater than or equal to 1, not 0.',
  });
});
