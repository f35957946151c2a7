import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type Disk, realDisk } from '../../../lib/files/disk.ts';
import {
  Accounts,
  ApiKeys,
  DataFolder,
  type DataFolderOptions,
  Deliveries,
  RenderService,
  StoredLedger,
} from '../../../lib/index.ts';
import type { DraftRecord, SceneRecord } from '../../../lib/model/scene.ts';
import type { ShareRecord } from '../../../lib/model/share.ts';
import { backUp, restore } from '../../../lib/operations.ts';
import { abortAtEachCheck } from '../../fixtures/aborts-at-check.ts';
import { assignmentRecord, classLinkRecord } from '../../fixtures/classroom-records.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { deepTest, isDeep } from '../../fixtures/depth.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { noMounts, whereMounted } from '../../fixtures/mounts.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

/** A running folder with jobs, artifacts, a key and a ledger. */
async function openFolder(t: Test, options: DataFolderOptions = {}) {
  const root = testFolder(t, { 'a-video': 'the video' });
  const folder = new DataFolder(join(root, 'data'), options);
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  for (let number = 1; number <= 20; number++) {
    const jobId = `job${number}`;
    const assetKey = `${jobId}/video.mp4`;
    const { sizeBytes } = await folder.assets.put(assetKey, { path: join(root, 'a-video') });
    const job = jobRecord(jobId, {
      phase: 'completed',
      artifacts: [{ name: 'video.mp4', assetKey, sizeBytes }],
    });
    const plays = [{ line: number, shows: 'wait', startSeconds: 0, seconds: 1 }];
    await storage.transaction(async (tx) => {
      await storage.insertJob(tx, job, `source ${number} ${'x'.repeat(500)}`);
      await storage.putTrace(tx, `job${number}`, { plays, output: '' });
    });
  }
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  await ledger.grantPaid('a', 7);
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys() });
  const { key } = await keys.mint({ accountId: 'a', name: 'n' });
  return { root, folder, key, backup: join(root, 'backup'), restored: join(root, 'restored') };
}

function shareRecord(): ShareRecord {
  return {
    ...{
      shareId: 's1',
      owner: 'a',
      token: 'a token',
      tokenHash: 'its hash',
      jobIds: ['job7', 'job2'],
      views: 0,
    },
    ...{ title: 'Shared', description: null, poster: { play: 1 }, visibility: 'public', allowDownload: 0 },
    ...{ createdAtMs: 1, expiresAtMs: 2, revokedAtMs: null },
  };
}

function sceneRecord(): SceneRecord {
  return {
    ...{ sceneId: 'c1', owner: 'a', name: 'Lesson', revision: 1, draftBytes: 4 },
    ...{ createdAtMs: 1, changedAtMs: 1 },
  };
}

function draftRecord(): DraftRecord {
  return {
    ...{ sceneId: 'c1', revision: 1, savedAtMs: 1, sizeBytes: 4 },
    ...{ className: 'A', code: 'code', settings: { seed: 3 } },
  };
}

