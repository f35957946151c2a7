import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

interface Tree {
  root: string;
  /**
   * Files at the top that assemble a service from the folders; only the folders of `above`, and each other, may import
   * them. The other files at the top are helpers for all folders, and import none.
   */
  assembly: string[];
  above: string[];
  /** The folders that a folder may import besides itself and the helpers. Types may be imported from anywhere. */
  uses: Record<string, string[]>;
}

const LIB: Tree = {
  root: join(import.meta.dirname, '../../lib'),
  assembly: [
    'index.ts',
    'internal.ts',
    'lifecycle.ts',
    'operations.ts',
    'render-service.ts',
    'service-options.ts',
    'service-parts.ts',
    'service-stores.ts',
    'upkeep.ts',
  ],
  above: ['testing'],
  uses: {
    accounts: [],
    assets: [],
    client: [],
    'data-folder': ['assets', 'documents', 'jobs', 'keys', 'sql', 'storage'],
    documents: ['accounts', 'jobs', 'settings'],
    installation: [],
    jobs: ['queue', 'render', 'storage'],
    keys: ['jobs'],
    ledger: [],
    local: ['jobs', 'render'],
    machines: [],
    migration: ['data-folder', 'installation', 'keys', 'ledger', 'machines', 'sql'],
    postgres: ['jobs', 'keys', 'machines', 'migration', 'postgres-database', 'signals', 'sql', 'storage'],
    'postgres-database': ['storage'],
    queue: [],
    recovery: ['data-folder', 'documents', 'queue', 'sql', 'storage'],
    render: [],
    settings: [],
    'sign-in': [],
    signals: [],
    sql: ['postgres-database', 'queue', 'settings', 'storage'],
    storage: [],
    testing: ['jobs', 'ledger', 'settings', 'sql'],
    web: ['jobs'],
    webhooks: ['jobs', 'storage'],
  },
};

const APPLIANCE: Tree = {
  root: join(import.meta.dirname, '../../appliance'),
  assembly: [
    'appliance.ts',
    'first-administrator.ts',
    'installation.ts',
    'main.ts',
    'renderer.ts',
    'service.ts',
  ],
  above: ['cli', 'runtime'],
  uses: {
    admin: ['edge'],
    cli: ['admin', 'config', 'doctor', 'http', 'machines', 'place', 'runtime', 'support'],
    config: [],
    dashboard: ['admin', 'config', 'edge', 'http', 'machines'],
    doctor: ['machines', 'place', 'runtime'],
    edge: ['support'],
    http: ['config', 'edge', 'metrics'],
    machines: ['config'],
    metrics: ['admin'],
    packed: [],
    place: [],
    runtime: ['admin', 'packed', 'place'],
    support: [],
  },
};

const IMPORT = /^(?:import (?!type )(?:[^;]*? from )?|export (?:\*|\{[^}]*\}) from )'(\.[^']+)'/gms;
const ONLY_TYPES = /^(?:import|export) \{(?:\s*type \w+,?)+\s*\} from/;

for (const { root, assembly, above, uses } of [LIB, APPLIANCE]) {
  const room = relative(join(import.meta.dirname, '../..'), root);
  const files = sourcesOf(root);

  t.test(`the folders of ${room} are those of the table`, async (t) => {
    t.same(
      [...new Set(files.map(folderOf).filter((folder) => folder !== ''))].sort(),
      Object.keys(uses).sort(),
    );
    t.same(
      assembly.filter((file) => !files.includes(file)),
      [],
    );
  });

  t.test(`the table of ${room} has no circles`, async (t) => {
    const done = new Set<string>();
    const visit = (folder: string, path: string[]): void => {
      t.notOk(path.includes(folder), [...path, folder].join(' imports '));
      if (done.has(folder) || path.includes(folder)) return;
      for (const used of uses[folder] ?? []) visit(used, [...path, folder]);
      done.add(folder);
    };
    for (const folder of Object.keys(uses)) visit(folder, []);
  });

  t.test(`files of ${room} import no folders above theirs`, async (t) => {
    for (const file of files) {
      const folder = folderOf(file);
      for (const used of importsOf(root, file)) {
        const usedFolder = folderOf(used);
        const mayUse =
          usedFolder !== ''
            ? usedFolder === folder || assembly.includes(file) || (uses[folder] ?? []).includes(usedFolder)
            : !assembly.includes(used) || assembly.includes(file) || above.includes(folder);
        t.ok(mayUse, `${room}/${file} imports ${used}`);
      }
    }
  });
}

function sourcesOf(root: string): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).sort();
}

/** Files of the same tree that a file imports values of. */
function importsOf(root: string, file: string): string[] {
  const path = join(root, file);
  const imports = readFileSync(path, 'utf8').matchAll(IMPORT);
  return [...imports]
    .filter(([text]) => !ONLY_TYPES.test(text))
    .map(([, target = '']) => relative(root, join(dirname(path), target)))
    .filter((used) => !used.startsWith('..'));
}

function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
}
