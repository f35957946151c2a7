import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { LocalRenderer, sceneFolderOf } from '../../lib/index.ts';
import { scenepress } from '../appliance/command.ts';
import { render, scene, startService } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>';
const LESSON = `from pathlib import Path
from manim import *
import helpers


class Lesson(Scene):
    def construct(self):
        self.add(helpers.badge(), SVGMobject("pictures/mark.svg"), SVGMobject("media/drawing.svg"), Tex(r"\\input{words}"))
        assert open("data.csv").read() == "1,2"
        assert (Path(__file__).parent / "data.csv").read_text() == "1,2"
        assert helpers.__file__ and __name__ == "lesson", (helpers.__file__, __name__)
        Path("new.txt").write_text("scratch")
        for changed in ("data.csv", "pictures/new.svg", "pictures/mark.svg"):
            try:
                open(changed, "a").close()
            except OSError:
                continue
            raise ValueError(changed + " could be written")
        for hidden in ("../secret", "out", "/etc/passwd"):
            try:
                open(hidden).close()
            except OSError:
                continue
            raise ValueError(hidden + " could be read")
        self.wait(0.1)
`;

/** A folder `lessons` with a file `lesson.py` and what it uses, in a folder with a secret. */
async function project(t: Test): Promise<string> {
  const parent = await temporaryFolder(t);
  const folder = join(parent, 'lessons');
  for (const name of ['', 'pictures', 'media']) await mkdir(join(folder, name));
  await writeFile(join(parent, 'secret'), 'secret');
  await symlink('../secret', join(folder, 'out'));
  await writeFile(join(folder, 'lesson.py'), LESSON);
  // The names of the renderer's own module and of a module of Python.
  await writeFile(join(folder, 'scene.py'), 'SIDE = 2\n');
  const helpers = 'from manim import Square\nfrom scene import SIDE\ndef badge(): return Square(SIDE)\n';
  await writeFile(join(folder, 'helpers.py'), helpers);
  await writeFile(join(folder, 'data.csv'), '1,2');
  await writeFile(join(folder, 'words.tex'), 'words');
  await writeFile(join(folder, 'pictures/mark.svg'), DRAWING);
  await writeFile(join(folder, 'media/drawing.svg'), DRAWING);
  for (const path of [parent, folder]) await chmod(path, 0o755);
  return folder;
}

t.test('a scene reads the folder of its file, and changes nothing in it', async (t) => {
  const cwd = await project(t);
  const before = await readdir(cwd, { recursive: true });
  const { code, stderr } = await scenepress(['render', 'lesson.py', '-ql'], { cwd });
  t.equal(code, 0, stderr);
  const after = await readdir(cwd, { recursive: true });
  t.strictSame(
    after.filter((name) => !before.includes(name)),
    ['Lesson.mp4'],
  );
  t.equal(await readFile(join(cwd, 'data.csv'), 'utf8'), '1,2');
});

t.test('--folder names another folder, --no-folder none, and errors name the flag', async (t) => {
  const folder = await project(t);
  const cwd = join(folder, '..');
  await writeFile(
    join(folder, 'nested.py'),
    `from manim import *
import helpers
from pathlib import Path
class Nested(Scene):
    def construct(self):
        assert open("lessons/data.csv").read() == (Path(__file__).parent / "data.csv").read_text()
        open("missing.csv")
`,
  );
  const nested = await scenepress(['render', 'lessons/nested.py', '--folder', '.', '-ql'], { cwd });
  t.match(
    nested.stderr,
    /FileNotFoundError: .*'missing\.csv'\nline 7: .*\nScenes can read the files of \S+ and no others.*--folder DIR/,
  );
  const without = await scenepress(['render', 'lessons/lesson.py', '--no-folder'], { cwd });
  t.match(without.stderr, /ModuleNotFoundError: No module named 'helpers'(.|\n)*of a folder: --folder DIR/);
  t.equal(without.code, 1);
  const piped = await scenepress(['render', '-', '-ql'], { cwd: folder, stdin: LESSON });
  t.match(piped.stderr, /No module named 'helpers'(.|\n)*--folder DIR/);
  const absent = await scenepress(['render', 'lessons/lesson.py', '--folder', 'nowhere'], { cwd });
  t.equal(absent.code, 2);
  t.match(absent.stderr, /There is no folder \S+nowhere/);
  const root = await scenepress(['render', 'lessons/lesson.py', '--folder', '/'], { cwd });
  t.equal(root.code, 2);
});

t.test('served jobs have no such folder', async (t) => {
  t.match((await scenepress(['serve', '--folder', '.'])).stderr, /unknown option '--folder'/);
  const service = await startService(t, { workers: 1 });
  const code = scene(
    'raise ValueError([name for name in os.environ if "SCENE" in name], os.listdir("/scenepress"))',
  );
  t.notMatch((await render(service, { code })).error, /SCENEPRESS_|'scene'/);
});

t.test('a local renderer ends its renders when it is stopped or their signal aborts', async (t) => {
  const folder = await temporaryFolder(t);
  const renderer = new LocalRenderer({ folder, workers: 1, sceneFolder: sceneFolderOf(null, folder) });
  t.teardown(() => renderer.stop());
  await renderer.start();
  const code = scene('self.wait(0.1)', 'while True: self.wait(1)');
  const request = { code, className: 'Main', quality: 'low' } as const;
  const canceled = new AbortController();
  const onProgress = () => canceled.abort(new Error('enough'));
  await t.rejects(renderer.render(request, { signal: canceled.signal, onProgress }), { message: 'enough' });
  await t.rejects(renderer.render(request, { signal: canceled.signal }), { message: 'enough' });
  const stopping = t.rejects(renderer.render(request, { onProgress: () => void renderer.stop() }), {
    code: 'not_running',
  });
  await stopping;
  await renderer.stop();
  t.strictSame(await readdir(folder), []);
});