t.test('a backup of a running folder restores the same data', async (t) => {
  const { folder, key, backup, restored } = await openFolder(t);
  const { shares, scenes, assignments, classLinks } = folder.storage;
  const [assignment, classLink] = [assignmentRecord('a1'), classLinkRecord('c1')];
  const seat = { classLinkId: 'c1', accountId: 'b', takenAtMs: 1, joinedAtMs: 2 };
  const [shared, scene, draft] = [shareRecord(), sceneRecord(), draftRecord()];
  await folder.storage.transaction(async (tx) => {
    await shares.insert(tx, shared);
    await scenes.insert(tx, scene, draft);
    await assignments.insert(tx, assignment);
    await assignments.addCopy(tx, { assignmentId: 'a1', owner: 'a', sceneId: scene.sceneId, openedAtMs: 1 });
    await classLinks.insert(tx, classLink);
    await classLinks.putSeat(tx, seat);
  });
  const made = await backUp(folder, backup, { withMasterKey: true });
  t.match(made, { folder: backup, jobs: 20 });
  t.match(await restore(backup, restored), { folder: restored, jobs: 20, files: made.files });

  const copy = new DataFolder(restored);
  await copy.start();
  t.teardown(() => copy.stop());
  const { storage } = folder;
  t.same(await copy.storage.listJobs({}), await storage.listJobs({}));
  for (let number = 1; number <= 20; number++) {
    t.equal(await copy.storage.readSource(`job${number}`), await storage.readSource(`job${number}`));
    t.match((await copy.storage.readTrace(`job${number}`)).plays, [{ line: number }]);
  }
  t.same(await copy.storage.shares.get(shared.shareId), shared);
  t.same(await copy.storage.shares.withToken(shared.tokenHash), shared);
  t.same(await copy.storage.scenes.get(scene.sceneId), scene);
  t.same(await copy.storage.scenes.draft(scene.sceneId), draft);
  t.same(await copy.storage.assignments.get('a1'), assignment);
  t.match(await copy.storage.assignments.copyOf('a1', 'a'), { sceneId: scene.sceneId });
  t.same(await copy.storage.classLinks.get('c1'), classLink);
  t.same(await copy.storage.classLinks.seats('c1'), [seat]);
  const opened = await copy.assets.open('job7/video.mp4');
  t.equal(opened && (await text(opened.stream)), 'the video');
  t.match(await new StoredLedger({ store: copy.ledgerStore }).balance('a'), { paid: 7 });
  const keys = new ApiKeys({ store: copy.keyStore, masterKeys: await copy.masterKeys() });
  t.match(await keys.verify(key), { accountId: 'a' });
  t.equal(statSync(restored).mode & 0o777, 0o700);
});

t.test('an aborted backup leaves nothing', async (t) => {
  const { folder, backup } = await openFolder(t);
  const giveUp = new AbortController();
  const { path } = folder.assets;
  folder.assets.path = (assetKey) => {
    giveUp.abort();
    return path.call(folder.assets, assetKey);
  };
  await t.rejects(backUp(folder, backup, { signal: giveUp.signal }), { name: 'AbortError' });
  t.same(
    readdirSync(dirname(backup)).filter((name) => name.startsWith(basename(backup))),
    [],
  );
});

t.test('an aborted restore leaves nothing, and can be repeated', async (t) => {
  const { folder, backup, restored, root } = await openFolder(t);
  await backUp(folder, backup, { withMasterKey: true });
  const left = () => readdirSync(root).filter((name) => name.startsWith(basename(restored)));
  const { checks, result } = await abortAtEachCheck(
    (signal) => restore(backup, restored, { signal }),
    (count) => t.same(left(), [], `at check ${count}`),
    isDeep ? 1 : 20,
  );
  t.ok(checks > 60, 'it can be aborted at each file');
  t.match(result, { jobs: 20 });
  t.same(left(), [basename(restored)]);
});

deepTest(t, "a backup contains the studio's material with its symbolic links", async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  mkdirSync(join(folder.path, 'fonts/deep'), { recursive: true });
  mkdirSync(join(folder.path, 'assets'));
  writeFileSync(join(folder.path, 'fonts/deep/a.ttf'), 'a font', { mode: 0o444 });
  symlinkSync('../fonts/deep', join(folder.path, 'assets/link'));
  symlinkSync('/nowhere', join(folder.path, 'python'));
  await backUp(folder, backup);
  t.ok(readFileSync(join(backup, 'backup.json'), 'utf8').includes('"fonts/deep/a.ttf"'));
  await restore(backup, restored);
  t.equal(readFileSync(join(restored, 'assets/link/a.ttf'), 'utf8'), 'a font');
  t.equal(readlinkSync(join(restored, 'assets/link')), '../fonts/deep');
});

t.test('a backup is consistent while transactions commit', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  const { storage } = folder;
  let busy = true;
  const work = (async () => {
    for (let number = 0; busy; number++) {
      // A backup contains both or neither.
      await storage.transaction(async (tx) => {
        await storage.insertJob(tx, jobRecord(`left${number}`), 'x');
        await storage.insertJob(tx, jobRecord(`right${number}`), 'x');
      });
    }
  })();
  await backUp(folder, backup);
  busy = false;
  await work;
  await restore(backup, restored);
  const copy = new DataFolder(restored);
  await copy.start();
  t.teardown(() => copy.stop());
  const ids = new Set((await copy.storage.listJobs({ limit: 100_000 })).map(({ jobId }) => jobId));
  for (const id of ids) if (id.startsWith('left')) t.ok(ids.has(id.replace('left', 'right')));
  t.ok(ids.size >= 20);
});

