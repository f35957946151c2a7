// Folders have an order, and import only those below them: values and types alike. No file imports itself by a circle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

interface Tree {
  root: string;
  /** The folders, each above those that it may import. */
  order: string[];
  /** Files beside the folders: they may import all of them, and none imports these. */
  loose: string[];
  /** Imports of types that go upwards, with the reason. */
  upwards: Record<string, string>;
}

const LIB: Tree = {
  root: 'lib',
  order: [
    ...[
      'testing',
      'web',
      'client',
      'operations',
      'local',
      'service',
      'postgres',
      'data-folder',
      'sql',
      'webhooks',
    ],
    ...[
      'classroom',
      'scenes',
      'jobs',
      'cluster',
      'render',
      'speech',
      'owner-files',
      'shares',
      'assets',
      'ledger',
      'databases',
      'accounts',
      'tracing',
      'storage',
      'keys',
      'files',
      'model',
    ],
    ...['time', 'async', 'base'],
  ],
  loose: ['index.ts', 'internal-service.ts', 'internal.ts', 'operations.ts'],
  upwards: {},
};

/** How a job goes through the library, and a render through its processes. */
const JOBS: Tree = {
  root: 'lib/jobs',
  order: ['search', 'run', 'snapshots', 'watch', 'end', 'accept', 'fairness'],
  loose: [],
  upwards: {},
};
const RENDER: Tree = {
  root: 'lib/render',
  order: [
    'pool',
    'reading',
    'run',
    'end',
    'trial',
    'tex',
    'start',
    'sandbox',
    'setup',
    'environment',
    'counters',
  ],
  loose: [],
  upwards: {},
};

const APPLIANCE: Tree = {
  root: 'appliance',
  order: [
    ...[
      'cli',
      'doctor',
      'runtime',
      'first-start',
      'app',
      'watch',
      'dashboard',
      'http',
      'mcp',
      'metrics',
      'admin',
      'machines',
      'edge',
    ],
    ...['traces', 'place', 'packed', 'config', 'support'],
  ],
  loose: ['main.ts'],
  upwards: {
    'dashboard → app': 'pages are given the whole installation',
    'http → app': 'the server is given the whole installation',
    'admin → app': 'the first account is made in an installation that is being opened',
    'admin → http': 'operations return the health that the server shows',
    'admin → metrics': 'operations return the figures that the server shows',
    'support → config': 'the log is opened as configured',
  },
};

const ROOT = join(import.meta.dirname, '../..');
const IMPORT =
  /^(?:import|export)\b(?<type>\s+type\b)?(?<names>[^;']*?)\bfrom '(?<path>\.[^']+)'|^import '(?<bare>\.[^']+)'/gm;

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

for (const { root, order, loose, upwards } of [LIB, JOBS, RENDER, APPLIANCE]) {
  const files = sourcesOf(root);
  const imports = files.flatMap((file) => importsOf(root, file));

  t.test(`${root} consists of the folders and files of the list`, async (t) => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== ''));
    t.same([...folders].sort(), [...order].sort());
    t.same(
      files.filter((file) => folderOf(file) === ''),
      loose,
    );
  });

  t.test(`folders of ${root} import those below them only`, async (t) => {
    const found = new Set<string>();
    for (const { from, to, isType } of imports) {
      const [folder, used] = [folderOf(from), folderOf(to)];
      if (folder === '' || folder === used) continue;
      if (used !== '' && order.indexOf(folder) < order.indexOf(used)) continue;
      const arrow = `${folder} → ${used}`;
      found.add(arrow);
      t.ok(isType && Object.hasOwn(upwards, arrow), `${root}/${from} imports ${to}`);
    }
    t.same([...found].sort(), Object.keys(upwards).sort(), 'the list has no others');
  });

  if (root !== 'appliance')
    t.test(`no file of ${root} imports itself by a circle`, async (t) => {
      const used = Map.groupBy(imports, ({ from }) => from);
      const done = new Set<string>();
      const visit = (file: string, path: string[]): void => {
        if (path.includes(file)) t.fail([...path.slice(path.indexOf(file)), file].join(' imports '));
        if (done.has(file) || path.includes(file)) return;
        for (const { to } of used.get(file) ?? []) visit(to, [...path, file]);
        done.add(file);
      };
      for (const file of files) visit(file, []);
      t.ok(done.size > 10);
    });
}

function sourcesOf(root: string): string[] {
  const names = readdirSync(join(ROOT, root), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).sort();
}

/** What a file imports of the same tree. */
function importsOf(root: string, file: string): Import[] {
  const found = readFileSync(join(ROOT, root, file), 'utf8').matchAll(IMPORT);
  return [...found]
    .map(({ groups = {} }) => {
      const { type, names = '', path, bare } = groups;
      const listed = names
        .replaceAll(/[{}\s]/g, ' ')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean);
      const isType =
        type !== undefined || (listed.length > 0 && listed.every((name) => name.startsWith('type ')));
      return {
        from: file,
        to: relative(join(ROOT, root), join(ROOT, root, dirname(file), path ?? bare ?? '')),
        isType,
      };
    })
    .filter(({ to }) => !to.startsWith('..'));
}

function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
}
