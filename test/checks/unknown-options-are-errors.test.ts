import { join } from 'node:path';
import t from 'tap';
import { artifacts, renderApi } from '../../appliance/http/render-api.ts';
import { S3AssetStore, s3 } from '../../lib/assets/s3/index.ts';
import { ScenepressClient } from '../../lib/client/index.ts';
import {
  Accounts,
  ApiKeys,
  DataFolder,
  DEFAULT_PRICING,
  Deliveries,
  ensureRenderer,
  LocalRenderer,
  MasterKey,
  MasterKeys,
  RenderService,
  StoredLedger,
  sqlStorage,
  storeFailure,
  UnmeteredLedger,
} from '../../lib/index.ts';
import {
  backUp,
  completeReplacement,
  continueInstallation,
  migrateToFolder,
  migrateToPostgres,
  recover,
  replaceMasterKey,
  restore,
  separateInstallation,
} from '../../lib/operations.ts';
import { postgres } from '../../lib/postgres/index.ts';
import * as testing from '../../lib/testing/index.ts';
import { webHandler } from '../../lib/web/index.ts';
import { signWebhook, verifyWebhook } from '../../lib/webhooks/signature.ts';
import { readApi } from '../../scripts/public-api.ts';

const folder = join(t.testdirName, 'data');
const dataFolder = new DataFolder(folder);
const { assets, storage } = dataFolder;
const service = new RenderService({ dataFolder });
const { deliveries } = service;
const database = postgres('postgres://localhost/studio');
const accounts = new Accounts({ store: dataFolder.accountStore });
const keys = new ApiKeys({ store: dataFolder.keyStore, masterKeys: new MasterKeys(MasterKey.random()) });
const ledger = new StoredLedger({ store: dataFolder.ledgerStore });
const local = new LocalRenderer({ folder });
const bucket = s3({ bucket: 'renders' });
const client = new ScenepressClient({ url: 'http://localhost', key: 'svc_live_' });
const request = { owner: 'ada', className: 'Main', code: 'a scene' };
const neverOpened = () => Promise.reject(new Error('not opened'));
const job = { result: { video: 'http://localhost/video.mp4', thumbnail: '' } };

