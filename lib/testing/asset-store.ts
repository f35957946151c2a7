import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AssetStore, ByteRange } from '../assets/asset-store.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

const KEY = 'job/video.mp4';

/**
 * Behaviors of an {@link AssetStore}. `open` returns a new, empty, started one.
 *
 * ```ts
 * const open = async () => ({ subject: new MyAssets(), close: async () => {} });
 * for (const { title, run } of assetStoreSuite(open)) test(title, run);
 * ```
 */
export function assetStoreSuite(
  open: () => Promise<Opened<AssetStore>>,
  options: SuiteOptions = {},
): Behaviour[] {
  const suite = { name: 'assetStoreSuite', open, options };
  return behaviours(suite, {
    async 'returns a stored asset completely and in ranges'(store) {
      await withFile('0123456789', async (path) => {
        assert.deepEqual(await store.put(KEY, { path, contentType: 'video/mp4' }), { sizeBytes: 10 });
      });
      assert.deepEqual(await read(store), { content: '0123456789', sizeBytes: 10 });
      assert.deepEqual(await read(store, { start: 2, end: 4 }), { content: '234', sizeBytes: 10 });
      assert.deepEqual(await read(store, { start: 9, end: 9 }), { content: '9', sizeBytes: 10 });
    },

    async 'replaces an existing asset'(store) {
      for (const content of ['old', 'newer']) {
        await withFile(content, (path) => store.put(KEY, { path, contentType: 'video/mp4' }));
      }
      assert.deepEqual(await read(store), { content: 'newer', sizeBytes: 5 });
    },

    async 'does not follow symbolic links'(store) {
      await withFile('secret', async (path) => {
        await symlink(path, `${path}.link`);
        await assert.rejects(store.put(KEY, { path: `${path}.link`, contentType: 'video/mp4' }));
      });
      assert.equal(await store.open(KEY), undefined);
    },

    async 'returns undefined for a missing asset, and deletes it without an error'(store) {
      assert.equal(await store.open(KEY), undefined);
      await store.delete(KEY);
      await withFile('x', (path) => store.put(KEY, { path, contentType: 'video/mp4' }));
      await store.delete(KEY);
      assert.equal(await store.open(KEY), undefined);
    },

    async 'keeps a claim, if it can, beside the assets'(store) {
      if (!store.readClaim || !store.writeClaim) return;
      assert.equal(await store.readClaim(), undefined);
      for (const claim of ['first', 'second']) {
        await store.writeClaim(claim);
        assert.equal(await store.readClaim(), claim);
      }
      await withFile('x', (path) => store.put(KEY, { path, contentType: 'video/mp4' }));
      await store.delete(KEY);
      assert.equal(await store.readClaim(), 'second');
    },
  });
}

async function withFile<T>(content: string, work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-suite-'));
  try {
    await writeFile(join(folder, 'file'), content);
    return await work(join(folder, 'file'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function read(store: AssetStore, range?: ByteRange): Promise<{ content: string; sizeBytes: number }> {
  const opened = await store.open(KEY, range);
  assert(opened, 'the asset exists');
  return { content: await text(opened.stream), sizeBytes: opened.sizeBytes };
}
