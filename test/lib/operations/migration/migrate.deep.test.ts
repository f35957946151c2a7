import { existsSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Accounts, DataFolder, FileAssetStore, StoredLedger } from '../../../../lib/index.ts';
import { contentKeyOf } from '../../../../lib/model/owner-file.ts';
import { migrateToFolder, migrateToPostgres } from '../../../../lib/operations.ts';
import type { PostgresStorage } from '../../../../lib/postgres/index.ts';
import { GRANTS } from '../../../../lib/sql/row-formats.ts';
import type { SqlDatabase } from '../../../../lib/storage/sql.ts';
import { fakeRenderService } from '../../../../lib/testing/index.ts';
import { abortAtEachCheck } from '../../../fixtures/aborts-at-check.ts';
import { openPostgres, run } from '../../../fixtures/postgres/database.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const masterKey = 'a5'.repeat(32);
const target = 'there';

/** A started folder with an account, and a job that has artifacts and was paid for. */
async function usedFolder(t: Test): Promise<DataFolder> {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  await folder.masterKeys({ given: masterKey });
  const { accountId } = await new Accounts({ store: folder.accountStore }).create('ada@example.org');
  const service = fakeRenderService({
    dataFolder: folder,
    ledger: new StoredLedger({ store: folder.ledgerStore }),
    renderMs: 1,
  });
  await service.start();
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x' });
  await service.wait(jobId);
  await service.stop();
  await folder.start();
  return folder;
}

/** A started storage with the contents of such a folder, and its artifacts. */
async function usedStorage(
  t: Test,
): Promise<{ storage: PostgresStorage; assets: FileAssetStore; schema: string }> {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  const assets = new FileAssetStore(await temporaryFolder(t));
  await migrateToPostgres(folder, storage, { assets, masterKey, target });
  return { storage, assets, schema: storage.schema };
}

/** Adds credits to the books that were never granted. */
function falsify(database: SqlDatabase): Promise<number> {
  return database.transaction(async (tx) => {
    const found = await tx.get<{ owner: string }>('SELECT owner FROM ledger_accounts LIMIT 1');
    const grant = {
      owner: found?.owner ?? '',
      grantId: 'never',
      source: 'paid',
      period: null,
      remainingCredits: 7,
    };
    return tx.run(GRANTS.insert, ...GRANTS.row(grant as Parameters<typeof GRANTS.row>[0]));
  });
}

t.test('an installation whose books are not in order is not moved', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  await falsify(folder.database);
  const wrong = { code: 'storage_damaged', message: /The books are not in order, so .* not moved:\n {2}\S/ };
  await t.rejects(migrateToPostgres(folder, storage, { masterKey, target }), wrong);
  t.notOk(existsSync(join(folder.path, 'moved')));
  t.same(await storage.listJobs({}), []);
});

t.test('a database whose books are not in order is not moved', async (t) => {
  const { storage, assets } = await usedStorage(t);
  await falsify(storage.database);
  const path = join(await temporaryFolder(t), 'back');
  await t.rejects(migrateToFolder(storage, path, { assets, masterKey, target: path }), {
    code: 'storage_damaged',
    message: /The books are not in order/,
  });
  t.equal(await storage.movedTo(), undefined);
  t.notOk(existsSync(path));
});

t.test('a repeated move to a database compares the contents, not only their number', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  const mark = join(folder.path, 'moved');
  await migrateToPostgres(folder, storage, { masterKey, target });
  await rm(mark);
  await run('UPDATE ledger_accounts SET checksum = checksum + 1', { schema: storage.schema });
  await t.rejects(migrateToPostgres(folder, storage, { masterKey, target }), {
    code: 'conflict',
    message: /The database contains other data/,
  });
  t.notOk(existsSync(mark));
});

const someMissing = {
  code: 'conflict',
  message:
    /^1 of 2 artifacts and files are missing or incomplete, such as \S+\/video\.mp4\. Nothing was moved/,
};

t.test('an installation that lacks artifacts is moved to a database on request only', async (t) => {
  for (const spoil of [rm, (path: string) => truncate(path, 1)]) {
    const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
    const [job] = await folder.storage.listJobs({});
    await spoil(folder.assets.path(job?.artifacts[0]?.assetKey ?? ''));
    const assets = new FileAssetStore(await temporaryFolder(t));
    const options = { assets, masterKey, target };
    await t.rejects(migrateToPostgres(folder, storage, options), someMissing);
    t.same(await storage.listJobs({}), []);
    t.notOk(existsSync(join(folder.path, 'moved')));
    const moved = await migrateToPostgres(folder, storage, { ...options, allowMissing: true });
    t.same(moved.artifacts, { copied: 0, missing: 1 }, 'the other one was copied before');
  }
});

