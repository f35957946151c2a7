// The Python code of SKILL.md and of its references, which agents copy: it renders, and nothing of it looks wrong.
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { LocalRenderer } from '../../lib/index.ts';
import { deepTest } from '../fixtures/depth.ts';

const FOLDER = join(import.meta.dirname, '../../appliance/skill/scenepress');

const renderer = new LocalRenderer({ folder: await mkdtemp(join(tmpdir(), 'scenepress-')), workers: 1 });
t.before(() => renderer.start());
t.teardown(() => renderer.stop());

const blocks = (await Promise.all(['SKILL.md', ...(await references())].map(blocksOf))).flat();

t.test('a check finds nothing in the scenes', async (t) => {
  t.ok(blocks.length >= 9);
  for (const { name, code } of blocks) {
    const { findings, scenes } = await renderer.check(code);
    t.same(findings, [], name);
    t.equal(scenes.length, 1, name);
  }
});

t.test('the sample of an answer is true', async (t) => {
  const text = await readFile(join(FOLDER, 'SKILL.md'), 'utf8');
  const sample = JSON.parse(/^```json\n(.*?)^```/ms.exec(text)?.[1] ?? '{}');
  const line = sample.findings[0].sourceLine;
  const code = `from manim import *\n\nclass Lesson(Scene):\n    def construct(self):\n        ${line}\n`;
  t.match(await renderer.check(code), sample);
  t.equal(sample.findings[0].kind, 'scene:argument');
});

deepTest(t, 'the scenes render, and nothing of them looks wrong', async (t) => {
  for (const { name, code } of blocks) {
    const { findings, scenes } = await renderer.inspect(code);
    t.same(findings, [], name);
    const className = scenes[0]?.className ?? '';
    const render = await renderer.render({ code, className, quality: 'low' });
    t.equal(render.status, 'completed', name);
    await renderer.discard(render);
  }
});

async function references(): Promise<string[]> {
  return (await readdir(join(FOLDER, 'references'))).sort().map((name) => `references/${name}`);
}

async function blocksOf(file: string): Promise<{ name: string; code: string }[]> {
  const text = await readFile(join(FOLDER, file), 'utf8');
  return [...text.matchAll(/^```python\n(.*?)^```/gms)].map(([, code = '']) => ({
    name: `${file}: ${/class (\w+)/.exec(code)?.[1]}`,
    code,
  }));
}
