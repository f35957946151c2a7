import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bringEarlier } from '../../../../lib/render/run/earlier-video.ts';
import { smallDisk } from '../../../fixtures/small-disk.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

/** An index and a video, and an empty folder of an encoding. */
function earlier(t: Test): { index: string; video: string; folder: string } {
  const place = testFolder(t);
  const [index, video, folder] = [join(place, 'index'), join(place, 'video.mp4'), join(place, 'encoding')];
  writeFileSync(index, 'digests');
  writeFileSync(video, Buffer.alloc(2_000_000, 1));
  mkdirSync(folder);
  return { index, video, folder };
}

t.test('an earlier video is copied: what happens to it later does not matter', async (t) => {
  const { folder, ...files } = earlier(t);
  await bringEarlier(files, folder, process.getuid?.());
  truncateSync(files.video, 10);
  rmSync(files.index);
  t.same(readdirSync(folder).toSorted(), ['earlier.index', 'earlier.mp4']);
  t.equal(statSync(join(folder, 'earlier.mp4')).size, 2_000_000);
  t.equal(readFileSync(join(folder, 'earlier.index'), 'utf8'), 'digests');
});

t.test('on a full disk nothing is copied, and nothing is left', async (t) => {
  const folder = smallDisk(t, 1);
  const { folder: _, ...files } = earlier(t);
  if (folder !== undefined) await bringEarlier(files, folder, undefined);
  t.same(folder === undefined ? [] : readdirSync(folder), []);
});

t.test('a file that is gone leaves no other', async (t) => {
  for (const gone of ['index', 'video'] as const) {
    const { folder, ...files } = earlier(t);
    rmSync(files[gone]);
    await bringEarlier(files, folder, undefined);
    t.same(readdirSync(folder), [], gone);
  }
});

t.test('nothing in the folder of an encoding is written over', async (t) => {
  const { folder, ...files } = earlier(t);
  const target = join(folder, '..', 'target');
  writeFileSync(target, 'kept');
  symlinkSync(target, join(folder, 'earlier.mp4'));
  await bringEarlier(files, folder, undefined);
  t.equal(readFileSync(target, 'utf8'), 'kept');
  t.same(readdirSync(folder), []);
});