t.test('a database whose artifacts are not where they should be is moved on request only', async (t) => {
  const { storage, assets } = await usedStorage(t);
  const elsewhere = new FileAssetStore(await temporaryFolder(t));
  const path = join(await temporaryFolder(t), 'back');
  const options = { masterKey, target: path };
  await t.rejects(migrateToFolder(storage, path, { ...options, assets: elsewhere }), {
    code: 'conflict',
    message: /^2 of 2 artifacts and files are missing/,
  });
  t.equal(await storage.movedTo(), undefined);
  t.notOk(existsSync(path));
  const [job] = await storage.listJobs({});
  await truncate(assets.path(job?.artifacts[0]?.assetKey ?? ''), 1);
  await t.rejects(migrateToFolder(storage, path, { ...options, assets }), someMissing);
  const moved = await migrateToFolder(storage, path, { ...options, assets, allowMissing: true });
  t.same(moved.artifacts, { copied: 1, missing: 1 });
});

t.test('files, which of them jobs use, and scenes are moved to a database and back', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  const service = fakeRenderService({ dataFolder: folder });
  await service.startWithoutWorkers();
  const put = (name: string, content: string) => service.files.put({ owner: 'eve', name, content });
  const kept = await put('a.txt', 'kept');
  await put('same.txt', 'kept');
  const removed = await put('b.txt', 'removed');
  const request = { owner: 'eve', className: 'A', code: 'x' };
  const { jobId } = await service.enqueue(request);
  const scene = { owner: 'eve', name: 'Intro', code: 'one', className: 'A' };
  const { sceneId } = await service.scenes.create(scene);
  const version = await service.scenes.render(sceneId);
  const saved = await service.scenes.save(sceneId, { revision: 1, code: 'two' });
  await service.files.remove(removed.fileId);
  await service.stop();
  await folder.start();
  const assets = new FileAssetStore(await temporaryFolder(t));
  t.match(await migrateToPostgres(folder, storage, { assets, masterKey, target }), {
    artifacts: { copied: 4, missing: 0 },
  });
  const path = join(await temporaryFolder(t), 'back');
  t.match(await migrateToFolder(storage, path, { assets, masterKey, target: path }), {
    artifacts: { copied: 4, missing: 0 },
  });
  const back = new DataFolder(path);
  const again = fakeRenderService({ dataFolder: back, files: { mostFiles: 10 } });
  await again.startWithoutWorkers();
  t.teardown(() => again.stop());
  t.same(
    (await again.files.list({ owner: 'eve' })).map(({ name }) => name),
    ['a.txt', 'same.txt'],
  );
  t.equal(await text((await again.files.open(kept.fileId)).stream), 'kept');
  t.same(
    (await again.filesOf(jobId)).files.map(({ name }) => name),
    ['a.txt', 'b.txt', 'same.txt'],
  );
  t.same(await again.scenes.get(sceneId), saved);
  t.same(await again.scenes.versions(sceneId), [version]);
  t.match(await again.scenes.draft(sceneId, 1), { code: 'one' });
  const record = await back.storage.files.get(removed.fileId);
  t.equal(readFileSync(back.assets.path(contentKeyOf(record ?? { contentId: '' })), 'utf8'), 'removed');
});

t.test('artifacts stay where they are when no store is given', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  t.equal((await migrateToPostgres(folder, storage, { masterKey, target })).artifacts, null);
  const path = join(await temporaryFolder(t), 'back');
  t.equal((await migrateToFolder(storage, path, { masterKey, target: path })).artifacts, null);
  const back = new DataFolder(path);
  await back.start();
  t.teardown(() => back.stop());
  const [job] = await back.storage.listJobs({});
  t.equal(job?.artifacts.length, 2);
  t.equal(await back.assets.open(job?.artifacts[0]?.assetKey ?? ''), undefined);
});

t.test('nothing is copied to a database with other data', async (t) => {
  const { storage } = await usedStorage(t);
  const place = await temporaryFolder(t);
  const assets = new FileAssetStore(place);
  await t.rejects(migrateToPostgres(await usedFolder(t), storage, { assets, masterKey, target }), {
    code: 'conflict',
    message: /The database contains other data\. Nothing was changed/,
  });
  t.same(await readdir(place), []);
});

t.test('a column that the target does not have is refused', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  await folder.database.transaction((tx) => tx.run('ALTER TABLE acts ADD COLUMN mood TEXT'));
  await t.rejects(migrateToPostgres(folder, storage, { masterKey, target }), {
    code: 'conflict',
    message: /The target has no place for acts\.mood\. Nothing was moved/,
  });
  t.notOk(existsSync(join(folder.path, 'moved')));
});