/** Calls with options, by their name in the API; a number follows when it is not the last parameter. */
// biome-ignore lint/suspicious/noExplicitAny: a program in JavaScript gives what it likes
const CALLS: Record<string, (given: any) => unknown> = {
  'Accounts.constructor': (given) => new Accounts(given),
  'Accounts.create': (given) => accounts.create('ada@example.com', given),
  'Accounts.find': (given) => accounts.find('ada', given),
  'Accounts.setPassword': (given) => accounts.setPassword('ada', given),
  'Accounts.list': (given) => accounts.list(given),
  'ApiKeys.constructor': (given) => new ApiKeys(given),
  'ApiKeys.mint': (given) => keys.mint(given),
  'ApiKeys.list': (given) => keys.list(given),
  'ApiKeys.all': (given) => keys.all(given),
  'DataFolder.constructor': (given) => new DataFolder(folder, given),
  'DataFolder.masterKeys': (given) => dataFolder.masterKeys(given),
  'Deliveries.constructor': (given) => new Deliveries(given),
  'Deliveries.list': (given) => deliveries.list(given),
  'Deliveries.get': (given) => deliveries.get('1', given),
  'Deliveries.countDue': (given) => deliveries.countDue(given),
  'Deliveries.sendAgain': (given) => deliveries.sendAgain('1', given),
  'Deliveries.sendNow': (given) => deliveries.sendNow('1', given),
  'Deliveries.giveUp': (given) => deliveries.giveUp('1', given),
  'Deliveries.sendFailedAgain': (given) => deliveries.sendFailedAgain(given),
  'Deliveries.sendTest 0': (given) => deliveries.sendTest(given),
  'Deliveries.sendTest': (given) => deliveries.sendTest({ owner: 'ada', url: '', secret: '' }, given),
  'LocalRenderer.constructor': (given) => new LocalRenderer(given),
  'LocalRenderer.start': (given) => local.start(given),
  'LocalRenderer.scenesOf': (given) => local.scenesOf('', given),
  'LocalRenderer.check': (given) => local.check('', given),
  'LocalRenderer.inspect': (given) => local.inspect('', given),
  'LocalRenderer.render 0': (given) => local.render(given),
  'LocalRenderer.render': (given) => local.render(request, given),
  'MasterKeys.constructor': (given) => new MasterKeys(null, given),
  'RenderService.constructor': (given) => new RenderService(given),
  'RenderService.start': (given) => service.start(given),
  'RenderService.startWithoutWorkers': (given) => service.startWithoutWorkers(given),
  'RenderService.drain': (given) => service.drain(given),
  'RenderService.stop': (given) => service.stop(given),
  'RenderService.enqueue 0': (given) => service.enqueue({ ...request, ...given }),
  'RenderService.enqueue': (given) => service.enqueue(request, given),
  'RenderService.enqueueMany': (given) => service.enqueueMany([request], given),
  'RenderService.renderAgain': (given) => service.renderAgain('1', given),
  'RenderService.resealSecrets': (given) => service.resealSecrets(given),
  'RenderService.get': (given) => service.get('1', given),
  'RenderService.plays': (given) => service.plays('1', given),
  'RenderService.output': (given) => service.output('1', given),
  'RenderService.filesOf': (given) => service.filesOf('1', given),
  'RenderService.list': (given) => service.list(given),
  'RenderService.search': (given) => service.search(given),
  'RenderService.labels': (given) => service.labels(given),
  'RenderService.searchErrors': (given) => service.searchErrors(given),
  'RenderService.usage': (given) => service.usage({ owner: 'a', ...given }),
  'RenderService.count': (given) => service.count(given),
  'RenderService.cancel': (given) => service.cancel('1', given),
  'RenderService.relabel': (given) => service.relabel('1', { starred: true }, given),
  'RenderService.forget': (given) => service.forget('1', given),
  'RenderService.forgetAll': (given) => service.forgetAll('ada', given),
  'RenderService.wait': (given) => service.wait('1', given),
  'RenderService.follow': (given) => service.follow('1', given),
  'RenderService.scenesOf': (given) => service.scenesOf('', given),
  'RenderService.check': (given) => service.check('x', given),
  'RenderService.checkMany': (given) => service.checkMany(['x'], given),
  'RenderService.inspect': (given) => service.inspect('x', given),
  'RenderService.still': (given) => service.still('x', given),
  'RenderService.openPicture': (given) => service.openPicture('s1', 'still.png', given),
  'RenderService.openArtifact': (given) => service.openArtifact('1', 'video.mp4', given),
  'StoredLedger.constructor': (given) => new StoredLedger(given),
  'StoredLedger.grantMonth': (given) => ledger.grantMonth(given),
  'StoredLedger.grantPaid': (given) => ledger.grantPaid('ada', 1, given),
  'StoredLedger.takeBack': (given) => ledger.takeBack('ada', 1, given),
  'StoredLedger.statement': (given) => ledger.statement('ada', given),
  'StoredLedger.charges': (given) => ledger.charges('ada', given),
  'StoredLedger.audit': (given) => ledger.audit(given),
  'UnmeteredLedger.constructor': (given) => new UnmeteredLedger(given),
  backUp: (given) => backUp(dataFolder, '/nowhere', given),
  completeReplacement: (given) => completeReplacement(dataFolder as never, given),
  continueInstallation: (given) => continueInstallation(given),
  ensureRenderer: (given) => ensureRenderer(given),
  recover: (given) => recover('/nowhere', given),
  replaceMasterKey: (given) => replaceMasterKey(dataFolder as never, given),
  restore: (given) => restore('/nowhere', '/nowhere', given),
  'separateInstallation 0': (given) => separateInstallation(given),
  separateInstallation: (given) => separateInstallation({ storage, assets }, given),
  signWebhook: (given) => signWebhook('', 'whsec_1', given),
  sqlStorage: (given) => sqlStorage(dataFolder.database, given),
  storeFailure: (given) => storeFailure(assets, given),
  verifyWebhook: (given) => verifyWebhook('', null, 'whsec_1', given),
  'ScenepressClient.constructor': (given) => new ScenepressClient(given),
  'ScenepressClient.enqueue': (given) => client.enqueue(request, given),
  'ScenepressClient.get': (given) => client.get('1', given),
  'ScenepressClient.account': (given) => client.account(given),
  'ScenepressClient.wait': (given) => client.wait('1', given),
  'ScenepressClient.render': (given) => client.render(request, given),
  'ScenepressClient.follow': (given) => client.follow('1', given).next(),
  'ScenepressClient.followAll': (given) => client.followAll(given).next(),
  'ScenepressClient.check': (given) => client.check('x', given),
  'ScenepressClient.checkMany': (given) => client.checkMany(['x'], given),
  'ScenepressClient.inspect': (given) => client.inspect('x', given),
  'ScenepressClient.still': (given) => client.still('x', given),
  'ScenepressClient.enqueueMany': (given) => client.enqueueMany([request], given),
  'ScenepressClient.renderAgain': (given) => client.renderAgain('1', {}, given),
  'ScenepressClient.list 0': (given) => client.list(given),
  'ScenepressClient.list': (given) => client.list({}, given),
  'ScenepressClient.details': (given) => client.details('1', given),
  'ScenepressClient.relabel': (given) => client.relabel('1', {}, given),
  'ScenepressClient.forget': (given) => client.forget('1', given),
  'ScenepressClient.describeKey': (given) => client.describeKey(given),
  'ScenepressClient.usage': (given) => client.usage(given),
  'ScenepressClient.cancel': (given) => client.cancel('1', given),
  'ScenepressClient.download': (given) => client.download(job, 'video', given),
  'StoredMasterKey.load': (given) => database.masterKey.load(given),
  migrateToFolder: (given) => migrateToFolder(database, folder, given),
  migrateToPostgres: (given) => migrateToPostgres(dataFolder, database, given),
  postgres: (given) => postgres('postgres://localhost/studio', given),
  'S3AssetStore.constructor': (given) => new S3AssetStore(given),
  'S3AssetStore.presign': (given) => bucket.presign('1/video.mp4', given),
  s3: (given) => s3(given),
  fakeRenderService: (given) => testing.fakeRenderService(given),
  webHandler: (given) => webHandler(given),
};

