import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import type { AssetStore } from '../../../../lib/index.ts';
import { discardArtifacts, sizeOfFiles, storeArtifacts } from '../../../../lib/jobs/end/store-artifacts.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const NAMES = ['video.mp4', 'thumbnail.jpg', 'captions.vtt'] as const;

function output(t: Test) {
  const folder = join(testFolder(t), 'output');
  mkdirSync(folder);
  const files = NAMES.map((name) => ({ name, path: join(folder, name) }));
  for (const { name, path } of files) writeFileSync(path, name);
  return { files, folder };
}

function newStore({
  put = async () => {},
  remove = async () => {},
}: Record<string, () => Promise<void>> = {}) {
  const calls: unknown[] = [];
  const warnings: object[] = [];
  const assets = {
    async put(assetKey: string, file: object) {
      calls.push(['put', assetKey, file]);
      if (calls.length === 2) await put();
      return { sizeBytes: calls.length };
    },
    async delete(assetKey: string) {
      calls.push(['delete', assetKey]);
      await remove();
    },
  } as unknown as AssetStore;
  const logger = { ...silentLogger, warn: (details: object) => void warnings.push(details) };
  return { stores: { assets, logger }, calls, warnings };
}

const claim = { jobId: 'j', token: 2 };

t.test('the files of a render are stored with their types, and their folder is removed', async (t) => {
  const { files, folder } = output(t);
  const { stores, calls } = newStore();
  t.same(await storeArtifacts(claim, { files, folder }, stores), [
    { name: 'video.mp4', assetKey: 'j-2/video.mp4', sizeBytes: 1 },
    { name: 'thumbnail.jpg', assetKey: 'j-2/thumbnail.jpg', sizeBytes: 2 },
    { name: 'captions.vtt', assetKey: 'j-2/captions.vtt', sizeBytes: 3 },
  ]);
  t.match(calls[0], ['put', 'j-2/video.mp4', { path: files[0]?.path, contentType: 'video/mp4' }]);
  t.notOk(existsSync(folder));
});

t.test('when one cannot be stored, it and those before it are removed again', async (t) => {
  const { files, folder } = output(t);
  const { stores, calls, warnings } = newStore({
    put: async () => {
      throw new Error('refused');
    },
    remove: async () => {
      throw new Error('refused, too');
    },
  });
  await t.rejects(storeArtifacts(claim, { files, folder }, stores), { message: 'refused' });
  t.same(calls.slice(2), [
    ['delete', 'j-2/video.mp4'],
    ['delete', 'j-2/thumbnail.jpg'],
  ]);
  t.match(warnings, [
    { err: { message: 'refused, too' }, assetKey: 'j-2/video.mp4' },
    { assetKey: 'j-2/thumbnail.jpg' },
  ]);
  t.notOk(existsSync(folder));
});

t.test('orphans are removed one by one, also after one that cannot be', async (t) => {
  const { stores, calls } = newStore({
    remove: async () => {
      throw new Error('refused');
    },
  });
  await discardArtifacts(['a', 'b'], stores);
  t.same(calls, [
    ['delete', 'a'],
    ['delete', 'b'],
  ]);
});

t.test('the size of files is their sum', async (t) => {
  t.equal(await sizeOfFiles(output(t).files), NAMES.join('').length);
  t.equal(await sizeOfFiles([]), 0);
});

t.test('a folder that cannot be removed is reported', async (t) => {
  const { files, folder } = output(t);
  const { stores, warnings } = newStore();
  const noFolder = join(folder, '../a file');
  writeFileSync(noFolder, '');
  t.equal((await storeArtifacts(claim, { files, folder: noFolder }, stores)).length, 3);
  t.match(warnings, [{ jobId: 'j' }]);
});
