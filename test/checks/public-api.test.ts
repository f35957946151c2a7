import { readFileSync } from 'node:fs';
import t from 'tap';
import { publicApi, readApi, SNAPSHOT } from '../../scripts/public-api.ts';
import { reference } from '../../scripts/reference.ts';

const api = readApi();

t.test('the public API is as recorded in public-api.txt', async (t) => {
  const lines = publicApi(api).split('\n');
  const recorded = readFileSync(SNAPSHOT, 'utf8').split('\n');
  t.notOk(lines.some((line) => line.includes('// not found')));
  t.same(
    lines.filter((line) => !recorded.includes(line)),
    [],
    'nothing new: record it with `node scripts/public-api.ts`, and describe it in CHANGELOG.md',
  );
  t.same(
    recorded.filter((line) => !lines.includes(line)),
    [],
    'nothing missing: that would break embedders',
  );
  t.same(lines, recorded);
});

t.test('every exported class and function has an example', async (t) => {
  const isCode = (text: string) =>
    /^export (?:declare )?(?:abstract )?(?:async )?(?:class|function)/.test(text);
  const bare = [...api].flatMap(([entry, { names }]) =>
    [...names]
      .filter(([, { text, comment }]) => isCode(text) && !comment.includes('```ts\n'))
      .map(([name]) => `${entry}: ${name}`),
  );
  t.same(bare, []);
});

t.test('the root exports at most ninety names, each in a group', async (t) => {
  const names = [...(api.get('scenepress')?.names.values() ?? [])];
  t.ok(names.length <= 90, `${names.length} names`);
  t.same(
    names.filter(({ group }) => group === undefined),
    [],
  );
});

t.test('the reference has a section of each exported name, and links only to sections', async (t) => {
  const pages = reference(api);
  const sections = new Map(
    Object.entries(pages).map(([name, text]) => [
      name,
      [...text.matchAll(/^### (\w+)$/gm)].map(([, heading = '']) => heading.toLowerCase()),
    ]),
  );
  t.equal([...sections.values()].flat().length, [...api.values()].flatMap(({ names }) => [...names]).length);
  for (const [name, text] of Object.entries(pages))
    for (const [link, page, anchor = ''] of text.matchAll(/\]\(([\w-]+\.md)?#(\w+)\)/g))
      t.ok(sections.get(page ?? name)?.includes(anchor), `${name}: ${link}`);
});

t.test('every entry point has an introduction', async (t) => {
  for (const [entry, { comment }] of api) t.not(comment, '', entry);
});

t.test('every exported name has a description', async (t) => {
  const bare = [...api].flatMap(([entry, { names }]) =>
    [...names].filter(([, { comment }]) => comment === '').map(([name]) => `${entry}: ${name}`),
  );
  t.same(bare, []);
});
