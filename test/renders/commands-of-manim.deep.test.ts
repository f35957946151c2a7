// Command lines with the flags of manim, given to it and to `scenepress render`: the same files with the same pictures.
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { scenepress } from '../appliance/command.ts';
import { oneOf } from '../fixtures/depth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const BIN = join(import.meta.dirname, '../../.venv/bin');
const SCENES = `from manim import *


class SquareToCircle(Scene):
    def construct(self):
        square = Square(color=BLUE, fill_opacity=0.5)
        self.next_section("first")
        self.play(Create(square), run_time=0.4)
        self.next_section("second")
        self.play(Transform(square, Circle()), run_time=0.4)
        self.wait(0.2)


class Dots(Scene):
    def construct(self):
        self.add(Dot(RIGHT * np.random.uniform(-3, 3)))
        self.wait(0.2)
`;
/** The arguments after `scene.py`, and the files that manim leaves, relative to its folder for the scene. */
const LINES: [args: string, files: Record<string, string>][] = [
  ['SquareToCircle -ql', { '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -qm', { '720p30/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle --quality h -n 2', { '1080p60/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -qp -s', { 'SquareToCircle_ManimCE_v.png': 'SquareToCircle.png' }],
  ['SquareToCircle -qk -s', { 'SquareToCircle_ManimCE_v.png': 'SquareToCircle.png' }],
  ['SquareToCircle -ql --save_last_frame', { 'SquareToCircle_ManimCE_v.png': 'SquareToCircle.png' }],
  ['SquareToCircle -ql --format=gif', { '480p15/SquareToCircle_ManimCE_v.gif': 'SquareToCircle.gif' }],
  ['SquareToCircle -ql --format webm', { '480p15/SquareToCircle.webm': 'SquareToCircle.webm' }],
  ['SquareToCircle -ql --format mov', { '480p15/SquareToCircle.mov': 'SquareToCircle.mov' }],
  ['SquareToCircle -ql -t', { '480p15/SquareToCircle.mov': 'SquareToCircle.mov' }],
  ['SquareToCircle -ql -s -t', { 'SquareToCircle_ManimCE_v.png': 'SquareToCircle.png' }],
  ['SquareToCircle -ql -n 1', { '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -ql -n 0,1', { '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -ql --fps 10', { '480p10/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle --frame_rate 5 -ql', { '480p5/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -r 320,240 --fps 10', { '240p10/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  ['SquareToCircle -ql -o movie', { '480p15/movie.mp4': 'movie.mp4' }],
  [
    'SquareToCircle -ql --save_sections',
    {
      '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4',
      '480p15/sections/SquareToCircle_0000_first.mp4': 'sections/SquareToCircle_0000_first.mp4',
      '480p15/sections/SquareToCircle_0001_second.mp4': 'sections/SquareToCircle_0001_second.mp4',
    },
  ],
  ['-a -ql', { '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4', '480p15/Dots.mp4': 'Dots.mp4' }],
  ['Dots -ql --seed 3', { '480p15/Dots.mp4': 'Dots.mp4' }],
  ['SquareToCircle -c custom.cfg', { '160p10/SquareToCircle.mp4': 'SquareToCircle.mp4' }],
  [
    'SquareToCircle -ql -v WARNING --disable_caching --progress_bar none',
    { '480p15/SquareToCircle.mp4': 'SquareToCircle.mp4' },
  ],
];
/** Those that render nothing here, and the sentence that says why. */
const REFUSED: [args: string, why: RegExp][] = [
  ['SquareToCircle --renderer=opengl', /Scenes are drawn by Cairo only/],
  ['SquareToCircle -i', /lacks\. Use --format gif/],
  ['SquareToCircle -g', /lacks\. Use --format png-sequence/],
  ['SquareToCircle --dry_run', /lacks\. To check that the file loads, and list its scenes: --list/],
  ['SquareToCircle --media_dir media', /lacks\. Name the file or its folder: -o FOLDER\//],
  ['SquareToCircle -pf', /lacks\. To open the result: -p/],
];
/** Prints size, frame rate, number of frames and the largest mean difference of two pictures in shades of 256. */
const COMPARE = `import json, sys
import av, numpy
def read(path):
    with av.open(path) as file:
        stream = file.streams.video[0]
        frames = [frame.to_ndarray(format="rgba").astype(int) for frame in file.decode(stream)]
        return [stream.width, stream.height, float(stream.average_rate or 0), len(frames)], frames
(one, ones), (two, twos) = map(read, sys.argv[1:])
difference = max((abs(a - b).mean() for a, b in zip(ones, twos)), default=255) if one == two else 255
print(json.dumps([one, two, difference]))
`;
/** What two encodings of the same picture may differ by. */
const MOST_DIFFERENCE = 1.5;

const run = promisify(execFile);
const folder = await temporaryFolder(t);
const ours = join(folder, 'ours');
await mkdir(ours);
await writeFile(join(folder, 'scene.py'), SCENES);
await writeFile(join(folder, 'compare.py'), COMPARE);
const config = '[CLI]\npixel_width = 320\npixel_height = 160\nframe_rate = 10\nbackground_color = WHITE\n';
await writeFile(join(folder, 'custom.cfg'), config);
const env = { XDG_RUNTIME_DIR: folder };

async function manim(args: string[]): Promise<string[]> {
  const media = join(folder, 'media');
  await rm(media, { recursive: true, force: true });
  await run(join(BIN, 'manim'), ['render', 'scene.py', ...args, '--media_dir', 'media'], { cwd: folder });
  const files = await readdir(media, { recursive: true, withFileTypes: true });
  return files.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
}

for (const [line, files] of oneOf(4, LINES)) {
  t.test(`scene.py ${line}`, async (t) => {
    const args = line.split(' ');
    const theirs = await manim(args);
    await rm(ours, { recursive: true, force: true });
    const out = args.includes('-o') ? [] : ['-o', 'ours/'];
    const used = out.length > 0 ? args : args.map((arg) => (arg === 'movie' ? 'ours/movie' : arg));
    const command = ['render', 'scene.py', ...used, ...out, '--keep-warm', '1'];
    const { code, stderr } = await scenepress(command, { cwd: folder, env });
    t.equal(code, 0, stderr);
    for (const [their, our] of Object.entries(files)) {
      const pattern = their.replace('_v.', '_v[^/]*.');
      const path = theirs.find((file) => new RegExp(`/${pattern}$`).test(file));
      if (path === undefined) throw new Error(`manim has written ${theirs.join(', ')}`);
      const compare = [join(folder, 'compare.py'), path, join(ours, our)];
      const { stdout } = await run(join(BIN, 'python'), compare, { cwd: folder });
      const [one, two, difference] = JSON.parse(stdout);
      t.same(two, one, `size, rate and number of frames of ${our}`);
      t.ok(difference <= MOST_DIFFERENCE, `${our} differs by ${difference}`);
    }
  });
}

t.test('flags without a counterpart are refused with an explanation', async (t) => {
  for (const [line, why] of REFUSED) {
    const { code, stderr } = await scenepress(['render', 'scene.py', ...line.split(' ')], {
      cwd: folder,
      env,
    });
    t.match({ code, stderr }, { code: 2, stderr: why }, line);
  }
});
