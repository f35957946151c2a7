import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type AssetStore, DataFolder, RenderService } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

/** Renders a job with a replaced `put` of the asset store. */
async function render(t: Test, put?: (folder: DataFolder) => AssetStore['put']) {
  const dataFolder = new DataFolder(join(testFolder(t), 'data'));
  if (put) dataFolder.assets.put = put(dataFolder);
  const service = new RenderService({
    dataFolder,
    workers: 1,
    renderer: { python, insecureNoSandbox: true },
  });
  t.teardown(() => service.stop());
  await service.start();
  const { jobId } = await service.enqueue({ owner: 'ada', code: 'x', className: 'A' });
  return service.wait(jobId, { signal: AbortSignal.timeout(20_000) });
}

/** Removes the video before it is stored, the first `times` times. */
function losing(times: number) {
  return ({ assets }: DataFolder): AssetStore['put'] => {
    const original = assets.put.bind(assets);
    let left = times;
    return async (assetKey, file) => {
      if (assetKey.endsWith('.mp4') && left-- > 0) await fs.rm(file.path);
      return original(assetKey, file);
    };
  };
}

t.test('a render whose file has disappeared is attempted again, then fails', async (t) => {
  t.match(await render(t, losing(1)), { status: 'completed', attempts: 2 });
  t.match(await render(t, losing(2)), { status: 'failed', attempts: 2, error: /could not store it/ });
});

t.test('a failing stat of a readable file does not fail the render', async (t) => {
  const original = fs.stat;
  let failures = 0;
  fs.stat = (async (path, ...rest) => {
    if (!/work.*\.mp4$/.test(String(path))) return original(path, ...rest);
    failures += 1;
    throw Object.assign(new Error('EIO: i/o error, stat'), { code: 'EIO' });
  }) as typeof fs.stat;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.stat = original;
    syncBuiltinESMExports();
  });
  t.match(await render(t), { status: 'completed', attempts: 1 });
  t.ok(failures > 0);
});