deepTest(
  t,
  'a backup contains the keys and accounts of its jobs, including ones created during the backup',
  async (t) => {
    let whenCopying: (() => Promise<void>) | undefined;
    const disk: Disk = {
      ...realDisk,
      async open(path, how) {
        const work = path.includes('backup.part') ? whenCopying : undefined;
        if (work) whenCopying = undefined;
        await work?.();
        return realDisk.open(path, how);
      },
    };
    const { folder, backup, restored } = await openFolder(t, { disk });
    const { storage } = folder;
    const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys() });
    const accounts = new Accounts({ store: folder.accountStore });
    const makeJob = async (jobId: string) => {
      const { accountId: owner } = await accounts.create(`${jobId}@example.org`);
      const { keyId } = (await keys.mint({ accountId: owner, name: 'n' })).record;
      await storage.transaction((tx) => storage.insertJob(tx, jobRecord(jobId, { owner, keyId }), 'x'));
    };
    await makeJob('before');
    whenCopying = () => makeJob('meanwhile');
    await backUp(folder, backup);
    t.equal(whenCopying, undefined);
    await restore(backup, restored);
    const copy = new DataFolder(restored);
    await copy.start();
    t.teardown(() => copy.stop());
    const jobs = (await copy.storage.listJobs({ limit: 1000 })).filter(({ keyId }) => keyId !== null);
    t.ok(jobs.length > 0);
    for (const { owner, keyId } of jobs) {
      t.equal((await copy.keyStore.getKey(keyId as string))?.accountId, owner);
      t.match(await copy.accountStore.getAccount(owner), { accountId: owner });
    }
  },
);

t.test('a backup contains the documents and verifies them', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  await folder.settings.changeSettings((settings) => ({ ...settings, queuePausedAtMs: 5 }));
  await backUp(folder, backup);
  await restore(backup, restored);
  for (const name of ['accounts.json', 'keys.json', 'settings.json']) {
    t.equal(readFileSync(join(restored, name), 'utf8'), readFileSync(join(folder.path, name), 'utf8'), name);
    t.equal(statSync(join(restored, name)).mode & 0o777, 0o600);
  }
  writeFileSync(
    join(backup, 'keys.json'),
    readFileSync(join(backup, 'keys.json'), 'utf8').replace('"n"', '"m"'),
  );
  await t.rejects(restore(backup, `${restored}2`), {
    code: 'storage_damaged',
    message: /keys\.json is altered/,
  });
});

deepTest(t, 'artifacts removed during a backup are left out', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  const pathOf = folder.assets.path.bind(folder.assets);
  let asked = 0;
  folder.assets.path = (assetKey) => {
    const path = pathOf(assetKey);
    if (assetKey.startsWith('job5/') && ++asked === 2) rmSync(path);
    return path;
  };
  await backUp(folder, backup);
  t.equal(asked, 2);
  t.match(await restore(backup, restored), { jobs: 20 });
  t.notOk(existsSync(join(restored, 'artifacts/job5/video.mp4')));
  t.ok(existsSync(join(restored, 'artifacts/job6/video.mp4')));
});

deepTest(t, 'an unreadable file fails a backup and is named', async (t) => {
  const { folder, backup } = await openFolder(t);
  const video = folder.assets.path('job7/video.mp4');
  for (const path of [video, join(folder.path, 'fonts')]) {
    rmSync(path, { force: true });
    symlinkSync(path, path); // A link to itself: it exists but cannot be read.
    await t.rejects(backUp(folder, backup), { code: 'storage_failed', message: path });
    t.notOk(existsSync(backup));
    rmSync(path);
  }
  t.match(await backUp(folder, backup), { jobs: 20 });
});

