import t, { type Test } from 'tap';
import { turn } from '../../../lib/clock.ts';
import { SpareSpace } from '../../../lib/data-folder/spare-space.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { systemRandom } from '../../../lib/random.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedDisk } from '../../fixtures/simulated-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SPARE_BYTES = 50_000;
const LOOK_AGAIN_MS = 5_000;

async function openSpace(t: Test) {
  const disk = new SimulatedDisk(seededRandom(1));
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const space = new SpareSpace(testFolder(t), {
    disk,
    freeBytes: async () => disk.freeBytes,
    clock,
    random: systemRandom,
  });
  t.teardown(() => space.stop());
  const startSpace = (onAvailable = () => {}) => {
    space.on('available', onAvailable);
    return space.start({ sizeBytes: SPARE_BYTES, logger: silentLogger });
  };
  /** Lets the free space be checked; resolves with whether the shortage goes on. */
  const isStillShort = async () => {
    clock.advance(LOOK_AGAIN_MS);
    await turn();
    return space.isShort;
  };
  return { disk, space, startSpace, isStillShort };
}

t.test(
  'releasing the spare file does not end the shortage; it is created again once there is enough space',
  async (t) => {
    const { disk, space, startSpace, isStillShort } = await openSpace(t);
    let available = false;
    await startSpace(() => {
      available = true;
    });
    t.equal(space.isShort, false);
    disk.capacityBytes = SPARE_BYTES + 20_000;
    await space.ranOut();
    t.equal(space.isShort, true);
    t.notMatch((await disk.list()).join(), 'spare-space');
    t.equal(await isStillShort(), true);

    disk.capacityBytes += 2 * SPARE_BYTES;
    t.equal(await isStillShort(), false);
    t.equal(available, true);
    t.ok((await disk.list()).includes('spare-space'));
  },
);

t.test('a shortage ends only when the missing space is free as well', async (t) => {
  const { disk, space, startSpace, isStillShort } = await openSpace(t);
  await startSpace();
  disk.capacityBytes = 200_000;
  await space.ranOut({ missingBytes: 100_000 });
  t.ok((await disk.list()).includes('spare-space'), 'the spare file was not needed');
  t.equal(await isStillShort(), true);
  disk.capacityBytes += 100_000;
  t.equal(await isStillShort(), false);
});

t.test('a spare file that does not fit is created later', async (t) => {
  const { disk, space, startSpace, isStillShort } = await openSpace(t);
  disk.capacityBytes = 30_000;
  await startSpace();
  t.equal(space.isShort, true);
  t.notMatch((await disk.list()).join(), 'spare-space', 'the incomplete file is removed');
  disk.capacityBytes = 200_000;
  t.equal(await isStillShort(), false);
});

t.test('a spare file of an earlier run is reused', async (t) => {
  const { disk, space, startSpace } = await openSpace(t);
  await startSpace();
  await space.stop();
  disk.capacityBytes = 1;
  await startSpace();
  t.equal(space.isShort, false);
});
