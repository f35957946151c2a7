import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { SpareSpace } from '../../../lib/files/spare-space.ts';
import { turn } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedDisk } from '../../fixtures/simulated-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SPARE_BYTES = 50_000;
const LOOK_AGAIN_MS = 5_000;

async function openSpace(t: Test) {
  const disk = new SimulatedDisk(seededRandom(1));
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const files = { free: Number.POSITIVE_INFINITY };
  const logged: string[] = [];
  const logger = { ...silentLogger, error: (_: object, message: string) => void logged.push(message) };
  const space = new SpareSpace(testFolder(t), {
    disk,
    freeSpace: async () => ({ bytes: disk.freeBytes, files: files.free }),
    clock,
    random: systemRandom,
  });
  t.teardown(() => space.stop());
  const startSpace = (onAvailable = () => {}) => {
    space.on('available', onAvailable);
    return space.start({ sizeBytes: SPARE_BYTES, logger });
  };
  /** Lets the free space be checked; resolves with whether the shortage goes on. */
  const isStillShort = async () => {
    clock.advance(LOOK_AGAIN_MS);
    await turn();
    return space.isShort;
  };
  return { disk, files, logged, space, startSpace, isStillShort };
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

t.test('a file that did not fit begins a shortage only if little space is left', async (t) => {
  const { disk, space, startSpace, isStillShort } = await openSpace(t);
  await startSpace();
  disk.capacityBytes = 2 * SPARE_BYTES;
  await space.check();
  t.equal(space.isShort, false);
  disk.capacityBytes -= 1;
  await space.check();
  t.equal(space.isShort, true);
  t.ok((await disk.list()).includes('spare-space'), 'the spare file was not needed');
  t.equal(await isStillShort(), true);
  disk.capacityBytes += SPARE_BYTES + 1;
  t.equal(await isStillShort(), false);
});

t.test(
  'a lack of inodes begins a shortage, is reported as such, and ends when there are enough',
  async (t) => {
    const { files, logged, space, startSpace, isStillShort } = await openSpace(t);
    await startSpace();
    files.free = 0;
    await space.check();
    t.equal(space.isShort, true);
    t.equal(await isStillShort(), true, 'although the empty files exist');
    t.equal(space.lacksFiles, true);
    t.match(logged, [/no free inodes/]);
    files.free = 2;
    t.equal(await isStillShort(), false);
  },
);

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
