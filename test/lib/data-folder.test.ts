import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { backUp, DataFolder, restore } from '../../lib/index.ts';
import { jobRecord } from '../../lib/testing/job-record.ts';

const VIDEO = 'job1/video.mp4';

/** A folder with a job and its video, as it was when artifacts lay in `assets`. */
async function formerFolder(t: Test): Promise<string> {
  const root = t.testdir({ 'a-video': 'the video' });
  const path = join(root, 'data');
  const folder = new DataFolder(path);
  await folder.start();
  const { sizeBytes } = await folder.assets.put(VIDEO, { path: join(root, 'a-video') });
  const artifacts = [{ name: 'video.mp4' as const, assetKey: VIDEO, sizeBytes }];
  const job = jobRecord('job1', { phase: 'completed', artifacts });
  await folder.storage.transaction((tx) => folder.storage.insertJob(tx, job, 'source'));
  await folder.stop();
  renameSync(join(path, 'artifacts'), join(path, 'assets'));
  return path;
}

async function opened(t: Test, path: string): Promise<DataFolder> {
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  return folder;
}

t.test('artifacts of a folder made by an early version are moved to where they are now', async (t) => {
  const path = await formerFolder(t);
  const folder = await opened(t, path);
  t.equal(readFileSync(folder.assets.path(VIDEO), 'utf8'), 'the video');
  t.ok(folder.assets.path(VIDEO).startsWith(join(path, 'artifacts')));
  t.notOk(existsSync(join(path, 'assets', 'job1')));
});

t.test('a backup made by an early version restores to the folder as it is now', async (t) => {
  const path = await formerFolder(t);
  const folder = new DataFolder(path);
  await folder.start();
  await backUp(folder, `${path}.backup`);
  await folder.stop();
  renameSync(join(`${path}.backup`, 'artifacts'), join(`${path}.backup`, 'assets'));
  const manifest = join(`${path}.backup`, 'backup.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('artifacts/', 'assets/'));
  await restore(`${path}.backup`, `${path}.restored`);
  const restored = await opened(t, `${path}.restored`);
  t.equal(readFileSync(restored.assets.path(VIDEO), 'utf8'), 'the video');
});

t.test('a folder `assets` of something else stays where it is', async (t) => {
  const path = t.testdir({
    data: { assets: { 'logo.png': 'a picture', job1: { 'video.mp4': 'an intro' } } },
  });
  await opened(t, join(path, 'data'));
  t.same(readdirSync(join(path, 'data', 'assets')), ['job1', 'logo.png']);
  t.same(readdirSync(join(path, 'data', 'artifacts')), []);
});

t.test('a folder `assets` beside artifacts stays where it is', async (t) => {
  const path = await formerFolder(t);
  mkdirSync(join(path, 'artifacts'));
  await opened(t, path);
  t.same(readdirSync(join(path, 'assets')), ['job1']);
});
