// Rules for the repository as a whole.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const git = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
// Without git there is no list of tracked files.
const skip = git.status === 0 ? false : 'not a git checkout';
const files = git.stdout
  .split('\0')
  .filter((file) => file && statSync(join(root, file), { throwIfNoEntry: false }));
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

t.test('there are no unexpected top-level entries', { skip }, async (t) => {
  const agreed = ['appliance', 'lib', 'renderer', 'scripts', 'test', 'CHANGELOG.md', 'LICENSE', 'README.md'];
  for (const entry of new Set(files.map((file) => file.split('/')[0] ?? ''))) {
    t.ok(agreed.includes(entry) || entry.startsWith('.') || /\.json$|\.config\.\w+$/.test(entry), entry);
  }
});

t.test('no file contains an absolute path of a development machine', { skip }, async (t) => {
  // Written so that it does not match this file.
  const places = /(?<![\w.$}/-])\/(?:home\/(?!user\b|nonroot\b)\w|root\/\w|work\/\w|Users\/\w|tmp\/v\/)/;
  t.same(
    files.filter((file) => !file.endsWith('repository.test.ts') && places.test(text(file))),
    [],
  );
});

t.test('lock files contain no registry URLs', { skip }, async (t) => {
  const locks = files.filter((file) => /(\.lock|package-lock\.json|\.npmrc)$/.test(file));
  t.ok(locks.length >= 4);
  for (const file of locks) {
    const hosts = text(file).match(/^.*"resolved": "|^.*(?:--(?:index-url|find-links)|registry=).*/gm) ?? [];
    t.same(hosts, [], file);
  }
});

t.test('the npm locks contain every dependency', async (t) => {
  type Entry = { dependencies?: object; optionalDependencies?: object };
  for (const lock of [
    'package-lock.json',
    'scripts/bench/package-lock.json',
    'scripts/mutation/package-lock.json',
  ]) {
    const { packages } = JSON.parse(text(lock)) as { packages: Record<string, Entry> };
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((name) => !isReachable(packages, path, name))
        .map((name) => `${path} needs ${name}`),
    );
    t.same(missing, [], lock);
  }
});

t.test('there are no large media files', { skip }, async (t) => {
  const media = files.filter((file) =>
    /\.(mp4|webm|mov|gif|png|jpe?g|webp|wav|mp3|pdf|ttf|otf|woff2?)$/i.test(file),
  );
  t.same(
    media.filter((file) => statSync(join(root, file)).size > 200_000),
    [],
  );
});

t.test(
  'sources of lib and appliance are short: at most 400 lines each, half of them under 110',
  { skip },
  async (t) => {
    const lines = files
      .filter((file) => /^(lib|appliance)\/.*\.ts$/.test(file))
      .map((file) => ({ file, count: text(file).trimEnd().split('\n').length }))
      .sort((a, b) => a.count - b.count);
    t.same(
      lines.filter(({ count }) => count > 400),
      [],
    );
    const median = lines[Math.floor(lines.length / 2)]?.count ?? Number.NaN;
    t.ok(median < 110, `the median is ${median}`);
  },
);

t.test('every relative link in Markdown has an existing file and heading as target', { skip }, async (t) => {
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    const links = withoutCode(text(page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? page : join(dirname(page), path);
      const found = statSync(join(root, target), { throwIfNoEntry: false });
      t.ok(found && (anchor === undefined || anchorsOf(text(target)).has(anchor)), `${page}: ${link}`);
    }
  }
});

t.test('every section of the contract that is cited exists', { skip }, async (t) => {
  const sections = [...text('appliance/render-api.md').matchAll(/^#+ ([\d.]*\d)/gm)].map(
    ([, number]) => number,
  );
  for (const file of files.filter((name) => /\.(ts|md)$/.test(name))) {
    for (const [citation, number] of text(file).matchAll(/contract §([\d.]*\d)/g))
      t.ok(sections.includes(number), `${file}: ${citation}`);
  }
});

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```/gms, '');
}

/** The anchors that GitHub generates for headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = withoutCode(markdown).matchAll(/^#+ (.+)$/gm);
  const anchor = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
  return new Set([...headings].map(([, heading = '']) => anchor(heading)));
}

/** Resolves as Node does: in the package's own node_modules, then in those of each parent folder. */
function isReachable(packages: object, path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (Object.hasOwn(packages, `${at && `${at}/`}node_modules/${name}`)) return true;
    if (at === '') return false;
  }
}