for (const [name, suite] of Object.entries(testing))
  if (name.endsWith('Suite')) CALLS[name] = (given) => suite(neverOpened as never, given);

/** Called by the service, or with what another server has sent. */
const CALLED_BY_US = new Set([
  'ApiError.constructor',
  'FileAssetStore.put',
  'S3AssetStore.open',
  'S3AssetStore.put',
  'ScenepressClient.download 0',
  'ScenepressClient.enqueue 0',
  'ScenepressClient.render 0',
  'ScenepressClient.renderAgain 1',
  'ScenepressError.constructor',
  'StoredLedger.prepare 0',
  'StoredLedger.reserve 0',
  'StoredLedger.settle 0',
  'StoredLedger.void 0',
  'StoredMasterKey.constructor',
  'UnmeteredLedger.settle 0',
  'UnmeteredLedger.void 0',
]);

const OPTIONS =
  /^(?:\{|Pick<|Omit<|Partial<|\w*(?:Options|Query|Scope|Search|Request|Replacement|Resealing|Deliveries|Installation|Rate)\b(?!\[))/;

/** The parameters of public functions and methods that are objects of options, named as in `CALLS`. */
function takers(): string[] {
  const found = new Set<string>();
  for (const { names } of readApi().values())
    for (const [name, { text }] of names) {
      if (!/^export (?:declare )?(?:abstract )?(?:class|function)/.test(text)) continue;
      const bare = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(/\s+/g, ' ');
      const isClass = /^export declare (?:abstract )?class/.test(bare);
      for (const [method, at] of callables(bare, isClass)) {
        const parameters = parametersOf(bare, at);
        parameters.forEach((parameter, index) => {
          const type = parameter.replace(/^(?:\{[^}]*\}|\w+)\??: /, '');
          if (!OPTIONS.test(type)) return;
          const call = isClass ? `${name}.${method}` : name;
          found.add(index === parameters.length - 1 ? call : `${call} ${index}`);
        });
      }
    }
  return [...found];
}

/** The names of the functions that a declaration has, and where their parameters begin. */
function callables(text: string, isClass: boolean): [name: string, at: number][] {
  const pattern = isClass ? /(?<=[;{] )(?:static )?(\w+)(?:<\w+>)?\(/g : /function (\w+)(?:<\w+>)?\(/g;
  return Array.from(text.matchAll(pattern), (match) => [match[1] ?? '', match.index + match[0].length]);
}

/** Splits at the commas that are in no bracket, up to the closing parenthesis. */
function parametersOf(text: string, from: number): string[] {
  const parameters = [''];
  let depth = 0;
  for (const [index, letter] of [...text.slice(from)].entries()) {
    if ('([{<'.includes(letter)) depth += 1;
    if (')]}'.includes(letter) || (letter === '>' && text[from + index - 1] !== '=')) depth -= 1;
    if (depth < 0) break;
    if (letter === ',' && depth === 0) parameters.push('');
    else parameters[parameters.length - 1] += letter;
  }
  return parameters.map((parameter) => parameter.trim()).filter((parameter) => parameter !== '');
}

t.test('every call that takes options is listed here', async (t) => {
  const listed = new Set([...Object.keys(CALLS), ...CALLED_BY_US]);
  const found = takers();
  t.same(
    found.filter((name) => !listed.has(name)),
    [],
    'add them to CALLS',
  );
  t.same(
    [...listed].filter((name) => !found.includes(name)),
    [],
    'these take no options',
  );
});

const UNKNOWN = { optoin: 1 };
const EXPECTED = { code: 'invalid_request', message: /has no option `optoin`/ };

for (const [name, call] of Object.entries(CALLS))
  t.test(`${name} rejects an option that does not exist`, async (t) => {
    await t.rejects(async () => await call(UNKNOWN), EXPECTED);
  });

t.test('the plugins of hapi reject an option that does not exist', async (t) => {
  for (const plugin of [renderApi, artifacts])
    await t.rejects(async () => plugin.register({} as never, UNKNOWN as never), EXPECTED);
});

t.test('groups of options are checked, and the nearest name is told', async (t) => {
  const wrong: [object, string][] = [
    [{ wrokers: 5 }, 'RenderService has no option `wrokers`. Did you mean `workers`?'],
    [{ queue: { maxQueud: 1 } }, 'queue has no option `maxQueud`. Did you mean `maxQueued`?'],
    [{ limits: { timeoutms: 1 } }, 'limits has no option `timeoutms`. Did you mean `timeoutMs`?'],
    [
      { webhooks: { alowNetworks: [] } },
      'webhooks has no option `alowNetworks`. Did you mean `allowNetworks`?',
    ],
    [{ renderer: { pyhton: '' } }, 'renderer has no option `pyhton`. Did you mean `python`?'],
    [
      {
        pricing: {
          creditsPerSecond: { ...DEFAULT_PRICING.creditsPerSecond, hihg: 1 },
        },
      },
      'pricing.creditsPerSecond has no option `hihg`. Did you mean `high`?',
    ],
    [
      { budgets: { perDay: 1 } },
      'budgets has no option `perDay`. It has failuresPerHour, unpaidSecondsPerHour, checkSecondsPerHour, storedBytes, jobsPerSecond.',
    ],
  ];
  for (const [options, message] of wrong)
    t.throws(() => new RenderService({ folder, ...options }), { code: 'invalid_request', message });
  const enqueue = (more: object) => service.enqueue({ ...request, ...more });
  await t.rejects(enqueue({ keyID: 'a' }), {
    message: 'enqueue has no option `keyID`. Did you mean `keyId`?',
  });
  await t.rejects(enqueue({ webhook: { url: '', secert: '' } }), {
    message: /`secert`. Did you mean `secret`/,
  });
  await t.rejects(enqueue({ idempotency: { id: 'a' } }), { message: /`id`. It has key, fingerprint/ });
  const encryption = { algorithm: 'aws:kms', keyID: '' } as never;
  t.throws(() => s3({ bucket: 'renders', encryption }), { message: /`keyID`. Did you mean `keyId`/ });
});

t.test('what is no object is no options', async (t) => {
  for (const given of ['ada', null, ['ada'], 5] as never[])
    await t.rejects(service.get('1', given), {
      code: 'invalid_request',
      message: 'get takes its options as an object: { owner }.',
    });
});

t.test('an instance of a class, and what a provider of credentials tells, may have more', async (t) => {
  new Deliveries(dataFolder);
  const provided = { accessKeyId: 'key', secretAccessKey: 'secret', accountId: '1', $source: {} };
  t.ok(s3({ bucket: 'renders', credentials: provided }));
});
