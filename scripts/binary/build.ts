/**
 * Builds the single executable: service, command line and renderer root in one file for Linux on x64.
 *
 *   npm run build:binary [-- options of build:root] → build/scenepress, with its hash, the list of its components
 *   (manifest.json) and the licence notices (THIRD-PARTY.txt)
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { MANUAL_PATHS } from '../../appliance/http/manual-pages.ts';
import { PACKED_TEXTS } from '../../appliance/packed/texts.ts';
import { type Segment, type Tool, trailerOf } from '../../lib/render/setup/archive.ts';
import { bundle as bundleOfPlayground } from '../dashboard-assets.ts';
import { buildRoot } from '../root/build.ts';
import { BuildError } from '../root/build-error.ts';
import { commandLine, type RootOptions } from '../root/command-line.ts';
import { EPOCH_SECONDS } from '../root/epoch.ts';
import { packagesOf, writeLists } from './lists.ts';
import { checkSize } from './size.ts';

const PROJECT = join(import.meta.dirname, '../..');
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';
/** Folder of the lists of components in the root; extended by those of the program. */
const LISTS = 'usr/share/scenepress';
const MAIN = 'main';
/** Entry points of threads. The program finds them by file name in its own folder. */
const THREADS = [
  'lib/render/pool/thread.ts',
  'lib/webhooks/sending-thread.ts',
  'lib/databases/sqlite/background-thread.ts',
  'node_modules/piscina/dist/worker.js',
].map((path) => ({ in: path, out: parse(path).name }));
/** Packages that most starts don't need, each in a file of its own. */
const DRIVERS: { [name: string]: { in: string; for: string[] } } = {
  pg: { in: 'pg', for: ['pg'] },
  s3: { in: 'scripts/binary/s3.ts', for: ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner'] },
  otel: {
    in: 'scripts/binary/otel.ts',
    for: [
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-node',
    ],
  },
  // Has the same names as the exporter of protobuf.
  'otel-json': {
    in: '@opentelemetry/exporter-trace-otlp-http',
    for: ['@opentelemetry/exporter-trace-otlp-http'],
  },
};
/** Files of the root that unpacking needs. */
const TOOLS = ['ld-linux-x86-64.so.2', 'libc.so.6', 'libacl.so.1', 'libselinux.so.1', 'libpcre2-8.so.0'];
const COPY_BYTES = 8 * 1024 * 1024;

export function buildBinary(options: RootOptions): string {
  const output = resolve(options.output);
  const root = buildRoot(options);
  const work = mkdtempSync(join(output, 'work-'));
  try {
    const tree = join(work, 'tree');
    unpackPart(root.archive, tree);
    const program = join(work, 'scenepress');
    const cache = join(output, 'cache');
    const packages = packProgram(join(work, 'app'), program, cache);
    const [parts, lists] = [join(work, 'renderer'), join(work, 'renderer', LISTS)];
    writeLists(root, packages, { project: PROJECT, cache, folder: lists });
    const renderer = packRenderer(parts, tree);
    const archive = {
      unpackedBytes: root.unpackedBytes,
      tools: [...TOOLS.map((name) => join(tree, LIBRARIES, name)), join(tree, 'usr/bin/tar')].map((path) => ({
        name: path.slice(path.lastIndexOf('/') + 1),
        ...append(program, path),
      })),
      segments: [append(program, root.archive), append(program, renderer)],
    };
    appendFileSync(program, trailerOf({ name: nameOf(archive), ...archive }));
    checkSize(statSync(program).size, options.compression);
    chmodSync(program, 0o755);
    const made = join(output, 'scenepress');
    renameSync(program, made);
    // An image needs nothing else of the folder, which has gigabytes.
    writeFileSync(join(output, '.dockerignore'), '*\n!scenepress\n');
    writeFileSync(`${made}.sha256`, `${hashOf(made)}  scenepress\n`);
    for (const name of readdirSync(lists)) copyFileSync(join(lists, name), join(output, name));
    return made;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Extracts Python and tar from the root. */
function unpackPart(archive: string, tree: string): void {
  mkdirSync(tree);
  const parts = ['lib64', 'usr/lib64', LIBRARIES, 'usr/lib/python3.13', 'usr/bin/tar', 'usr/bin/python3.13'];
  execFileSync('tar', ['--extract', '--no-same-owner', '--directory', tree, '--file', archive, ...parts]);
}

/** Builds Node with the embedded program. Returns the embedded npm packages. */
function packProgram(app: string, program: string, cache: string): string[] {
  const node = join(PROJECT, 'node_modules/node/bin/node');
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const packages = bundle(app);
  const { name, version: own } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const description = {
    name,
    version: own,
    bin: `${MAIN}.js`,
    // pkg doesn't detect thread entry points, and it would add optional dependencies from the checkout's
    // node_modules.
    pkg: {
      scripts: [
        ...THREADS.map(({ out }) => `${out}.js`),
        ...Object.keys(DRIVERS).map((name) => `${name}.js`),
      ],
      assets: packTexts(app),
      ignore: ['**/node_modules/**'],
    },
  };
  writeFileSync(join(app, 'package.json'), JSON.stringify(description));
  // Prefill pkg's cache, so it doesn't download the Node that it embeds the program into.
  const home = join(cache, 'pkg');
  const fetched = join(home, '.pkg-cache/sea', `node-${version}-linux-x64`);
  mkdirSync(join(fetched, 'bin'), { recursive: true });
  copyFileSync(node, join(fetched, 'bin/node'));
  for (const file of [`${fetched}/bin/node.ok`, `${fetched}.tar.gz`, `${fetched}.tar.gz.ok`])
    writeFileSync(file, '');
  const target = `node${version.slice(1)}-linux-x64`;
  const pkg = join(PROJECT, 'node_modules/.bin/pkg');
  execFileSync(node, [pkg, '--sea', app, '--targets', target, '--output', program], {
    env: { ...process.env, HOME: home, TMPDIR: '/tmp' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  nameTemporaryFolder(program);
  return packages;
}

/** Copies the texts that the program serves and prints. Returns their paths in its folder. */
function packTexts(app: string): string[] {
  return MANUAL_PATHS.map((path) => {
    const packed = join(PACKED_TEXTS, path);
    mkdirSync(dirname(join(app, packed)), { recursive: true });
    copyFileSync(join(PROJECT, path), join(app, packed));
    return packed;
  });
}

/**
 * Bundles the many hundreds of source files, which speeds up the start. As CommonJS, because an ESM import of
 * `node:http` also evaluates the unused fetch and WebSocket. Returns the bundled npm packages.
 */
function bundle(app: string): string[] {
  const drivers = Object.entries(DRIVERS).map(([out, driver]) => ({ out, ...driver }));
  const files = drivers.map(({ out }) => `./${out}.js`);
  const common = {
    absWorkingDir: PROJECT,
    outdir: app,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'moduleUrl', 'import.meta.dirname': '__dirname' },
    // pkg finds files by `require` only.
    supported: { 'dynamic-import': false },
    // Native modules for unused options of Piscina and pg.
    external: ['@napi-rs/nice', 'pg-native', ...files],
    logLevel: 'warning',
    metafile: true,
  } satisfies BuildOptions;
  const program = buildSync({
    ...common,
    entryPoints: [{ in: 'appliance/main.ts', out: MAIN }, ...THREADS],
    alias: Object.fromEntries(drivers.flatMap((it) => it.for.map((name) => [name, `./${it.out}.js`]))),
  });
  const apart = buildSync({ ...common, entryPoints: drivers.map((it) => ({ in: it.in, out: it.out })) });
  const inputs = [program.metafile, apart.metafile, bundleOfPlayground().metafile].map((it) => it.inputs);
  return packagesOf({ ...program.metafile, inputs: Object.assign({}, ...inputs) });
}

/** Replaces the random name of pkg's working folder, which the program contains, to make builds reproducible. */
function nameTemporaryFolder(program: string): void {
  const bytes = readFileSync(program);
  const start = Buffer.from('/tmp/pkg-sea-');
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + start.length)) {
    bytes.write('000000', at + start.length, 'latin1');
  }
  writeFileSync(program, bytes);
}

/** Packs the renderer's Python package, compiled with the root's Python, as a compressed tar. */
function packRenderer(folder: string, tree: string): string {
  const place = 'usr/lib/scenepress';
  const made = join(folder, place);
  mkdirSync(dirname(made), { recursive: true });
  for (const part of ['scene_renderer', 'scenes']) {
    cpSync(join(PROJECT, 'renderer', part), join(made, part), {
      recursive: true,
      filter: (path) => !/__pycache__|ruff\.toml/.test(path),
    });
  }
  const libraries = join(tree, LIBRARIES);
  const python = [
    join(libraries, 'ld-linux-x86-64.so.2'),
    '--library-path',
    libraries,
    join(tree, 'usr/bin/python3.13'),
  ];
  const compile = [
    '-m',
    'compileall',
    '-q',
    '--invalidation-mode',
    'unchecked-hash',
    '-s',
    folder,
    '-p',
    '/',
  ];
  execFileSync(python[0] as string, [...python.slice(1), ...compile, join(made, 'scene_renderer')], {
    env: { PYTHONHOME: join(tree, 'usr'), PYTHONHASHSEED: '0' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const tar = `${folder}.tar.zst`;
  const normal = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
    '--mode=a+rX,u+w,go-w',
  ];
  execFileSync('tar', [
    ...['--directory', folder, ...normal, `--mtime=@${EPOCH_SECONDS}`],
    ...['--use-compress-program', 'zstd -19', '--create', '--file', tar, 'usr'],
  ]);
  return tar;
}

/** Appends a file to another one. */
function append(file: string, addition: string): Segment {
  const offset = statSync(file).size;
  const hash = createHash('sha256');
  const from = openSync(addition, 'r');
  const buffer = Buffer.alloc(COPY_BYTES);
  for (let length = readSync(from, buffer); length > 0; length = readSync(from, buffer)) {
    hash.update(buffer.subarray(0, length));
    appendFileSync(file, buffer.subarray(0, length));
  }
  closeSync(from);
  return { offset, sizeBytes: statSync(file).size - offset, sha256: hash.digest('hex') };
}

function hashOf(path: string): string {
  return execFileSync('sha256sum', [path], { encoding: 'utf8' }).split(' ')[0] as string;
}

/** A name that identifies the exact content of the root. */
function nameOf({ segments }: { tools: Tool[]; segments: Segment[] }): string {
  return createHash('sha256')
    .update(segments.map(({ sha256 }) => sha256).join())
    .digest('hex')
    .slice(0, 16);
}

if (import.meta.main) {
  try {
    const made = buildBinary(commandLine());
    console.log(`${made}: ${Math.round(statSync(made).size / 1e6)} MB`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
