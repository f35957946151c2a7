import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeSite, PROGRAM } from '../lifecycle.ts';
import { enterNetworkNamespace, machinesUnavailable } from '../network-namespace.ts';

const LACKING = join(import.meta.dirname, '../../renderer/tex/lacking_templates.json');
/** Prints the names of the templates that fail, or leave glyphs out. */
const CODE = String.raw`
from manim import *


class Templates(Scene):
    def construct(self):
        for library in (TexTemplateLibrary, TexFontTemplates):
            for name, template in vars(library).items():
                if isinstance(template, TexTemplate) and self.glyphs(template) < 20:
                    print("lacking:", name)
        lualatex = TexTemplate(tex_compiler="lualatex", output_format=".dvi")
        print("glyphs with lualatex:", self.glyphs(lualatex))
        self.wait(0.1)

    def glyphs(self, template):
        try:
            tex = Tex(r"Text 123 $\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$", tex_template=template)
        except (ValueError, IndexError):
            return 0
        return len(tex.family_members_with_points())
`;

const skip = machinesUnavailable();
if (!skip) enterNetworkNamespace(['trixie']);

t.test('the templates of Manim that render in a checkout render in the program', { skip }, async (t) => {
  const { machine, programs } = await makeSite(t, { debian: 'trixie', user: 'root', userNamespaces: true });
  writeFileSync(join(programs, 'scene.py'), CODE);
  const scene = ['/opt/scenepress/scene.py', 'Templates', '-q', 'low', '-o', '/srv/scenepress/video.mp4'];
  const { status, stdout, stderr } = await machine.run([PROGRAM, 'render', ...scene]);
  t.equal(status, 0, stderr);
  t.match(`${stdout}${stderr}`, /glyphs with lualatex: 2\d/);
  const lacking = [...`${stdout}${stderr}`.matchAll(/lacking: (\w+)/g)].map(([, name]) => name).sort();
  t.same(lacking, Object.keys(JSON.parse(readFileSync(LACKING, 'utf8'))).sort());
});
