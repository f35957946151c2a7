import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generated } from '../../scripts/skill-references.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'appliance/skill/scenepress');
const MOST_BYTES = 62_000;

t.test('the references of the skill are current; else run: node scripts/skill-references.ts', async (t) => {
  const pages = Object.entries(generated());
  t.equal(pages.length, 6);
  for (const [path, text] of pages) {
    t.ok(readFileSync(join(ROOT, path), 'utf8') === text, path);
    t.ok(Buffer.byteLength(text) <= MOST_BYTES, `${path} is short`);
    t.notMatch(text, /<[a-z ]+ at 0x|:class:|:meth:|(?<!`)``(?!`)/, `${path} is plain Markdown`);
  }
});

t.test('SKILL.md has the form that agents read', async (t) => {
  const text = readFileSync(join(FOLDER, 'SKILL.md'), 'utf8');
  const [, front = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  const [name, description, ...others] = front.split('\n');
  t.equal(name, 'name: scenepress', 'the name is that of the folder');
  t.match(description, /^description: .+/);
  t.same(others, []);
  // A token has four characters on average, in English text.
  t.ok(front.length / 4 < 100, 'name and description are short');
  t.ok(body.split('\n').length < 500);
  for (const path of Object.keys(generated())) t.match(body, `](references/${path.split('/').at(-1)})`);
});
