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

t.test('room that is given up is no new room; when there is enough, it is made again', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  let told = false;
  await startRoom(() => {
    told = true;
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
  t.equal(told, true);
  t.ok((await disk.list()).includes('spare-room'));
});

t.test('what was missing has to be free, too, before it is over', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  await startRoom();
  disk.capacityBytes = 200_000;
  await room.ranOut({ missingBytes: 100_000 });
  t.ok((await disk.list()).includes('spare-room'), 'the spare room itself was not needed');
  await delay(20);
  t.equal(room.isShort, true);
  disk.capacityBytes += 100_000;
  while (room.isShort) await delay(1);
});

t.test('spare room that cannot be had is waited for', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  disk.capacityBytes = 30_000;
  await startRoom();
  t.equal(room.isShort, true);
  t.notMatch((await disk.list()).join(), 'spare-room', 'what was begun of it is removed');
  disk.capacityBytes = 200_000;
  while (room.isShort) await delay(1);
});

t.test('spare room that an earlier life left is taken over', async (t) => {
  const { disk, room, startRoom } = await openRoom(t);
  await startRoom();
  await room.stop();
  disk.capacityBytes = 1;
  await startRoom();
  t.equal(room.isShort, false);
});
