import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RenderService } from '../../../lib/index.ts';
import { scenepress } from '../../appliance/command.ts';
import { render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SECRET = 'the content of a secret file';
const HELPERS = `from manim import Square
def badge(): return Square()
`;
/** One red pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>';

/** A tenth of a second of silence: 8000 Hz, 8 bits. */
function sound(): Buffer {
  const wave = Buffer.alloc(44 + 800, 0x80);
  wave.write('RIFF').toString();
  wave.writeUInt32LE(36 + 800, 4);
  wave.write('WAVEfmt ', 8);
  for (const [place, value] of [
    [16, 16],
    [24, 8000],
    [28, 8000],
    [40, 800],
  ] as const)
    wave.writeUInt32LE(value, place);
  for (const [place, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    wave.writeUInt16LE(value, place);
  wave.write('data', 36);
  return wave;
}

/** DejaVu Sans under a name of the same length. */
function font(name: string): Buffer {
  const bytes = readFileSync('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf');
  for (const encoding of ['latin1', 'utf16le'] as const) {
    const swap = (text: string) =>
      encoding === 'latin1' ? Buffer.from(text) : Buffer.from(text, encoding).swap16();
    for (let place = bytes.indexOf(swap('DejaVu')); place >= 0; place = bytes.indexOf(swap('DejaVu'))) {
      swap(name).copy(bytes, place);
    }
  }
  return bytes;
}

const USES_ALL = [
  'import studio_helpers',
  'self.add(studio_helpers.badge(), ImageMobject("logo.png"), ImageMobject("deep/er/logo"), SVGMobject("mark.svg"))',
  'self.add_sound("ding.wav")',
  'self.add(Text("x", font="Studio Sans"))',
  'import manimpango',
  'assert "Studio Sans" in manimpango.list_fonts()',
  'template = TexTemplate()',
  'template.add_to_preamble(r"\\usepackage{studio}")',
  'self.add(Tex(r"\\studio", tex_template=template))',
  'self.wait(0.2)',
];

function fill(folder: string): void {
  mkdirSync(join(folder, 'assets/deep/er'), { recursive: true });
  for (const part of ['python', 'fonts', 'texmf/tex/latex'])
    mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'texmf/tex/latex/studio.sty'), '\\newcommand{\\studio}{Studio}\n');
  writeFileSync(join(folder, 'python/studio_helpers.py'), HELPERS);
  writeFileSync(join(folder, 'assets/logo.png'), PICTURE);
  writeFileSync(join(folder, 'assets/deep/er/logo.png'), PICTURE);
  writeFileSync(join(folder, 'assets/mark.svg'), DRAWING);
  writeFileSync(join(folder, 'assets/ding.wav'), sound());
  writeFileSync(join(folder, 'fonts/studio.ttf'), font('Studio'));
}

const closed = join(testFolder(t, { closed: {}, secret: SECRET, studio: {} }), 'closed');
chmodSync(closed, 0o700);
const folder = join(closed, 'data');
const service = await startService(t, { folder, workers: 1 });

t.test('a start creates empty folders for the studio’s material', async (t) => {
  for (const part of ['fonts', 'python', 'assets', 'texmf']) t.same(readdirSync(join(folder, part)), []);
  t.match(await render(service, { code: scene('import studio_helpers') }), {
    error:
      /^ModuleNotFoundError: No module named 'studio_helpers'\. Scenes can import .* python\/\.\nline 6: /,
  });
});

t.test(
  'material added while the service runs is available to the next job, whatever its file modes',
  async (t) => {
    fill(folder);
    for (const part of [
      'assets/deep/er/logo.png',
      'python/studio_helpers.py',
      'fonts/studio.ttf',
      'assets/ding.wav',
      'texmf/tex/latex/studio.sty',
    ])
      chmodSync(join(folder, part), 0o600);
    for (const part of ['assets/deep', 'fonts']) chmodSync(join(folder, part), 0o700);
    t.match(await render(service, { code: scene(...USES_ALL) }), {
      status: 'completed',
      error: null,
      attempts: 1,
    });
    t.match(await render(service, { code: scene(...USES_ALL), aspectRatio: '9:16' }), { error: null });
  },
);

t.test('a font added later is available to the next job, and a removed one is not', async (t) => {
  const has = (name: string) =>
    scene('import manimpango', `assert "${name} Sans" in manimpango.list_fonts()`, 'self.wait(0.2)');
  mkdirSync(join(folder, 'fonts/new'));
  writeFileSync(join(folder, 'fonts/new/a.ttf'), font('Second'));
  t.match(await render(service, { code: has('Second') }), { error: null, attempts: 1 });
  rmSync(join(folder, 'fonts/new/a.ttf'));
  t.match(await render(service, { code: has('Second') }), { error: /^AssertionError/ });
  t.match(await render(service, { code: has('Studio') }), { error: null });
});

t.test('a folder that was replaced is read again', async (t) => {
  rmSync(join(folder, 'python'), { recursive: true });
  t.match(await render(service, { code: scene('import studio_helpers') }), { error: /^ModuleNotFoundError/ });
  fill(folder);
  t.match(await render(service, { code: scene(...USES_ALL) }), { error: null });
});

t.test('a scene may set another assets folder', async (t) => {
  const code = scene(...USES_ALL).replace(
    'class Main',
    'config.assets_dir = "/studio/assets/deep/er"\nclass Main',
  );
  t.match(await render(service, { code }), { error: /^OSError: could not find 'logo.png' |mark.svg/s });
});

t.test('scenes cannot write to the studio’s material', async (t) => {
  const code = scene(
    'through = []',
    'for place in ("", "/fonts", "/python", "/assets", "/assets/deep", "/python/__pycache__", "/texmf"):',
    '    for attack in (lambda: open(f"/studio{place}/x", "w"), lambda: os.mkdir(f"/studio{place}/y"),',
    '                   lambda: os.rename("/studio/assets/logo.png", f"/studio{place}/z"),',
    '                   lambda: os.chmod(f"/studio{place}", 0o777)):',
    '        try: attack()',
    '        except OSError: continue',
    '        through.append(place)',
    'for attack in (lambda: open("/studio/assets/logo.png", "r+"), lambda: os.remove("/studio/assets/logo.png"),',
    '               lambda: os.link("/studio/assets/logo.png", "logo.png"), lambda: os.utime("/studio/assets/logo.png"),',
    '               lambda: os.truncate("/studio/assets/logo.png", 0)):',
    '    try: attack()',
    '    except OSError: continue',
    '    through.append("file")',
    'raise ValueError(through)',
  );
  t.match(await render(service, { code }), { error: /^ValueError: \[\]\n/ });
  t.same(readdirSync(join(folder, 'assets')).sort(), ['deep', 'ding.wav', 'logo.png', 'mark.svg']);
});

t.test('links in the studio’s material do not lead out of it', async (t) => {
  symlinkSync(join(closed, '../secret'), join(folder, 'assets/link'));
  symlinkSync('../../../secret', join(folder, 'assets/relative'));
  symlinkSync('../work', join(folder, 'python/work'));
  symlinkSync('../lock', join(folder, 'fonts/lock.ttf'));
  const code = scene(
    'seen = []',
    'for name in ("assets/link", "assets/relative", "fonts/lock.ttf", "python/work"):',
    '    for look in (lambda: open(f"/studio/{name}").read(), lambda: os.stat(f"/studio/{name}"),',
    '                 lambda: os.listdir(f"/studio/{name}")):',
    '        try: seen.append(look())',
    '        except OSError: pass',
    'raise ValueError(seen)',
  );
  t.match(await render(service, { code }), {
    error: /^ValueError: \[\]\n/,
  });
});

t.test('modules of the studio cannot shadow those of Manim or the renderer', async (t) => {
  const python = join(folder, 'python');
  for (const name of [
    'numpy',
    'manim',
    'json',
    'scene_renderer',
    'sitecustomize',
    'usercustomize',
    'scene',
    'av',
  ]) {
    writeFileSync(join(python, `${name}.py`), 'raise RuntimeError("shadowed")');
  }
  writeFileSync(join(python, 'broken.py'), 'x = 1\nraise RuntimeError("broken")\n');
  writeFileSync(join(python, 'evil.pth'), 'import os; os._exit(3)\n');
  t.match(await render(service, { code: scene(...USES_ALL) }), { error: null });
  t.match(await render(service, { code: scene('import broken') }), {
    error: 'RuntimeError: broken\nline 6: import broken',
  });
  t.match(await render(service, { aspectRatio: '9:16' }), { error: null }, 'another zygote starts');
});

t.test('an embedder may configure another folder, whose subfolders are optional', async (t) => {
  const studio = join(closed, '../studio');
  mkdirSync(join(studio, 'python'));
  writeFileSync(join(studio, 'python/studio_helpers.py'), HELPERS);
  const code = scene('import studio_helpers', 'self.add(studio_helpers.badge())', 'self.wait(0.2)');
  const own = testFolder(t);
  const another = await startService(t, { folder: own, studioFolder: studio, workers: 1 });
  t.match(await render(another, { code }), { error: null });
  await another.stop();
  t.notOk(readdirSync(own).includes('python'), 'none in the data folder');
  t.same(readdirSync(studio), ['python'], 'nothing is created there');
  await t.rejects(new RenderService({ folder: own, studioFolder: join(studio, 'no') }).start(), {
    code: 'renderer_unavailable',
    message: /studio folder .*no does not exist/,
  });
});

t.test('`scenepress render` accepts a folder of studio material', async (t) => {
  const cwd = testFolder(t, {
    'scene.py': scene('import studio_helpers', 'self.add(ImageMobject("logo.png"))', 'self.wait(0.2)'),
  });
  fill(join(cwd, 'brand'));
  const args = ['render', 'scene.py', 'Main', '-q', 'low', '--studio-dir', 'brand'];
  const { code, stderr } = await scenepress(args, { cwd });
  t.equal(code, 0, stderr);
});
