import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type LocalRender, LocalRenderer } from '../../lib/index.ts';
import type { LocalOutputOptions } from '../../lib/local/local-request.ts';
import { scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { inspectVideo } from '../fixtures/video.ts';

const SCENES = `from manim import *


class Moving(Scene):
    def construct(self):
        square = Square(fill_opacity=1, color=RED)
        self.next_section("first one")
        self.play(Create(square), run_time=0.4)
        self.next_section("second")
        self.play(square.animate.shift(RIGHT), run_time=0.4)
        self.wait(0.4)


class Still(Scene):
    def construct(self):
        self.add(Square())
`;

const SMALL = { width: 160, height: 90 };

async function localRenderer(t: Test): Promise<LocalRenderer> {
  const renderer = new LocalRenderer({ folder: await temporaryFolder(t), workers: 1 });
  t.teardown(() => renderer.stop());
  await renderer.start();
  return renderer;
}

const pathOf = ({ files, error }: LocalRender, name: string): string => {
  const path = files.find((file) => file.name === name)?.path;
  if (path === undefined) throw new Error(`no ${name}: ${error}`);
  return path;
};

t.test('each format has the frames of the scene, and transparency where it was asked for', async (t) => {
  const renderer = await localRenderer(t);
  const render = (output: LocalOutputOptions, className = 'Moving', code = SCENES) =>
    renderer.render({ code, className, quality: 'low', sizePx: SMALL, fps: 10, output });
  for (const [output, codec, pixelFormat] of [
    [{ format: 'webm' }, 'vp9', 'yuv420p'],
    [{ format: 'mov' }, 'h264', 'yuv420p'],
    [{ format: 'mov', transparent: true }, 'qtrle', 'argb'],
    [{ format: 'gif' }, 'gif', 'bgra'],
  ] as const) {
    const made = pathOf(await render(output), `output.${output.format}`);
    t.match(await inspectVideo(made), {
      codec,
      pixelFormat,
      widthPx: 160,
      heightPx: 90,
      fps: 10,
      frames: 12,
    });
  }
  const transparent = await render({ format: 'webm', transparent: true });
  // Matroska's element AlphaMode, set to 1.
  t.ok((await readFile(pathOf(transparent, 'output.webm'))).includes(Buffer.from('53c08101', 'hex')));

  const isTransparent = async (path: string) => (await readFile(path))[25] === 6;
  const still = await render({ format: 'png' });
  t.equal((await readFile(pathOf(still, 'output.png'))).readUInt32BE(16), 160);
  t.notOk(await isTransparent(pathOf(still, 'output.png')));
  t.ok(await isTransparent(pathOf(await render({ format: 'png', transparent: true }), 'output.png')));
  pathOf(await render({ format: 'png' }, 'Still'), 'output.png');

  const frames = pathOf(await render({ format: 'png-sequence', config: { zero_pad: '2' } }), 'frames.tar');
  const names = execFileSync('tar', ['tf', frames], { encoding: 'utf8' }).trim().split('\n');
  t.strictSame([names.length, names[0], names[11]], [12, '00.png', '11.png']);

  const video = async (made: LocalRender) => inspectVideo(pathOf(made, 'video.mp4'));
  t.match(await video(await render({ firstPlay: 1, lastPlay: 1 })), { frames: 4 });
  const sized = SCENES.replace(
    '\n\n',
    '\nconfig.pixel_width, config.pixel_height, config.frame_rate = 320, 240, 5\n',
  );
  t.match(await video(await render({}, 'Moving', sized)), { widthPx: 320, heightPx: 240, fps: 5, frames: 6 });
  const other = SCENES.replace('\n\n', '\nconfig.media_dir = "x"\n');
  const { output } = await render({ config: { background_color: 'BLUE' } }, 'Still', other);
  t.equal(output, 'scene.py:2: UserWarning: config.media_dir is ignored: use -o to name the output.\n');
});

t.test('sections become videos in a folder, with an index', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  await writeFile(
    join(cwd, 'manim.cfg'),
    '[CLI]\nframe_rate = 5\nmedia_dir = ./media\npixel_width=320\npixel_height=240\n',
  );
  const args = ['render', 'scenes.py', 'Moving', '--save_sections', '-o', 'new/folder/'];
  const { code, stdout, stderr } = await scenepress(args, { cwd });
  t.equal(code, 0, stderr);
  t.match(stderr, /Settings of manim\.cfg that have no effect here: media_dir \(use -o FOLDER\/\)\./);
  const folder = join(cwd, 'new/folder');
  t.equal(stdout, `${join(folder, 'Moving.mp4')}\n${join(folder, 'sections')}\n`);
  t.equal((await stat(join(folder, 'Moving.mp4'))).mode & 0o777, 0o644);
  t.match(await inspectVideo(join(folder, 'Moving.mp4')), { widthPx: 320, heightPx: 240, fps: 5 });
  const index = JSON.parse(await readFile(join(folder, 'sections/Moving.json'), 'utf8'));
  t.match(index, [
    { name: 'first one', video: 'Moving_0000_first-one.mp4', nb_frames: '2' },
    { name: 'second', video: 'Moving_0001_second.mp4', nb_frames: '4' },
  ]);
  t.match(await inspectVideo(join(folder, 'sections', index[1].video)), { frames: 4 });
});

t.test('pictures are written, and the result is opened', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'bin/xdg-open'), `#!/bin/sh\necho "$1" > ${cwd}/opened\n`, { mode: 0o755 });
  const env = { PATH: `${join(cwd, 'bin')}:${process.env['PATH']}` };
  const { stdout, stderr } = await scenepress(['render', 'scenes.py', 'Still', '-psql', '-o', 'a.b'], {
    cwd,
    env,
  });
  t.equal(stdout, `${join(cwd, 'a.b.png')}\n`, stderr);
  t.ok((await readdir(cwd)).includes('a.b.png'));
});

t.test('outputs that cannot be written are refused before rendering', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  for (const [args, message] of [
    [['-o', 'x.avi'], /\.avi files can't be written\. Extensions: \.mp4, \.webm/],
    [['-o', 'scenes.py/x.mp4'], /Files can't be written to \S+scenes\.py: E\w+/],
    [['--media_dir', 'x'], /--media_dir is a flag of manim that scenepress lacks\. .*-o FOLDER/],
  ] as const) {
    const { code, stderr } = await scenepress(['render', 'scenes.py', 'Moving', ...args], { cwd });
    t.equal(code, 2, stderr);
    t.match(stderr, message);
    t.notMatch(stderr, /Loading/);
  }
});
