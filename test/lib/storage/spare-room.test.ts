import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DataFolder, silentLogger } from '../../../lib/index.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { SimulatedDisk, seededRandom } from '../../fixtures/simulated-disk.ts';

const SPARE_BYTES = 50_000;

async function openFolder(t: Test) {
  const disk = new SimulatedDisk(seededRandom(1));
  const freeBytes = async () => disk.freeBytes;
  const folder = new DataFolder(t.testdir(), { disk, spareRoom: { freeBytes, lookAgainMs: 5 } });
  await folder.start();
  t.teardown(() => folder.stop());
  t.teardown(() => folder.room.stop());
  let next = 0;
  const insert = async () => {
    const job = jobRecord(`job${next++}`);
    await folder.storage.transaction((tx) => folder.storage.insertJob(tx, job, 'x'.repeat(5000)));
    return job;
  };
  const end = (job: ReturnType<typeof jobRecord>) =>
    folder.storage.transaction((tx) => folder.storage.updateJob(tx, { ...job, phase: 'failed' }));
  const startRoom = (onRoom = () => {}) =>
    folder.room.start({ sizeBytes: SPARE_BYTES, onRoom, logger: silentLogger });
  return { disk, folder, insert, end, startRoom };
}

t.test('when the disk is full, the write that finds it so fails and others find room', async (t) => {
  const { disk, folder, insert, end, startRoom } = await openFolder(t);
  let told = false;
  await startRoom(() => {
    told = true;
  });
  const job = await insert();
  t.equal(folder.room.isShort, false);

  disk.capacityBytes = SPARE_BYTES + 20_000;
  await t.rejects(
    (async () => {
      for (;;) await insert();
    })(),
    { code: 'storage_full' },
  );
  t.equal(folder.room.isShort, true);
  await end(job);
  t.match(await folder.storage.getJob(job.jobId), { phase: 'failed' });
  await delay(20);
  t.equal(folder.room.isShort, true, 'the room that was given up is no new room');

  disk.capacityBytes += 2 * SPARE_BYTES;
  while (folder.room.isShort) await delay(1);
  t.equal(told, true);
  t.ok((await disk.list()).includes('spare-room'));
  await insert();
});

t.test('what was missing has to be free, too, before it is over', async (t) => {
  const { disk, folder, startRoom } = await openFolder(t);
  await startRoom();
  disk.capacityBytes = 200_000;
  await folder.room.ranOut({ missingBytes: 100_000 });
  t.ok((await disk.list()).includes('spare-room'), 'the spare room itself was not needed');
  await delay(20);
  t.equal(folder.room.isShort, true);
  disk.capacityBytes += 100_000;
  while (folder.room.isShort) await delay(1);
});

t.test('spare room that cannot be had is waited for', async (t) => {
  const { disk, folder, startRoom } = await openFolder(t);
  disk.capacityBytes = 30_000;
  await startRoom();
  t.equal(folder.room.isShort, true);
  t.notMatch((await disk.list()).join(), 'spare-room', 'what was begun of it is removed');
  disk.capacityBytes = 200_000;
  while (folder.room.isShort) await delay(1);
});

t.test('spare room that an earlier life left is taken over', async (t) => {
  const { disk, folder, startRoom } = await openFolder(t);
  await startRoom();
  await folder.room.stop();
  disk.capacityBytes = 1;
  await startRoom();
  t.equal(folder.room.isShort, false);
});
