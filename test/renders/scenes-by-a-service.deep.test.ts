import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const SCENES = `from manim import *


class Good(Scene):
    def construct(self):
        print("seen")
        self.play(FadeIn(Text("On the left").shift(7 * LEFT)), run_time=0.4)


class Broken(Scene):
    def construct(self):
        self.play(Create(Circle(radios=2)))
`;

t.test('a service finds in real scenes what the command finds', async (t) => {
  const { url, key } = await listeningAppliance(t, { renders: true });
  const cwd = await temporaryFolder(t);
  await chmod(cwd, 0o755); // As root, scenes run as another user.
  await writeFile(join(cwd, 'scenes.py'), SCENES);
  const env = { SCENEPRESS_KEY: key };
  for (const [words, code] of [
    [['check', 'scenes.py', 'Good', '--json'], 0],
    [['check', 'scenes.py'], 1],
    [['check', 'scenes.py', '--no-run', '--json'], 1],
    [['inspect', 'scenes.py', 'Good', '--json'], 0],
  ] as const) {
    const remote = await scenepress([...words, '--server', url], { cwd, env });
    const sheet = words[0] === 'inspect' && (await readFile(join(cwd, 'Good-sheet.jpg')));
    const own = await scenepress([...words, '--no-folder'], { cwd });
    t.equal(own.code, code, own.stderr);
    t.strictSame([remote.code, remote.stdout], [own.code, own.stdout], words.join(' '));
    if (sheet) t.same(sheet, await readFile(join(cwd, 'Good-sheet.jpg')));
  }
});