deepTest(t, 'a damaged page of the database fails a backup', async (t) => {
  const { folder, backup } = await openFolder(t);
  // Nothing in a backup reads the timelines.
  const { database } = folder;
  const [table] = await database.all<{ rootpage: number }>(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'timelines'",
  );
  const [{ page_size: pageBytes } = { page_size: 0 }] = await database.all<{ page_size: number }>(
    'PRAGMA page_size',
  );
  await folder.stop();
  const path = join(folder.path, 'database.sqlite');
  const bytes = readFileSync(path);
  bytes.fill(0xff, ((table?.rootpage ?? 0) - 1) * pageBytes, (table?.rootpage ?? 0) * pageBytes);
  writeFileSync(path, bytes);
  await folder.start();
  await t.rejects(backUp(folder, backup), {
    code: 'storage_damaged',
    message: /^The data folder .*data is damaged: .* No backup was made\./s,
  });
  t.same([existsSync(backup), existsSync(`${backup}.part`)], [false, false]);
});

deepTest(t, 'files and folders are flushed before a copy gets its final name', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  mkdirSync(join(folder.path, 'fonts/serif'), { recursive: true });
  for (const [target, copy] of [
    [backup, () => backUp(folder, backup)],
    [restored, () => restore(backup, restored)],
  ] as const) {
    const synced: string[] = [];
    const { syncFolder } = realDisk;
    realDisk.syncFolder = async (path) => {
      synced.push(path);
      await syncFolder.call(realDisk, path);
    };
    t.teardown(() => Object.assign(realDisk, { syncFolder }));
    await copy();
    realDisk.syncFolder = syncFolder;
    for (const part of ['', '/artifacts', '/artifacts/job7', '/fonts', '/fonts/serif'])
      t.ok(synced.includes(`${target}.part${part}`), `${part} of ${target}`);
    t.equal(synced.at(-1), dirname(target));
  }
});

deepTest(
  t,
  'a backup leaves out the master key by default, and a start without it explains what to do',
  async (t) => {
    const { folder, backup, restored } = await openFolder(t);
    await backUp(folder, backup);
    t.notOk(existsSync(join(backup, 'master.key')));
    await restore(backup, restored);
    await t.rejects(new DataFolder(restored).masterKeys(), { code: 'master_key', message: /Put it back/ });
  },
);

deepTest(t, 'a restore without the master key reports which secrets need it', async (t) => {
  const { folder, key, backup, restored } = await openFolder(t);
  const sealed = jobRecord('with-a-secret', { webhookSecretSealed: 'sealed' });
  await folder.storage.transaction((tx) => folder.storage.insertJob(tx, sealed, 'source'));
  const expected = { keyPrefixes: [key.slice(0, 16)], jobs: 1 };
  t.match(await backUp(folder, backup), { sealedSecrets: expected });
  t.match(await restore(backup, restored), { masterKey: 'missing', sealedSecrets: expected });
});

deepTest(
  t,
  'a restore accepts a master key that decrypts every secret, and stores it if requested',
  async (t) => {
    const { root, folder, backup, restored } = await openFolder(t);
    await backUp(folder, backup);
    const masterKey = readFileSync(join(folder.path, 'master.key'), 'utf8');
    t.match(await restore(backup, join(root, 'configured'), { masterKey }), { masterKey: 'given' });
    t.notOk(existsSync(join(root, 'configured/master.key')));
    const stored = await restore(backup, restored, { masterKey, storeMasterKey: true });
    t.match(stored, { masterKey: 'in the folder' });
    t.equal(readFileSync(join(restored, 'master.key'), 'utf8'), masterKey);
    t.equal(statSync(join(restored, 'master.key')).mode & 0o777, 0o600);
    await t.resolves(new DataFolder(restored).masterKeys());
  },
);

t.test('a restore rejects a wrong master key and leaves nothing', async (t) => {
  const { root, folder, backup, restored } = await openFolder(t);
  await backUp(folder, backup);
  const wrong = { code: 'master_key', message: /not the one.*Nothing was restored/s };
  await t.rejects(restore(backup, restored, { masterKey: 'ab'.repeat(32), storeMasterKey: true }), wrong);
  await t.rejects(restore(backup, restored, { masterKey: 'short' }), { code: 'master_key' });
  t.notOk(existsSync(restored));

  // The right key, but one secret was encrypted with another.
  const foreign = jobRecord('foreign', { webhookSecretSealed: 'sealed with another' });
  await folder.storage.transaction((tx) => folder.storage.insertJob(tx, foreign, 'source'));
  const mixed = join(root, 'mixed');
  await backUp(folder, mixed);
  const masterKey = readFileSync(join(folder.path, 'master.key'), 'utf8');
  await t.rejects(restore(mixed, restored, { masterKey }), {
    ...wrong,
    message: /it decrypts 1 of 2 secrets/,
  });
  t.notOk(existsSync(restored));
  t.notOk(existsSync(`${restored}.part`));
});