t.test('a move to a folder that was interrupted before its end is completed by a repetition', async (t) => {
  const { storage, assets } = await usedStorage(t);
  const path = join(await temporaryFolder(t), 'back');
  const move = () => migrateToFolder(storage, path, { assets, masterKey, target: path });
  const first = await move();
  t.equal(await storage.movedTo(), path);
  await rename(path, `${path}.part`);
  t.match(await move(), { rows: first.rows, accounts: 1 }, 'before the folder was renamed');
  t.notOk(existsSync(`${path}.part`));
  t.match(await move(), { rows: first.rows, accounts: 1 }, 'after it was');

  const folder = new DataFolder(path);
  await folder.start();
  await new StoredLedger({ store: folder.ledgerStore }).grantPaid('ada', 1);
  await folder.stop();
  await t.rejects(move(), { code: 'conflict', message: /exists\. Choose a folder/ }, 'it is in use since');
  const elsewhere = `${path}2`;
  await t.rejects(migrateToFolder(storage, elsewhere, { assets, masterKey, target: elsewhere }), {
    code: 'conflict',
    message: /was moved to .*back before/,
  });
});

t.test('an aborted move to a database changes nothing, and can be repeated', async (t) => {
  const [folder, storage] = [await usedFolder(t), await openPostgres(t)];
  const assets = new FileAssetStore(await temporaryFolder(t));
  const { checks, result } = await abortAtEachCheck(
    (signal) => migrateToPostgres(folder, storage, { assets, masterKey, target, signal }),
    () => t.notOk(existsSync(join(folder.path, 'moved'))),
  );
  t.ok(checks > 30);
  t.match(result, { accounts: 1, rows: { jobs: 1 } });
  t.ok(existsSync(join(folder.path, 'moved')));
});

t.test('an aborted move to a folder changes nothing, and can be repeated', async (t) => {
  const { storage, assets } = await usedStorage(t);
  const path = join(await temporaryFolder(t), 'back');
  const { checks, result } = await abortAtEachCheck(
    (signal) => migrateToFolder(storage, path, { assets, masterKey, target: path, signal }),
    async () => {
      t.equal(await storage.movedTo(), undefined);
      t.notOk(existsSync(path));
    },
  );
  t.ok(checks > 30);
  t.match(result, { accounts: 1, rows: { jobs: 1 } });
  t.equal(await storage.movedTo(), path);
  t.notOk(existsSync(`${path}.part`));
});

/** Does something else after the rows were copied, when the artifacts are. */
function during(assets: FileAssetStore, event: () => Promise<unknown>): FileAssetStore {
  const open = assets.open.bind(assets);
  let isOver = false;
  assets.open = async (...args) => {
    if (!isOver) await event();
    isOver = true;
    return open(...args);
  };
  return assets;
}

t.test('a database that is changed while it is moved is not marked as moved', async (t) => {
  const { storage, assets } = await usedStorage(t);
  const path = join(await temporaryFolder(t), 'back');
  const grant = () => new StoredLedger({ store: storage.ledgerStore }).grantPaid('bob', 3);
  const options = { assets: during(assets, grant), masterKey, target: path };
  await t.rejects(migrateToFolder(storage, path, options), {
    code: 'conflict',
    message: /was changed while it was copied\. Stop all servers/,
  });
  t.equal(await storage.movedTo(), undefined);
  t.notOk(existsSync(path));
  t.match(await migrateToFolder(storage, path, options), { accounts: 1 });
  t.ok(existsSync(path));
});

t.test('a machine that starts while the database is moved prevents that', async (t) => {
  const { storage, assets } = await usedStorage(t);
  const path = join(await temporaryFolder(t), 'back');
  const report = () =>
    storage.machineStore.report({
      machineId: 'm1',
      name: 'late',
      roles: ['worker'],
      qualities: null,
      version: '1',
      state: 'starting',
      workers: 1,
      busyWorkers: 0,
      warmWorkers: 0,
      settings: {},
      limits: {},
    });
  const options = { assets: during(assets, report), masterKey, target: path };
  await t.rejects(migrateToFolder(storage, path, options), {
    code: 'conflict',
    message: 'Stop these machines first: late.',
  });
  t.equal(await storage.movedTo(), undefined);
});

t.test('nothing writes between the comparison of a moved database and its mark', async (t) => {
  const { storage, assets, schema } = await usedStorage(t);
  const other = await openPostgres(t, { schema });
  const path = join(await temporaryFolder(t), 'back');
  const { machineStore } = storage;
  const list = machineStore.list.bind(machineStore);
  let looks = 0;
  let seen: Promise<string | undefined> | undefined;
  machineStore.list = async () => {
    looks += 1;
    // The second look is made while all others wait.
    if (looks === 2) seen = other.transaction(async () => {}).then(() => other.movedTo());
    return list();
  };
  await migrateToFolder(storage, path, { assets, masterKey, target: path });
  t.equal(looks, 2);
  t.equal(await seen, path, 'a transaction that begins meanwhile ends after the mark');
});
