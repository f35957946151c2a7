// Videos of some plays, stills and posters, of real scenes.
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { ArtifactName, EnqueueRequest, Job } from '../../lib/index.ts';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { scene, startService } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { inspectVideo } from '../fixtures/video.ts';

const run = promisify(execFile);
const PYTHON = join(import.meta.dirname, '../../.venv/bin/python');
const CODE = scene(
  'square = Square(fill_opacity=0.5, color=RED)',
  'self.play(Create(square), run_time=1, subcaption="A square")',
  'self.play(square.animate.shift(RIGHT * np.random.uniform(1, 2)), run_time=1)',
  'self.next_section("turn")',
  'self.play(Rotate(square), run_time=1, subcaption="turns")',
  'self.play(FadeOut(square), run_time=1)',
);
const FPS = 15;
const ALL = ['png', 'transparent-png', 'gif', 'sections'] as const;

const service = await startService(t);

async function rendered(more: Partial<EnqueueRequest> = {}): Promise<Job> {
  const request = { owner: 'ada', code: CODE, className: 'Main', quality: 'low', seed: 5 } as const;
  return service.wait((await service.enqueue({ ...request, ...more })).jobId);
}

async function again(job: Job, changes: Partial<EnqueueRequest>): Promise<Job> {
  return service.wait((await service.renderAgain(job.jobId, { changes })).jobId);
}

/** The path of a copy of an artifact. */
async function saved({ jobId }: Job, name: ArtifactName, folder: string): Promise<string> {
  const { path = '', stream } = await service.openArtifact(jobId, name);
  const copy = join(folder, `${jobId}-${name}`);
  await copyFile(path, copy);
  stream.destroy();
  return copy;
}

/** Digests of the pictures in a ZIP or a PNG, of their pixels. */
async function picturesIn(path: string): Promise<string[]> {
  const program = `
import hashlib, io, sys, zipfile
from PIL import Image
def digest(data): return hashlib.sha256(Image.open(io.BytesIO(data)).tobytes()).hexdigest()
if sys.argv[1].endswith(".zip"):
    archive = zipfile.ZipFile(sys.argv[1])
    for name in sorted(archive.namelist()): print(digest(archive.read(name)))
else: print(digest(open(sys.argv[1], "rb").read()))
`;
  return (await run(PYTHON, ['-c', program, path])).stdout.trim().split('\n');
}

t.test('some plays are those of the whole video, in each format', async (t) => {
  const folder = await temporaryFolder(t);
  const whole = await rendered({ formats: ALL });
  const part = await rendered({ formats: ALL, fromPlay: 1, toPlay: 2 });
  t.match(part, { error: null, fromPlay: 1, toPlay: 2 });
  for (const name of ['frames.zip', 'transparent-frames.zip'] as const) {
    const frames = await picturesIn(await saved(whole, name, folder));
    t.equal(frames.length, 4 * FPS);
    t.strictSame(await picturesIn(await saved(part, name, folder)), frames.slice(FPS, 3 * FPS), name);
  }
  t.match(await inspectVideo(await saved(part, 'video.mp4', folder)), { frames: 2 * FPS, seconds: 2 });
  t.match(await inspectVideo(await saved(part, 'video.gif', folder)), { frames: 2 * FPS });
  const zip = await saved(part, 'sections.zip', folder);
  const index = JSON.parse((await run('unzip', ['-p', zip, 'index.json'])).stdout);
  t.match(index, [
    { name: 'autocreated', startSeconds: 0, frames: FPS },
    { name: 'turn', startSeconds: 1, frames: FPS },
  ]);
  const plays = await service.plays(part.jobId);
  t.match(plays, [
    { startSeconds: 0, seconds: 1 },
    { startSeconds: 1, seconds: 1 },
  ]);
});

t.test('stills and the poster are frames of the video, which stays the same', async (t) => {
  const folder = await temporaryFolder(t);
  const plain = await rendered({ formats: ['png'] });
  const job = await rendered({ formats: ['png'], stills: ['last', 1, { play: 1 }], poster: { play: 0 } });
  t.match(job, { error: null, formats: ['mp4', 'png', 'stills'], poster: { play: 0 } });
  const frames = await picturesIn(await saved(job, 'frames.zip', folder));
  const wanted = [4 * FPS - 1, FPS, 2 * FPS - 1].map((frame) => frames[frame]);
  for (const [index, digest] of wanted.entries()) {
    const name = `still-${index + 1}.png` as ArtifactName;
    t.strictSame(await picturesIn(await saved(job, name, folder)), [digest], name);
  }
  const thumbnails = [plain, job].map(async (of) => picturesIn(await saved(of, 'thumbnail.jpg', folder)));
  t.notSame(...((await Promise.all(thumbnails)) as [string[], string[]]));
  const fewer = await again(job, { stills: ['last'], poster: null, formats: [] });
  t.match(fewer, { formats: ['mp4', 'stills'], poster: null, stills: ['last'] });
  t.match(
    fewer.artifacts.map(({ name }) => name),
    ['video.mp4', 'thumbnail.jpg', 'captions.vtt', 'still-1.png'],
  );
  const none = await again(fewer, { stills: null });
  t.strictSame([none.formats, none.stills], [['mp4'], []]);
});

t.test('an edit after a part of the scene still costs what it changes', async (t) => {
  const whole = await rendered({ seed: 9 });
  const part = await again(whole, { fromPlay: 2 });
  t.ok((part.usage?.copiedFrames ?? 0) > 0, 'frames of the whole video');
  const edited = await again(part, { fromPlay: null, code: CODE.replace('FadeOut', 'ShrinkToCenter') });
  t.ok((edited.usage?.copiedFrames ?? 0) >= 2 * FPS, 'also after a render of a part');
});

t.test('plays and frames that are not there fail the job', async (t) => {
  t.match(await rendered({ fromPlay: 4 }), {
    failedBy: 'scene',
    error: 'The scene has no play 4: it has 4, counted from 0.',
  });
  t.match(await rendered({ fromPlay: 1, toPlay: 7 }), { error: /^The scene has no play 7: it has 4/ });
  t.match(await rendered({ poster: 60 }), { error: 'The video has no frame at 60 s: it is 4 s long.' });
});

t.test('the command line renders parts here and by a service elsewhere', async (t) => {
  const { url, key } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scene.py'), CODE);
  for (const more of [[], ['--server', url, '--key', key]]) {
    const out = `made${more.length}/`;
    const args = [
      'scene.py',
      '-ql',
      '--from-play',
      '1',
      '--to-play',
      '1',
      '--stills',
      'play:1,last',
      '--json',
    ];
    const { code, stdout, stderr } = await scenepress(['render', ...args, '-o', out, ...more], { cwd });
    t.equal(code, 0, stderr);
    const stills = [1, 2].map((number) => join(cwd, out, `Main-still-${number}.png`));
    t.match(JSON.parse(stdout), { still1: stills[0], still2: stills[1] });
    t.notOk('still3' in JSON.parse(stdout));
    t.strictSame(...((await Promise.all(stills.map(picturesIn))) as [string[], string[]]));
    t.match(await inspectVideo(join(cwd, out, 'Main.mp4')), { frames: FPS });
  }
});