deepTest(t, 'a restored folder without secrets needs no master key', async (t) => {
  const root = testFolder(t);
  const folder = new DataFolder(join(root, 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  await folder.masterKeys();
  await backUp(folder, join(root, 'backup'));
  t.match(await restore(join(root, 'backup'), join(root, 'restored')), { masterKey: 'none' });
  await t.resolves(new DataFolder(join(root, 'restored')).masterKeys());
});

deepTest(t, 'neither a backup nor a restore overwrites anything', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  await backUp(folder, backup);
  await t.rejects(backUp(folder, backup), { code: 'conflict' });
  mkdirSync(restored);
  await restore(backup, restored);
  await t.rejects(restore(backup, restored), { code: 'conflict' });
});

t.test(
  'a restore to an unusable target explains why and leaves nothing',
  {
    skip: noMounts(),
  },
  async (t) => {
    const { root, folder, backup, restored } = await openFolder(t);
    await backUp(folder, backup);
    mkdirSync(restored);
    const library = new URL('../../../lib/operations.ts', import.meta.url).href;
    const source = `
    import { readdirSync } from 'node:fs';
    const { restore } = await import('${library}');
    const { code, message } = await restore(process.env.BACKUP, process.env.TARGET).catch((error) => error);
    console.log(JSON.stringify({ code, message, names: readdirSync(process.env.ROOT) }));
  `;
    for (const [how, target, message] of [
      ['rw', restored, /is a mount point.*Use a folder in it/],
      ['ro', join(restored, 'data'), /can't be created and renamed .*\(EROFS\).*Use another folder/i],
    ] as const) {
      const env = { BACKUP: backup, TARGET: target, ROOT: root };
      const { names, ...error } = JSON.parse(whereMounted(how, restored, source, env));
      t.match(error, { code: 'storage_failed', message });
      t.notOk(names.includes('restored.part'));
    }
  },
);

t.test('a damaged or incomplete backup is rejected before anything is written', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  await backUp(folder, backup);
  const video = join(backup, 'artifacts/job3/video.mp4');
  const good = readFileSync(video);
  writeFileSync(video, 'the vidEo');
  await t.rejects(restore(backup, restored), { code: 'storage_damaged', message: /job3.*is altered/ });
  rmSync(video);
  await t.rejects(restore(backup, restored), { code: 'storage_damaged', message: /job3.*is missing/ });
  writeFileSync(video, good);
  rmSync(join(backup, 'backup.json'));
  await t.rejects(restore(backup, restored), { code: 'not_found', message: /not a complete backup/ });
  t.notOk(existsSync(restored));
});

t.test('a restore refuses files and links that the manifest lacks', async (t) => {
  const { root, folder, backup, restored } = await openFolder(t);
  mkdirSync(join(folder.path, 'fonts'));
  symlinkSync('/usr/share/fonts', join(folder.path, 'fonts/system'));
  await backUp(folder, backup);
  const secret = join(root, 'secret');
  writeFileSync(secret, 'a secret');
  const refused = async (path: string, change: (path: string) => void) => {
    change(join(backup, path));
    await t.rejects(
      restore(backup, restored),
      {
        code: 'storage_damaged',
        message: `contains ${path}, which backup.json doesn't list. Nothing was restored.`,
      },
      path,
    );
    rmSync(join(backup, path));
    t.notOk(existsSync(restored) || existsSync(`${restored}.part`));
  };
  await refused('database.sqlite-wal', (path) => writeFileSync(path, 'changes'));
  await refused('artifacts/job3/notes.txt', (path) => symlinkSync(secret, path));
  await refused('assets', (path) => symlinkSync('.', path));
  await refused('master.key', (path) => linkSync(secret, path));
  await refused('artifacts/pipe', (path) => execFileSync('mkfifo', [path]));
  await refused('fonts/system', (path) => {
    rmSync(path);
    symlinkSync(root, path);
  });
  symlinkSync('/usr/share/fonts', join(backup, 'fonts/system'));
  rmSync(join(backup, 'accounts.json'));
  symlinkSync(secret, join(backup, 'accounts.json'));
  await t.rejects(restore(backup, restored), { code: 'storage_damaged', message: 'contains accounts.json' });
});

deepTest(t, 'no link into or above a data folder is backed up or restored', async (t) => {
  const { root, folder, backup, restored } = await openFolder(t);
  mkdirSync(join(folder.path, 'fonts/deep'), { recursive: true });
  mkdirSync(join(folder.path, 'assets'));
  mkdirSync(join(root, 'elsewhere'));
  symlinkSync(join(folder.path, 'artifacts'), join(root, 'elsewhere/alias'));
  symlinkSync(join(root, 'elsewhere'), join(folder.path, 'fonts/elsewhere'));
  const links = [
    ['assets/a', '../master.key'],
    ['assets/a', '..'],
    ['assets/a', '../../..'],
    ['assets/a', join(folder.path, 'work')],
    ['assets/a', '/'],
    ['assets/a', '../fonts/elsewhere/alias/job1'],
    ['python', '.'],
    ['texmf', 'artifacts'],
  ] as const;
  for (const [path, to] of links) {
    symlinkSync(to, join(folder.path, path));
    const message = `${join(folder.path, path)} is a link to other data of the folder, or to a folder above it`;
    await t.rejects(backUp(folder, backup), { code: 'storage_failed', message }, `${path} to ${to}`);
    rmSync(join(folder.path, path));
    t.notOk(existsSync(backup));
  }

  await backUp(folder, backup);
  const manifest = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
  for (const [path, to] of [
    ...links.filter(([, to]) => !to.startsWith(folder.path) && !to.includes('alias')),
    ['assets/a', join(restored, 'work')] as const,
    ['artifacts/job1/notes.txt', '../../fonts/deep'] as const,
  ]) {
    rmSync(join(backup, path), { force: true });
    symlinkSync(to, join(backup, path));
    const forged = { ...manifest, links: { ...manifest.links, [path]: to } };
    writeFileSync(join(backup, 'backup.json'), JSON.stringify(forged));
    const message = new RegExp(`${path} is a link to other data .* Nothing was restored`);
    await t.rejects(restore(backup, restored), { code: 'storage_damaged', message }, `${path} to ${to}`);
    rmSync(join(backup, path));
    t.notOk(existsSync(restored) || existsSync(`${restored}.part`));
  }
});

deepTest(t, 'a backup is restored by a link to it', async (t) => {
  const { root, folder, backup, restored } = await openFolder(t);
  await backUp(folder, backup);
  symlinkSync('backup', join(root, 'latest'));
  t.match(await restore(join(root, 'latest'), restored), { jobs: 20 });
});

deepTest(t, 'a restore reports due deliveries, and drops them if requested', async (t) => {
  const { root, folder, backup, restored } = await openFolder(t);
  const { storage } = folder;
  const sent = deliveryRecord('d2', { jobId: 'job2', dueAtMs: null, deliveredAtMs: 1 });
  await storage.transaction(async (tx) => {
    await storage.deliveries.insert(tx, deliveryRecord('d1', { jobId: 'job1' }), '{}');
    await storage.deliveries.insert(tx, sent, '{}');
  });
  t.match(await backUp(folder, backup), { dueDeliveries: 1 });
  t.match(await restore(backup, restored), { dueDeliveries: 1 });
  const dropped = join(root, 'dropped');
  t.match(await restore(backup, dropped, { dropDeliveries: true }), { dueDeliveries: 0 });
  for (const [path, status] of [
    [restored, 'waiting'],
    [dropped, 'failed'],
  ] as const) {
    const copy = new DataFolder(path);
    await copy.start();
    t.teardown(() => copy.stop());
    const deliveries = new Deliveries({ storage: copy.storage });
    t.match(await deliveries.get('d1'), { status, body: '{}' });
    t.match(await deliveries.get('d2'), { status: 'delivered' });
  }
});

deepTest(t, 'a folder with a forgotten job can be backed up and restored', async (t) => {
  const { folder, backup, restored } = await openFolder(t);
  const service = new RenderService({ dataFolder: folder });
  await service.startWithoutWorkers();
  await service.forget('job1');
  await backUp(folder, backup);
  t.match(await restore(backup, restored), { jobs: 20 });
  await service.stop();
});
