import t from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import type { AssetStore } from '../../../../lib/index.ts';
import { Discards } from '../../../../lib/jobs/end/discards.ts';

t.test('artifacts are removed in the background, and settled() waits for all of them', async (t) => {
  const deleted: string[] = [];
  const deletions: (() => void)[] = [];
  const assets = {
    delete: (key: string) => {
      deleted.push(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      deletions.push(resolve);
      return promise;
    },
  } as unknown as AssetStore;
  const discards = new Discards({ assets, logger: silentLogger });
  await discards.settled();
  discards.add([]);
  discards.add(['1/video.mp4']);
  discards.add(['2/video.mp4']);
  t.same(deleted, ['1/video.mp4', '2/video.mp4']);
  let isSettled = false;
  const settled = discards.settled().then(() => {
    isSettled = true;
  });
  deletions[0]?.();
  await new Promise(setImmediate);
  t.notOk(isSettled);
  deletions[1]?.();
  await settled;
});

t.test('a store that fails is logged, and delays nothing', async (t) => {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (details: object) => void warned.push(details) };
  const assets = { delete: () => Promise.reject(new Error('not connected')) } as unknown as AssetStore;
  const discards = new Discards({ assets, logger });
  discards.add(['1/video.mp4', '1/captions.vtt']);
  await discards.settled();
  t.match(warned, [{ assetKey: '1/video.mp4' }, { assetKey: '1/captions.vtt' }]);
});
