import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { ClaimedAssets } from '../../../lib/cluster/claimed-assets.ts';
import { DataFolder, FileAssetStore, type RenderService } from '../../../lib/index.ts';
import { continueInstallation, separateInstallation } from '../../../lib/operations.ts';
import type { InstallationRecord, InstallationRecords } from '../../../lib/storage/installation-records.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SCENE = { owner: 'ada', className: 'Hello', code: 'class Hello(Scene):\n  pass\n' };
const COPY = {
  code: 'conflict',
  message: /This data is a copy.*installation continue.*installation separate/,
};
const OLDER = { code: 'conflict', message: /This data is older than the artifacts/ };
const ANOTHERS = { code: 'conflict', message: /belongs to the installation inst_\w+, not to this one/ };

/** Data in memory, at a place. */
class Records implements InstallationRecords {
  place: string;
  record: InstallationRecord | undefined;

  constructor(place: string, record?: InstallationRecord) {
    this.place = place;
    this.record = record;
  }

  async here(): Promise<string> {
    return this.place;
  }

  async read(): Promise<InstallationRecord | undefined> {
    return this.record;
  }

  async change(change: (before: InstallationRecord | undefined) => InstallationRecord) {
    this.record = change(this.record);
    return this.record;
  }
}

function world(t: Test) {
  const clock = new FakeClock('2026-11-27T00:00:00Z');
  const folder = testFolder(t);
  const store = new FileAssetStore(folder);
  const claimed = (records: Records) => new ClaimedAssets(store, { records, clock, random: systemRandom });
  const original = new Records('a');
  return { clock, folder, store, claimed, original };
}

t.test('a copy at another place stores nothing and deletes nothing', async (t) => {
  const { folder, store, claimed, original } = world(t);
  const path = join(folder, 'file');
  await writeFile(path, 'x');
  await claimed(original).claim();
  await claimed(original).put('job-1/video.mp4', { path, contentType: 'video/mp4' });
  const copy = claimed(new Records('b', original.record));
  await t.rejects(copy.claim(), COPY);
  await t.rejects(copy.delete('job-1/video.mp4'), COPY);
  await t.rejects(copy.put('job-1/video.mp4', { path, contentType: 'video/mp4' }), COPY);
  const opened = await copy.open('job-1/video.mp4');
  t.equal(opened?.sizeBytes, 1, 'it reads');
  opened?.stream.destroy();
  await claimed(original).delete('job-1/video.mp4');
  t.equal(await store.open('job-1/video.mp4'), undefined);
});

t.test('a copy at the same place, such as a snapshot, is recognized after two hours', async (t) => {
  const { claimed, original } = world(t);
  const assets = claimed(original);
  await assets.claim();
  const snapshot = new Records('a', original.record);
  await assets.renew();
  await claimed(snapshot).claim();
  t.pass('a replica that takes over may lack the latest stamp');
  await assets.renew();
  await t.rejects(claimed(snapshot).claim(), OLDER);
  await claimed(original).claim();
});

t.test('a running service whose place is taken changes nothing within a minute', async (t) => {
  const { clock, claimed, original, store } = world(t);
  const assets = claimed(original);
  await assets.claim();
  const copy = new Records('b', original.record);
  await continueInstallation({ storage: { installation: copy } as never, assets: store });
  t.equal(copy.record?.installationId, original.record?.installationId);
  await claimed(copy).delete('job-1/video.mp4');
  clock.advance(60_001);
  await t.rejects(assets.delete('job-1/video.mp4'), OLDER);
  await t.rejects(assets.renew(), OLDER);
  await t.rejects(claimed(original).claim(), OLDER, 'nor does it start');
});

t.test('a store of another installation is refused, also by a move', async (t) => {
  const { claimed, original, store } = world(t);
  await claimed(original).claim();
  const other = new Records('b', { installationId: 'inst_other', place: 'b', stamp: 9 });
  await t.rejects(claimed(other).claim(), ANOTHERS);
  const copy = { storage: { installation: other } as never, assets: store };
  await t.rejects(continueInstallation(copy), ANOTHERS);
  await t.rejects(separateInstallation(copy), {
    code: 'conflict',
    message: /belongs to the installation .* of its own/,
  });
  await t.rejects(claimed(new Records('c')).claim(), { code: 'conflict', message: /belongs to the inst/ });
});

t.test('a claim that has disappeared is written again, one that cannot be read is reported', async (t) => {
  const { claimed, folder, original, store } = world(t);
  await claimed(original).claim();
  const claim = await store.readClaim();
  await rm(join(folder, 'scenepress.json'));
  await claimed(original).claim();
  t.equal(await store.readClaim(), claim);
  for (const text of ['', '{}', 'null', '{"installationId":"a","stamp":"1"}']) {
    await store.writeClaim(text);
    await t.rejects(claimed(original).claim(), { code: 'storage_damaged', message: /remove the file/ }, text);
  }
});

t.test('data folders with a common artifact folder', async (t) => {
  const place = testFolder(t);
  const [folder, copy, shared] = ['data', 'copy', 'shared'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  const serviceOf = (folder: string, artifacts = shared) =>
    fakeRenderService({ folder, assets: new FileAssetStore(artifacts) });
  const original = serviceOf(folder);
  await original.start();
  const { jobId } = await original.enqueue(SCENE);
  await original.wait(jobId);
  await original.stop();
  await cp(folder, copy, { recursive: true });

  async function isThere(service: RenderService): Promise<boolean> {
    const { stream, sizeBytes } = await service.openArtifact(jobId, 'video.mp4');
    stream.destroy();
    return sizeBytes > 0;
  }

  t.test('a copied folder does not start, and forgets nothing', async (t) => {
    const service = serviceOf(copy);
    await t.rejects(service.start(), COPY);
    await service.startWithoutWorkers();
    await t.rejects(service.forget(jobId), COPY);
    t.ok(await isThere(service));
    await service.stop();
  });

  t.test('a folder that was renamed or restarted is the same', async (t) => {
    await rename(folder, `${folder}2`);
    const service = serviceOf(`${folder}2`);
    await service.start();
    await service.stop();
    await rename(`${folder}2`, folder);
    t.equal(JSON.parse(await readFile(join(folder, 'installation.json'), 'utf8')).stamp, 1);
  });

  t.test('a separate one reads copies of the artifacts and leaves those of the original', async (t) => {
    const own = join(place, 'own');
    const dataFolder = new DataFolder(copy);
    const [assets, from] = [new FileAssetStore(own), new FileAssetStore(shared)];
    await Promise.all([dataFolder.start(), assets.start()]);
    const { copied } = await separateInstallation({ storage: dataFolder.storage, assets }, { from });
    t.equal(copied, 2);
    await dataFolder.stop();
    const service = serviceOf(copy, own);
    await service.start();
    t.ok(await isThere(service));
    await service.forget(jobId);
    await service.stop();
    const first = serviceOf(folder);
    await first.start();
    t.ok(await isThere(first));
    await first.stop();
    await t.rejects(serviceOf(copy).start(), ANOTHERS);
  });

  t.test('artifacts in the data folder itself are copied with it', async (t) => {
    const inside = join(place, 'inside');
    const service = fakeRenderService({ folder: inside });
    await service.start();
    await service.stop();
    await cp(inside, `${inside}2`, { recursive: true });
    const second = fakeRenderService({ folder: `${inside}2` });
    await t.resolves(second.start());
    await second.stop();
  });
});
