// What jobs of a service make besides MP4, of real scenes, beside what the manim command makes.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { EnqueueRequest, Job } from '../../lib/index.ts';
import { jobJson } from '../../lib/model/job-json.ts';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { scene, startService } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { inspectVideo } from '../fixtures/video.ts';

const run = promisify(execFile);
const PYTHON = join(import.meta.dirname, '../../.venv/bin/python');
const CODE = scene(
  'square = Square(fill_opacity=0.5, color=RED)',
  'self.next_section("one")',
  'self.play(Create(square), run_time=0.4, subcaption="A square")',
  'self.next_section("two")',
  'self.play(square.animate.shift(RIGHT * np.random.uniform(1, 2)), run_time=0.4)',
);
const FRAMES = 12;

const service = await startService(t);

async function rendered(formats: EnqueueRequest['formats'], code = CODE): Promise<Job> {
  const request = { owner: 'ada', code, className: 'Main', quality: 'low' } as const;
  const { jobId } = await service.enqueue({ ...request, ...(formats && { formats }) });
  return service.wait(jobId);
}

/** Copies the artifacts of a job into a folder. */
async function savedOf({ jobId, artifacts }: Job, folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  for (const { name } of artifacts) {
    const { path = '', stream } = await service.openArtifact(jobId, name);
    await copyFile(path, join(folder, name));
    stream.destroy();
  }
  return readdir(folder);
}

/** Compares the pictures of a ZIP with those in a folder, in their order: the largest difference. */
async function differenceOf(zip: string, folder: string): Promise<number> {
  const program = `
import io, sys, zipfile
from pathlib import Path
import numpy as np
from PIL import Image
archive = zipfile.ZipFile(sys.argv[1])
ours = [np.asarray(Image.open(io.BytesIO(archive.read(name))), int) for name in sorted(archive.namelist())]
theirs = [np.asarray(Image.open(path), int) for path in sorted(Path(sys.argv[2]).rglob("*.png"))]
assert len(ours) == len(theirs), (len(ours), len(theirs))
print(max(int(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True)))
`;
  return Number((await run(PYTHON, ['-c', program, zip, folder])).stdout);
}

t.test('each format has the frames of the video, which stays the same', async (t) => {
  const folder = await temporaryFolder(t);
  const still = CODE.replace('np.random.uniform(1, 2)', '1.5');
  const plain = await rendered(undefined, still);
  const more = await rendered(['gif', 'webm', 'png', 'srt', 'sprites', 'webp'], still);
  t.equal(more.error, null);
  await savedOf(plain, join(folder, 'plain'));
  const names = await savedOf(more, join(folder, 'more'));
  t.ok(names.includes('captions.srt') && names.includes('sprites.vtt') && names.includes('video.webp'));
  const videos = ['plain', 'more'].map((name) => readFile(join(folder, name, 'video.mp4')));
  const [before, after] = await Promise.all(videos);
  t.ok(before && after?.equals(before), 'byte for byte');
  t.match(await inspectVideo(join(folder, 'more/video.webm')), { codec: 'vp9', frames: FRAMES, fps: 15 });
  t.match(await inspectVideo(join(folder, 'more/video.gif')), { widthPx: 640, frames: FRAMES });

  t.match(Object.keys(JSON.parse(jobJson(more, '')).result), ['video', 'thumbnail', 'captions']);
  t.strictSame(more.formats, ['mp4', 'srt', 'gif', 'webp', 'webm', 'sprites', 'png']);
  const again = await service.wait((await service.renderAgain(more.jobId)).jobId);
  t.equal(again.artifacts.length, more.artifacts.length);
  t.ok((again.usage?.copiedFrames ?? 0) > 0, 'frames are copied from a video with the same formats');
  const other = await service.renderAgain(more.jobId, { changes: { formats: ['mp4'] } });
  t.equal((await service.wait(other.jobId)).artifacts.length, 3);
  await service.forget(more.jobId);
  await t.rejects(service.openArtifact(more.jobId, 'video.gif'), { code: 'artifact_gone' });
});

