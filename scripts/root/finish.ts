/**
 * Turns an installed tree into a renderer root and packs it. Called by `build.ts`, as root of the tree.
 *
 * Adds the Python packages, removes unneeded files, compiles, sets the renderer's sample of TeX, makes links relative (so
 * the root can be moved), sets one owner and time for every file, and writes the list of components.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLibraries } from './check-libraries.ts';
import { EPOCH_SECONDS } from './epoch.ts';
import { writeManifest } from './manifest.ts';
import { KEPT, normalise } from './normalise.ts';
import { sizeOf } from './size.ts';
import { trim } from './trim.ts';

const tree = process.argv[2] as string;
const { OUT, WORK, PYTHON, LEVEL } = process.env as Record<string, string>;
/** Block size of most file systems. */
const BLOCK_BYTES = 4096;
const PYTHON_PACKAGES = 'usr/local/lib/python3.13/dist-packages';

rmSync(join(tree, 'var/cache/apt'), { recursive: true, force: true });
mkdirSync(join(tree, PYTHON_PACKAGES), { recursive: true });
execFileSync('tar', ['-C', join(tree, PYTHON_PACKAGES), '-xf', PYTHON as string]);
writeManifest({ tree, work: WORK as string, pythonPackages: join(tree, PYTHON_PACKAGES) });

// Bytecode is used without a check of the source's time, which unpacking may not preserve. For reproducible output, a
// single process compiles in a fixed order and writes no bytecode for its own imports: the output depends on what the
// process has compiled before.
inTree('find / -xdev -name __pycache__ -type d -prune -exec rm -rf {} +');
inTree(
  'PYTHONHASHSEED=0 python3 -B -W ignore -m compileall -f -q --invalidation-mode unchecked-hash /usr/lib/python3.13 ' +
    `/usr/lib/python3 /${PYTHON_PACKAGES} || true`,
);
const cut = trim(tree);
for (const { what, megabytes } of cut) console.log(`  cut ${String(megabytes).padStart(5)} MB  ${what}`);
checkLibraries(tree);
inTree('mktexlsr --quiet');
prepareTex();
normalise(tree, EPOCH_SECONDS);
// After the times are set: the cache contains those of the font folders.
inTree('fc-cache -sf');
normalise(tree, EPOCH_SECONDS);

const manifest = join(WORK as string, 'manifest.json');
const unpackedBytes = sizeOf(
  KEPT.map((folder) => join(tree, folder)),
  BLOCK_BYTES,
);
const { parts } = JSON.parse(readFileSync(manifest, 'utf8')) as { parts: unknown[] };
writeFileSync(manifest, `${JSON.stringify({ unpackedBytes, cut, parts }, null, 1)}\n`);

const tar = spawnSync(
  'sh',
  [
    '-c',
    'tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@"$2" --format=gnu --no-xattrs --no-acls ' +
      '-c $5 | zstd -q -T0 -"$3" --no-progress -o "$4"',
    'sh',
    tree,
    String(EPOCH_SECONDS),
    LEVEL as string,
    OUT as string,
    KEPT.join(' '),
  ],
  { stdio: 'inherit' },
);
if (tar.status !== 0) throw new Error('The root could not be packed.');

/** Sets the renderer's sample of TeX with the renderer's sources, which are not part of the root. */
function prepareTex(): void {
  const folder = join(tree, 'tmp/renderer');
  cpSync(join(import.meta.dirname, '../../renderer/scene_renderer'), join(folder, 'scene_renderer'), {
    recursive: true,
  });
  inTree(
    'env HOME=/nonexistent LANG=C.UTF-8 XDG_CACHE_HOME=/tmp/renderer/cache PYTHONPATH=/tmp/renderer ' +
      'python3 -s -P -B -m scene_renderer prepare-tex',
  );
  rmSync(folder, { recursive: true });
  if (!existsSync(join(tree, 'usr/share/scenepress-tex'))) throw new Error('TeX does not work in the tree.');
}

function inTree(command: string): void {
  const { status } = spawnSync('chroot', [tree, 'sh', '-c', command], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`In the tree, this ended with status ${status}: ${command}`);
}
