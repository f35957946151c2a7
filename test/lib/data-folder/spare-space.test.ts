import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SpareSpace } from '../../../lib/data-folder/spare-space.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedDisk } from '../../fixtures/simulated-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SPARE_BYTES = 50_000;

async function openSpace(t: Test) {
  const disk = new SimulatedDisk(seededRandom(1));
  const space = new SpareSpace(testFolder(t), {
    disk,
    freeBytes: async () => disk.freeBytes,
    lookAgainMs: 5,
  });
  t.teardown(() => space.stop());
  const startSpace = (onAvailable = () => {}) => {
    space.on('available', onAvailable);
    return space.start({ sizeBytes: SPARE_BYTES, logger: silentLogger });
  };
  return { disk, space, startSpace };
}

t.test(
  'releasing the spare file does not end the shortage; it is created again once there is enough space',
  async (t) => {
    const { disk, space, startSpace } = await openSpace(t);
    let available = false;
    await startSpace(() => {
      available = true;
    });
    t.equal(space.isShort, false);
    disk.capacityBytes = SPARE_BYTES + 20_000;
    await space.ranOut();
    t.equal(space.isShort, true);
    t.notMatch((await disk.list()).join(), 'spare-space');
    await delay(20);
    t.equal(space.isShort, true);

    disk.capacityBytes += 2 * SPARE_BYTES;
    while (space.isShort) await delay(1);
    t.equal(available, true);
    t.ok((await disk.list()).includes('spare-space'));
  },
);

t.test('a shortage ends only when the missing space is free as well', async (t) => {
  const { disk, space, startSpace } = await openSpace(t);
  await startSpace();
  disk.capacityBytes = 200_000;
  await space.ranOut({ missingBytes: 100_000 });
  t.ok((await disk.list()).includes('spare-space'), 'the spare file was not needed');
  await delay(20);
  t.equal(space.isShort, true);
  disk.capacityBytes += 100_000;
  while (space.isShort) await delay(1);
});

t.test('a spare file that does not fit is created later', async (t) => {
  const { disk, space, startSpace } = await openSpace(t);
  disk.capacityBytes = 30_000;
  await startSpace();
  t.equal(space.isShort, true);
  t.notMatch((await disk.list()).join(), 'spare-space', 'the incomplete file is removed');
  disk.capacityBytes = 200_000;
  while (space.isShort) await delay(1);
});

t.test('a spare file of an earlier run is reused', async (t) => {
  const { disk, space, startSpace } = await openSpace(t);
  await startSpace();
  await space.stop();
  disk.capacityBytes = 1;
  await startSpace();
  t.equal(space.isShort, false);
});
