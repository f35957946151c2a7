import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { enqueue, render, startService } from '../../fixtures/renders.ts';
import { fillWithFiles, smallDisk } from '../../fixtures/small-disk.ts';

const MIB = 64;
const INODES = 5_000;
const SHORT_MS = 6_000;

t.test('a job waits without an attempt while the disk has space, but no inodes', async (t) => {
  const disk = smallDisk(t, MIB, INODES);
  if (disk === undefined) {
    t.pass('needs the right to mount', { skip: true });
    return;
  }
  const service = await startService(t, { folder: join(disk, 'data'), workers: 1 });
  t.match(await render(service, {}), { status: 'completed', attempts: 1 });
  const free = fillWithFiles(disk);
  const { jobId } = await enqueue(service, {});
  await delay(SHORT_MS);
  t.match(await service.get(jobId), { status: 'queued', attempts: 0, error: null });
  t.match(service.status().problems, [{ part: 'disk', message: /no free inodes/ }]);
  t.equal(service.status().problems.length, 1, 'nothing else is blamed');
  free();
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1, error: null });
});
