// With namespaces, files of scenes are in memory and take no space on the service's disk.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { enqueue, progressed, render, scene, startService } from '../../fixtures/renders.ts';
import { smallDisk } from '../../fixtures/small-disk.ts';

const folder = smallDisk(t, 24);
const skip = folder === undefined && 'only root mounts a small disk';

t.test('a scene that writes more than the disk has free does not affect others', { skip }, async (t) => {
  const service = await startService(t, { folder: folder as string, workers: 1 });
  if (service.status().sandbox?.limits.disk !== 'kernel') {
    t.pass('there are no namespaces here');
    return;
  }
  const code = scene(
    'with open("hoard", "wb") as file: file.write(bytes(100 << 20))',
    'self.wait(1 / config.frame_rate)',
    'time.sleep(1)',
    'os.remove("hoard")',
  );
  const { jobId } = await enqueue(service, { code });
  await progressed(service, jobId, ({ frames }) => frames > 0);
  t.notOk(service.status().diskFull);
  t.same(readdirSync(join(folder as string, 'work/w0/1')), [], 'its folder on the disk is empty');
  t.match(await service.wait(jobId), { status: 'completed', error: null });
  t.match(await render(service, {}), { status: 'completed', error: null }, 'the next one renders');
});
