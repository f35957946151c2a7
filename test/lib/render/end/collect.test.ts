import { linkSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DEFAULT_LIMITS } from '../../../../lib/model/limits.ts';
import { collectFiles } from '../../../../lib/render/end/collect.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

function folders(t: Test) {
  const root = testFolder(t, { job: {}, out: {}, secret: 'the host’s' });
  const [job, out] = [join(root, 'job'), join(root, 'out')];
  const collect = (limits = DEFAULT_LIMITS) => collectFiles(job, out, limits);
  return { job, out, secret: join(root, 'secret'), collect };
}

t.test('video and captions are moved out of the scene’s folder, other files are left', async (t) => {
  const { job, out, collect } = folders(t);
  for (const name of ['video.mp4', 'captions.vtt', 'notes.txt']) writeFileSync(join(job, name), name);
  t.same(await collect(), undefined);
  t.same(readdirSync(out).sort(), ['captions.vtt', 'video.mp4']);
});

t.test('a missing video is an error', async (t) => {
  t.same(await folders(t).collect(), { error: 'The scene left no video.', failedBy: 'scene' });
});

t.test('a symbolic link, hard link or folder at the video’s path is not collected', async (t) => {
  for (const put of [
    (path: string, secret: string) => symlinkSync(secret, path),
    (path: string, secret: string) => linkSync(secret, path),
    (path: string) => mkdirSync(path),
  ]) {
    const { job, out, secret, collect } = folders(t);
    put(join(job, 'video.mp4'), secret);
    t.same(await collect(), { error: 'The scene left no video.', failedBy: 'scene' });
    t.same(readdirSync(out), []);
  }
});

t.test('a link at the captions’ path is not collected', async (t) => {
  const { job, out, secret, collect } = folders(t);
  writeFileSync(join(job, 'video.mp4'), 'v');
  symlinkSync(secret, join(job, 'captions.vtt'));
  t.same(await collect(), undefined);
  t.same(readdirSync(out), ['video.mp4']);
});

t.test('a video over the limit is rejected, also a sparse one', async (t) => {
  const { job, collect } = folders(t);
  writeFileSync(join(job, 'video.mp4'), '');
  truncateSync(join(job, 'video.mp4'), 3 * 1024 * 1024);
  const limits = { ...DEFAULT_LIMITS, outputBytes: 2 * 1024 * 1024 };
  t.same(await collect(limits), {
    error: 'The video is larger than the limit of 2 MiB.',
    failedBy: 'limit:output',
  });
});
