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
// A tree without its history has no list of its files.
const skip = git.status === 0 ? false : 'not a git checkout';
const files = git.stdout
  .split('\0')
  .filter((file) => file && statSync(join(root, file), { throwIfNoEntry: false }));
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

t.test('every top-level entry has its reason', { skip }, async (t) => {
  const agreed = ['appliance', 'lib', 'renderer', 'scripts', 'test', 'CHANGELOG.md', 'LICENSE', 'README.md'];
  for (const entry of new Set(files.map((file) => file.split('/')[0] ?? ''))) {
    t.ok(agreed.includes(entry) || entry.startsWith('.') || /\.json$|\.config\.\w+$/.test(entry), entry);
  }
});

t.test('no file names a place on somebody’s machine', { skip }, async (t) => {
  // Written so that this file doesn't find itself.
  const places = /(?<![\w.$}/-])\/(?:home\/(?!user\b)\w|root\/\w|work\/\w|Users\/\w|tmp\/v\/)/;
  t.same(
    files.filter((file) => !file.endsWith('repository.test.ts') && places.test(text(file))),
    [],
  );
});

t.test('the locks name no registry', { skip }, async (t) => {
  const locks = files.filter((file) => /(\.lock|package-lock\.json|\.npmrc)$/.test(file));
  t.ok(locks.length >= 4);
  for (const file of locks) {
    const hosts = text(file).match(/^.*"resolved": "|^.*(?:--(?:index-url|find-links)|registry=).*/gm) ?? [];
    t.same(hosts, [], file);
  }
});

t.test('the npm locks have no holes, which npm would refuse elsewhere', async (t) => {
  type Entry = { dependencies?: object; optionalDependencies?: object };
  for (const lock of ['package-lock.json', 'scripts/bench/package-lock.json']) {
    const { packages } = JSON.parse(text(lock)) as { packages: Record<string, Entry> };
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((name) => !isReachable(packages, path, name))
        .map((name) => `${path} needs ${name}`),
    );
    t.same(missing, [], lock);
  }
});

t.test('no large media', { skip }, async (t) => {
  const media = files.filter((file) =>
    /\.(mp4|webm|mov|gif|png|jpe?g|webp|wav|mp3|pdf|ttf|otf|woff2?)$/i.test(file),
  );
  t.same(
    media.filter((file) => statSync(join(root, file)).size > 200_000),
    [],
  );
});

t.test('every relative link of a page leads to a file and a heading', { skip }, async (t) => {
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    const links = withoutCode(text(page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? page : join(dirname(page), path);
      const found = statSync(join(root, target), { throwIfNoEntry: false });
      t.ok(found && (anchor === undefined || anchorsOf(text(target)).has(anchor)), `${page}: ${link}`);
    }
  }
});

t.test('every section that comments cite is in the contract', { skip }, async (t) => {
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

/** As GitHub makes them of headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = withoutCode(markdown).matchAll(/^#+ (.+)$/gm);
  const anchor = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
  return new Set([...headings].map(([, heading = '']) => anchor(heading)));
}

/** Looks as Node does: in the package's own node_modules, then in those of each folder above. */
function isReachable(packages: object, path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (Object.hasOwn(packages, `${at && `${at}/`}node_modules/${name}`)) return true;
    if (at === '') return false;
  }
}
