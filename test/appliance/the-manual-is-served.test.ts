import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withServedLinks } from '../../appliance/http/manual-links.ts';
import { MANUAL_PATHS } from '../../appliance/http/manual-pages.ts';
import { SKILL_FILES, SKILL_FOLDER } from '../../appliance/packed/texts.ts';
import { type Answer, listeningAppliance } from './listening-appliance.ts';

const ROOT = join(import.meta.dirname, '../..');
const { ask, url } = await listeningAppliance(t);

t.test('llms.txt has a title, a summary, and links with a line each', async (t) => {
  const { status, text, headers } = await ask('/llms.txt');
  t.equal(status, 200);
  t.match(headers, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=3600' });
  t.match(text, /^# Scenepress\n\n> [^#]+\n\n[^#]+\n\n## /);
  const entries = text.slice(text.indexOf('## ')).split('\n').filter(Boolean);
  const links = entries.filter((line) => !line.startsWith('## '));
  const targets = links.map((line) => /^- \[[^\]]+\]\(([^)]+)\): .+$/.exec(line)?.[1] ?? line);
  t.strictSame(targets, [`${url}/openapi.json`, ...MANUAL_PATHS.map((path) => `${url}/manual/${path}`)]);
  for (const target of targets) t.equal((await ask(new URL(target).pathname)).status, 200, target);
  t.match((await ask('/')).json, { manual: '/llms.txt', openapi: '/openapi.json' });
});

t.test('every link of a page leads to a page and its heading', async (t) => {
  const pages = new Map<string, Answer>();
  for (const path of MANUAL_PATHS) {
    const answer = await ask(`/manual/${path}`);
    t.equal(answer.headers['content-type'], 'text/markdown; charset=utf-8', path);
    pages.set(`/manual/${path}`, answer);
  }
  let links = 0;
  for (const [path, { text }] of pages) {
    const prose = withoutCode(text);
    t.notMatch(prose, /<img|!\[/, `${path} has no pictures`);
    for (const [link, target = ''] of prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const { pathname, hash } = new URL(target, `${url}${path}`);
      const found = pages.get(pathname);
      const isThere = found && (hash === '' || anchorsOf(found.text).has(hash.slice(1)));
      if (!isThere) t.fail(`${path}: ${link}`);
      links++;
    }
  }
  t.ok(links > 150, `${links} links`);
});

t.test('all pages of the package are served', async (t) => {
  const folders = [
    ['', ['README.md', 'CHANGELOG.md']],
    ['lib', markdownIn('lib').filter((name) => !name.startsWith('reference/'))],
    ['appliance', markdownIn('appliance')],
    ['renderer', markdownIn('renderer')],
  ] as const;
  const paths = folders.flatMap(([folder, names]) => names.map((name) => join(folder, name)));
  for (const path of paths) t.ok(MANUAL_PATHS.includes(path), path);
  for (const file of SKILL_FILES) t.ok(MANUAL_PATHS.includes(`${SKILL_FOLDER}/${file}`), file);
});

t.test('a page is not sent again to who has it', async (t) => {
  const { headers } = await ask('/manual/README.md');
  const again = await ask('/manual/README.md', { headers: { 'if-none-match': String(headers['etag']) } });
  t.match(again, { status: 304, text: '' });
});

t.test('nothing but pages is served', async (t) => {
  for (const path of [
    ...['', '/', '/package.json', '/lib/index.ts', '/lib', '/README.md/', '//README.md', '/readme.md'],
    ...[
      '/../package.json',
      '/%2e%2e/package.json',
      '/..%2fpackage.json',
      '/lib/../package.json',
      '/%00',
      '/%zz',
    ],
  ]) {
    const { status, text } = await ask(`/manual${path}`);
    t.equal(status, 404, path);
    t.notMatch(text, /scenepress":|# Scenepress|ENOENT/, path);
  }
});

t.test('a server without the role api has no manual', async (t) => {
  const upkeep = await listeningAppliance(t, { roles: ['upkeep'] });
  for (const path of ['/llms.txt', '/manual/README.md']) t.equal((await upkeep.ask(path)).status, 404, path);
});

t.test('links to what is not served become text, except in code', async (t) => {
  const page = [
    'A [page](../lib/README.md#a), [a `file[0]`](main.ts), [here](#b), [there](https://example.org/x.ts).',
    '![A picture](x.jpg)',
    '```md\n[a file](main.ts)\n```',
  ].join('\n');
  t.equal(
    withServedLinks(page, 'appliance/README.md', (path) => path === 'lib/README.md'),
    [
      'A [page](../lib/README.md#a), a `file[0]`, [here](#b), [there](https://example.org/x.ts).',
      '```md\n[a file](main.ts)\n```',
    ].join('\n'),
  );
});

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md') && readFileSync(join(ROOT, folder, name)).length > 0);
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^[ \t]*```.*?^[ \t]*```/gms, '');
}

/** The anchors that GitHub generates for headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = withoutCode(markdown).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
