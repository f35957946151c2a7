import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SpareRoom } from '../../../lib/data-folder/spare-room.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedDisk } from '../../fixtures/simulated-disk.ts';

const SPARE_BYTES = 50_000;

async function openRoom(t: Test) {
  const disk = new SimulatedDisk(seededRandom(1));
  const room = new SpareRoom(t.testdir(), { disk, freeBytes: async () => disk.freeBytes, lookAgainMs: 5 });
  t.teardown(() => room.stop());
  const startRoom = (onAvailable = () => {}) => {
    room.on('available', onAvailable);
    return room.start({ sizeBytes: SPARE_BYTES, logger: silentLogger });
  };
  return { disk, room, startRoom };
}

t.test(
  'releasing the spare file does not end the shortage; it is created again once there is enough space',
  async (t) => {
    const { disk, room, startRoom } = await openRoom(t);
    let available = false;
    await startRoom(() => {
      available = true;
    });
    t.equal(room.isShort, false);
    disk.capacityBytes = SPARE_BYTES + 20_000;
    await room.ranOut();
    t.equal(room.isShort, true);
    t.notMatch((await disk.list()).join(), 'spare-room');
    await delay(20);
    t.equal(room.isShort, true);

    disk.capacityBytes += 2 * SPARE_BYTES;
    while (room.isShort) await delay(1);
    t.equal(available, true);
    t.ok((await disk.list()).includes('spare-room'));
  },
);

t.test('a shortage ends only when the missing space is free as well', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  await startRoom();
  disk.capacityBytes = 200_000;
  await room.ranOut({ missingBytes: 100_000 });
  t.ok((await disk.list()).includes('spare-room'), 'the spare file was not needed');
  await delay(20);
  t.equal(room.isShort, true);
  disk.capacityBytes += 100_000;
  while (room.isShort) await delay(1);
});

t.test('a spare file that does not fit is created later', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  disk.capacityBytes = 30_000;
  await startRoom();
  t.equal(room.isShort, true);
  t.notMatch((await disk.list()).join(), 'spare-room', 'the incomplete file is removed');
  disk.capacityBytes = 200_000;
  while (room.isShort) await delay(1);
});

t.test('a spare file of an earlier run is reused', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  await startRoom();
  await room.stop();
  disk.capacityBytes = 1;
  await startRoom();
  t.equal(room.isShort, false);
});