t.test('transparent frames are those of manim -t, drawn with the same random numbers', async (t) => {
  const folder = await temporaryFolder(t);
  const code = CODE.replace('np.random.uniform(1, 2)', '1.5');
  const job = await rendered(['transparent-png', 'mov', 'transparent-webm'], code);
  t.equal(job.error, null);
  await savedOf(job, join(folder, 'ours'));
  await writeFile(join(folder, 'scene.py'), code);
  await run(PYTHON, ['-m', 'manim', 'render', '-ql', '-t', '--format', 'png-sequence', 'scene.py', 'Main'], {
    cwd: folder,
  });
  t.equal(await differenceOf(join(folder, 'ours/transparent-frames.zip'), join(folder, 'media')), 0);
  t.match(await inspectVideo(join(folder, 'ours/transparent.mov')), { codec: 'prores', frames: FRAMES });
  t.match(await inspectVideo(join(folder, 'ours/transparent.webm')), { codec: 'vp9', frames: FRAMES });
  t.ok(job.usage?.workMs && job.usage.workMs.draw > 0);

  const random = await rendered(['png', 'transparent-png']);
  await savedOf(random, join(folder, 'random'));
  const program = `
import io, sys, zipfile
import numpy as np
from PIL import Image
def last(name):
    archive = zipfile.ZipFile(f"{sys.argv[1]}/{name}")
    return np.asarray(Image.open(io.BytesIO(archive.read(sorted(archive.namelist())[-1]))), int)
opaque, clear = last("frames.zip"), last("transparent-frames.zip")
print(int(np.abs(opaque - clear[..., :3])[clear[..., 3] == 255].max()))
`;
  const { stdout } = await run(PYTHON, ['-c', program, join(folder, 'random')]);
  t.equal(Number(stdout), 0, 'over black, what is opaque is the same in both drawings');
});

t.test('a scene can make no artifact itself', async (t) => {
  const hostile = scene(
    'for name in ("video.gif", "frames.zip", "transparent.mov", "sections.zip"):',
    '    for folder in (".", "..", os.environ.get("TMPDIR", "/tmp")):',
    '        try:',
    '            open(os.path.join(folder, name), "w").write("<script>")',
    '        except OSError:',
    '            pass',
    'self.wait(0.2)',
  );
  const plain = await rendered(undefined, hostile);
  t.equal(plain.error, null);
  t.strictSame(
    plain.artifacts.map(({ name }) => name),
    ['video.mp4', 'thumbnail.jpg'],
  );
  const folder = await temporaryFolder(t);
  await savedOf(await rendered(['gif', 'png'], hostile), folder);
  t.equal((await readFile(join(folder, 'video.gif'))).toString('latin1', 0, 4), 'GIF8');
  t.equal((await readFile(join(folder, 'frames.zip'))).toString('latin1', 0, 2), 'PK');
});

t.test('the command line writes them here and by a service elsewhere', async (t) => {
  const { url, key } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scene.py'), CODE);
  for (const more of [[], ['--server', url, '--key', key]]) {
    const out = `made${more.length}/`;
    const args = ['render', 'scene.py', '-ql', '--formats', 'gif,sprites,transparent-png', '--json'];
    const { code, stdout, stderr } = await scenepress([...args, '-o', out, ...more], { cwd });
    t.equal(code, 0, stderr);
    const gif = join(cwd, out, 'Main.gif');
    t.match(JSON.parse(stdout), { gif, transparentFrames: join(cwd, out, 'Main-transparent-frames.zip') });
    t.match(await inspectVideo(gif), { codec: 'gif', frames: FRAMES });
    t.match(
      await readFile(join(cwd, out, 'Main-sprites.vtt'), 'utf8'),
      /\nMain-sprites\.jpg#xywh=0,0,160,90\n/,
    );
  }
  const wrong = await scenepress(['render', 'scene.py', '--formats', 'gif,avi'], { cwd });
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /There is no format avi\. Formats: mp4, srt, gif/);
});
