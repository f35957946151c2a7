import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import t from 'tap';
import { readManimConfig } from '../../appliance/cli/manim-config.ts';
import { addManimFlags, playRange, readManimFlags, resolution } from '../../appliance/cli/manim-flags.ts';
import { formatOf, isFolder, targetsOf } from '../../appliance/cli/render-output.ts';
import { testFolder } from '../fixtures/test-folder.ts';

t.test('the extension of the output selects the format, and contradictions are refused', async (t) => {
  t.equal(formatOf({}), 'mp4');
  t.equal(formatOf({ transparent: true }), 'mov');
  t.equal(formatOf({ save_last_frame: true }), 'png');
  t.equal(formatOf({ out: 'a/b.WebM' }), 'webm');
  t.equal(formatOf({ out: 'lesson.1' }), 'mp4');
  t.equal(formatOf({ out: 'videos.gif/' }), 'mp4');
  for (const [flags, message] of [
    [{ out: 'x.gif', format: 'webm' }, /--format webm doesn't fit x\.gif/],
    [{ out: 'x.mp4', transparent: true }, /MP4 has no transparency/],
    [{ save_last_frame: true, save_sections: true }, /needs a video/],
    [{ save_last_frame: true, format: 'gif' }, /-s is --format png/],
    [{ format: 'gif', thumbnail: 'x.jpg' }, /--thumbnail needs --format mp4/],
    [{ format: 'avi' }, /There is no format avi/],
    [{ out: 'x.jpeg' }, /\.jpeg files can't be written/],
  ] as const)
    t.throws(() => formatOf(flags), { message, exitCode: 2 });
});

t.test('files are named after the scene, or as asked for', async (t) => {
  const folder = testFolder(t);
  const target = (out: string | undefined, format: Parameters<typeof targetsOf>[1] = 'mp4') =>
    targetsOf('Hello', format, out === undefined ? {} : { out });
  t.equal(target(undefined).output, join(process.cwd(), 'Hello.mp4'));
  t.equal(target(folder, 'gif').output, join(folder, 'Hello.gif'));
  t.equal(target('new/').output, join(process.cwd(), 'new/Hello.mp4'));
  t.match(target(join(folder, 'a.b')), {
    output: join(folder, 'a.b.mp4'),
    others: { captions: join(folder, 'a.b.vtt') },
  });
  t.equal(target(join(folder, 'frames'), 'png-sequence').output, join(folder, 'frames'));
});

t.test('a path that ends with a separator is a folder', async (t) => {
  t.ok(isFolder('new/', '\\'));
  t.ok(isFolder('new\\', '\\'));
  t.notOk(isFolder('new\\', '/'));
});

t.test('ranges and sizes are read as manim reads them', async (t) => {
  t.same(playRange('2'), { firstPlay: 2, lastPlay: -1 });
  for (const text of ['2,4', '2-4', '2;4']) t.same(playRange(text), { firstPlay: 2, lastPlay: 4 });
  t.throws(() => playRange('4-x'), /Name the first play/);
  t.same(resolution('320,240'), { width: 320, height: 240 });
  t.throws(() => resolution('large'), /Name width and height/);
});

t.test('other flags of manim are accepted, or answered with ours', async (t) => {
  const read = async (...args: string[]) => {
    const command = addManimFlags(new Command('render').exitOverride().configureOutput({ writeErr() {} }));
    await command.option('-o, --out <file>').parseAsync(args, { from: 'user' });
    readManimFlags(command.opts());
    return command.opts();
  };
  t.equal((await read('--output_file', 'a.mp4'))['out'], 'a.mp4');
  await read('--silent', '--renderer', 'cairo', '-v', 'DEBUG');
  await t.rejects(read('--renderer', 'opengl'), /drawn by Cairo only/);
  await t.rejects(read('--media_dir', 'x'), { message: /lacks\. .*-o FOLDER/, exitCode: 2 });
  await t.rejects(read('-f'), /To open the result: -p/);
});

t.test('manim.cfg sets the defaults of flags and the settings of scenes', async (t) => {
  const folder = testFolder(t);
  mkdirSync(join(folder, 'home'));
  const file = join(folder, 'custom.cfg');
  writeFileSync(
    file,
    `# a comment
[CLI]
pixel_width = 320
pixel_height : 160
frame_rate = 10
background_color=WHITE
save_sections = True
media_dir = ./media
disable_caching = True
; another
[logger]
log_width = 3
[ffmpeg]
loglevel = ERROR
`,
  );
  t.same(readManimConfig(file), {
    flags: { sizePx: { width: 320, height: 160 }, fps: 10, disableCaching: true, saveSections: true },
    settings: { background_color: 'WHITE', frame_width: '16' },
    ignored: ['section [ffmpeg]', 'media_dir (use -o FOLDER/)'],
  });
  t.throws(() => readManimConfig(join(folder, 'none.cfg')), /configuration can't be read/);
});
